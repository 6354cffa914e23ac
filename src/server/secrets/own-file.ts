/**
 * Reads files of the operator's own that configuration names: passwords, tokens, certificates.
 *
 * INVARIANT: a file that belongs to somebody else, or that others may read or write where they must not, is not read.
 */
import { readFileSync, statSync } from "node:fs";
import { errorCode } from "../../base/errors.ts";

/** What was read, or why nothing was. */
export type Read =
  | { readonly kind: "read"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

/** Another mark, another file or another content. */
export function markOf(file: string): string {
  try {
    const { dev, ino, mode, uid, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, mode, uid, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    return errorCode(error);
  }
}

/** A file of the operator's own. @param closed bits that others must not have */
export function readOwn(file: string, bytesMax: number, closed: number): Read {
  try {
    const status = statSync(file);
    const user = process.geteuid?.();
    if (!status.isFile() || status.size > bytesMax)
      return problem(`\`${file}\` is no regular file of at most ${bytesMax} bytes; name another`);
    if (user !== undefined && status.uid !== user)
      return problem(
        `\`${file}\` belongs to another user than the one who runs handrail; run \`chown ${user} ${file}\``,
      );
    if ((status.mode & closed) !== 0)
      return problem(
        `\`${file}\` can be ${closed === 0o077 ? "read" : "written"} by others; run \`chmod go= ${file}\``,
      );
    return { kind: "read", text: readFileSync(file, "utf8") };
  } catch (error) {
    return problem(`\`${file}\` cannot be read (${errorCode(error)}); write it, or correct its name in handrail.yaml`);
  }
}

/** What is wrong, in words for the operator. */
export function problem(text: string): Read {
  return { kind: "problem", problem: text };
}
