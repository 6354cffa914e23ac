/**
 * Tells which directories are Handrail's own: state and configuration, of this kernel, of others, and of this user.
 *
 * An agent that sees one of another kernel has that one's credentials and evidence. INVARIANT: no agent can make a
 * directory that looks like one: `evidence.key` and `approver.token` are secret names.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { defaultStatePath, type Environment, operatorPath } from "../operator/operator-directory.ts";

/** Names by which a directory is known: all of a row stand in it. */
const OWN_NAMES: readonly (readonly string[])[] = [["evidence.key", "ledger.db"], ["approver.token"]];

/** Every one of those names. */
export const TELLING_NAMES: ReadonlySet<string> = new Set(OWN_NAMES.flat());

/** Directories that no agent may see, wherever they lie: those in use, and those that a start without options uses. */
export function hiddenDirectories(used: readonly string[], environment: Environment): readonly string[] {
  return [...used, operatorPath(environment), defaultStatePath(environment)];
}

/** Whether the directory in which those names stand is Handrail's own. */
export function isOwnDirectory(names: ReadonlySet<string>): boolean {
  return OWN_NAMES.some((row) => row.every((name) => names.has(name)));
}

/** The same for a directory that is looked at. */
export function isOwnDirectoryAt(directory: string): boolean {
  return OWN_NAMES.some((row) =>
    row.every((name) => lstatSync(join(directory, name), { throwIfNoEntry: false })?.isFile()),
  );
}
