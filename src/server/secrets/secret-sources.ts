/**
 * Reads the values of secrets where they are kept: in variables, files, programs and the keyring.
 *
 * INVARIANT: a value that others can read, or that cannot be read, is not handed out; what is wrong is said instead.
 */
import { KIB, textOf } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";
import type { PlainSource, SecretSource } from "../../config/sections/secrets.ts";
import { runHostCommand } from "../../sandbox/host-commands/run-host-command.ts";
import { trustedProgram } from "../../sandbox/host-commands/trusted-program.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { readKeyring } from "./keyring.ts";
import { problem, type Read, readOwn } from "./own-file.ts";

/** Bytes of a value. */
const SECRET_BYTES_MAX = 8 * KIB;
/** Milliseconds that a program may take to say one. */
const SECRET_COMMAND_MS = 30_000;

/** Where a value is kept, in words. */
export function sourceName(from: SecretSource): string {
  if ("env" in from) return `the variable \`${from.env}\``;
  if ("file" in from) return `\`${from.file}\``;
  if ("command" in from) return `\`${from.command[0] ?? ""}\``;
  return "keyring" in from ? `the keyring's entry \`${from.keyring}\`` : `tokens of \`${from.oauth.token_url}\``;
}

/** The text that is kept there. */
export async function readSource(from: PlainSource, environment: Environment): Promise<Read> {
  if ("env" in from) return { kind: "read", text: environment[from.env] ?? "" };
  if ("file" in from) return readOwn(from.file, SECRET_BYTES_MAX, 0o077);
  if ("command" in from) return await said(from.command);
  try {
    return { kind: "read", text: (await readKeyring(from.keyring)) ?? "" };
  } catch (error) {
    return problem(`the keyring cannot be read (${error instanceof Error ? error.message : errorCode(error)})`);
  }
}

/** What a program of the operator's prints. */
async function said([program = "", ...more]: readonly string[]): Promise<Read> {
  const trusted = trustedProgram(program, process.geteuid?.() ?? 0);
  if (!trusted.ok) return problem(`\`${program}\` ${trusted.problem}`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const take = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes <= SECRET_BYTES_MAX) pieces.push(piece);
  };
  try {
    const { exitCode } = await runHostCommand(
      { argv: [program, ...more], environment: {}, timeoutMs: SECRET_COMMAND_MS },
      { stdout: take, stderr: () => undefined },
      new AbortController().signal,
    );
    if (exitCode !== 0) return problem(`\`${program}\` ended with ${exitCode ?? "a signal"}; run it to see why`);
    const text = bytes > SECRET_BYTES_MAX ? undefined : textOf(Buffer.concat(pieces));
    return text === undefined
      ? problem(`\`${program}\` prints no text of at most ${SECRET_BYTES_MAX} bytes`)
      : { kind: "read", text };
  } catch (error) {
    return problem(`\`${program}\` cannot be run (${error instanceof Error ? error.message : String(error)})`);
  }
}
