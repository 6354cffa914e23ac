// How the set-up speaks: one line at a time, on stderr only, because stdout may carry JSON or a protocol.

/** A failure that the user can act on: its message is printed as it stands, without a stack. */
export class SetupError extends Error {}

/** @param {string} line what is happening, for a person; goes to stderr */
export function say(line) {
  process.stderr.write(`handrail: ${line}\n`);
}
