/**
 * The keyring of the user who runs the kernel, which keeps values encrypted.
 *
 * It is the desktop's own: on a machine without one, values cannot be kept here, and nothing is kept elsewhere instead.
 */
import { usageError } from "../../base/errors.ts";

/** Under which entries stand. */
const SERVICE = "handrail";

/** The value of an entry; `undefined` when there is none. @throws Error when there is no keyring, or it is locked */
export async function readKeyring(entry: string): Promise<string | undefined> {
  return (await (await opened(entry)).getPassword()) ?? undefined;
}

/** Writes an entry, in place of what it held. @throws KernelError USAGE when there is no keyring, or it is locked */
export async function writeKeyring(entry: string, value: string): Promise<void> {
  try {
    await (await opened(entry)).setPassword(value);
  } catch (cause) {
    throw usageError(
      `the keyring takes nothing (${cause instanceof Error ? cause.message : String(cause)}); unlock it, or keep the value elsewhere: \`--from env:NAME\`, \`file:/PATH\` or \`command:PROGRAM\``,
      cause,
    );
  }
}

/** Removes an entry, where there is one. */
export async function removeKeyring(entry: string): Promise<void> {
  await (await opened(entry)).deletePassword();
}

async function opened(entry: string) {
  const { AsyncEntry } = await import("@napi-rs/keyring");
  return new AsyncEntry(SERVICE, entry);
}
