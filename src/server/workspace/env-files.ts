/**
 * Reads the secrets in the `.env` files of a workspace, so that they are hidden wherever they turn up.
 *
 * INVARIANT: no link is followed, nothing is waited for, and what was a secret once stays one for as long as the
 * workspace is open. A file that cannot be read hides nothing, and no tool can read it either.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { KIB } from "../../base/bytes.ts";
import type { KnownSecret } from "../../redact/kinds/known-secret.ts";

/** The files that programs take variables from; examples of them hold none. */
const NAMES = ["", ".local", ".development", ".production", ".staging", ".test"]
  .flatMap((kind) => [`.env${kind}`, kind === "" || kind === ".local" ? [] : `.env${kind}.local`].flat())
  .concat(".envrc");
/** Bytes of one file that are read. */
const FILE_BYTES_MAX = 64 * KIB;
/** Secrets of one workspace: each has a dozen forms that are looked for in everything that leaves. */
const SECRETS_MAX = 64;
/** Milliseconds for which a look is good: most calls come in less than that after the one before. */
const LOOK_MS = 100;

const NOTHING: readonly KnownSecret[] = [];

/**
 * The secrets in the `.env` files of `directories`, as they are now.
 * @param secretsOf those in the text of one file
 */
export function envFileSecrets(
  directories: readonly string[],
  secretsOf: (text: string) => readonly KnownSecret[],
  nowMs: () => number = () => performance.now(),
): () => readonly KnownSecret[] {
  const paths = [...new Set(directories)].flatMap((directory) => NAMES.map((name) => join(directory, name)));
  const marks = new Map<string, string>();
  const known = new Map<string, KnownSecret>();
  let secrets = NOTHING;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const now = nowMs();
    if (now - lookedMs < LOOK_MS) return secrets;
    lookedMs = now;
    for (const path of paths) {
      const mark = markOf(path);
      if (mark === marks.get(path)) continue;
      if (mark === undefined) marks.delete(path);
      else marks.set(path, mark);
      for (const secret of secretsOf(textOf(path)))
        if (known.size < SECRETS_MAX && !known.has(secret.value)) known.set(secret.value, secret);
    }
    if (known.size !== secrets.length) secrets = [...known.values()];
    return secrets;
  };
}

/** Another mark, another file or another content; `undefined` where there is no regular file. */
function markOf(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.isFile() === true ? [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ") : undefined;
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function textOf(path: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ);
  } catch (error) {
    if (error instanceof Error && "code" in error) return ""; // gone, closed, or somebody holds a lease on it
    throw error;
  }
  try {
    if (!fstatSync(descriptor).isFile()) return "";
    const bytes = Buffer.alloc(FILE_BYTES_MAX);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(descriptor);
  }
}
