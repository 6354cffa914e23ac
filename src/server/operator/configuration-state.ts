/**
 * Computes a name for the state of the operator's directory without reading its files.
 *
 * So looking often costs next to nothing: another name means another state. A change that keeps size, times and inode
 * of a file is not possible on Linux, because the time of the last status change cannot be set.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { POLICY_FILES_MAX } from "../../base/limits.ts";
import { TRUST_DIRECTORY, TRUSTED_WORKSPACES_MAX } from "./operator-directory.ts";
import { GATE_DIRECTORIES, TOOL_POLICY_FILE } from "./operator-gates.ts";

/** More names than any of the directories may hold files; what lies beyond makes reading fail anyway. */
const NAMES_MAX = 2 * (POLICY_FILES_MAX + TRUSTED_WORKSPACES_MAX);

/** The state of the operator's directory at `path`. Never rejects. */
export async function configurationState(path: string): Promise<string> {
  const parts = await Promise.all([
    stateOf(path),
    stateOf(join(path, "handrail.yaml")),
    // Every name that reading looks at, refused ones included; what it never reads must not push out what it does.
    directoryState(join(path, "policy"), /\.cedar$|\.test\.ya?ml$/),
    directoryState(join(path, TRUST_DIRECTORY), /\.json$/),
    stateOf(join(path, TOOL_POLICY_FILE)),
    ...GATE_DIRECTORIES.map(([directory, names]) => directoryState(join(path, directory), names)),
  ]);
  return parts.join("\n");
}

/** The state of a directory and of those files in it whose names match. Never rejects. */
export async function directoryState(path: string, isRead: RegExp): Promise<string> {
  const names = await readdir(path).catch(() => []);
  const inside = names
    .filter((name) => isRead.test(name))
    .sort()
    .slice(0, NAMES_MAX);
  const states = await Promise.all(inside.map(async (name) => `${name} ${await stateOf(join(path, name))}`));
  return [await stateOf(path), ...states].join("\n");
}

/** Follows links, as reading does. */
async function stateOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return "-";
  return [found.dev, found.ino, found.mode, found.uid, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}
