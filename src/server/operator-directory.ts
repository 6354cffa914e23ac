/**
 * The operator's directory: the only place that policy, settings and grants are loaded from.
 *
 * `$HANDRAIL_CONFIG_HOME`, else `$XDG_CONFIG_HOME/handrail`, else `~/.config/handrail`. It is optional; when it exists
 * it must belong to the user who runs the kernel and be writable by nobody else, or nothing from it is used and the
 * kernel does not start.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { KernelError } from "../base/errors.ts";
import { CONFIG_FILE_BYTES_MAX, POLICY_FILES_MAX } from "../base/limits.ts";
import { defaultSettings, parseSettings, type Settings } from "../config/config.ts";

/** Environment variables that locate directories. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One policy file. */
export interface PolicyFileText {
  readonly name: string;
  readonly text: string;
}

/** What the operator wrote. */
export interface OperatorDirectory {
  readonly path: string;
  readonly exists: boolean;
  readonly settings: Settings;
  readonly policies: readonly PolicyFileText[];
}

/** Where the operator's directory is. */
export function operatorPath(environment: Environment): string {
  const explicit = environment["HANDRAIL_CONFIG_HOME"];
  if (explicit) return explicit;
  return join(environment["XDG_CONFIG_HOME"] || join(environment["HOME"] || homedir(), ".config"), "handrail");
}

/** Where state lives when no directory is given. */
export function defaultStatePath(environment: Environment): string {
  const explicit = environment["HANDRAIL_STATE_HOME"];
  if (explicit) return explicit;
  return join(environment["XDG_STATE_HOME"] || join(environment["HOME"] || homedir(), ".local", "state"), "handrail");
}

/**
 * Reads the operator's directory.
 * @throws KernelError CONFIG_INVALID when it is not the operator's alone or a file in it is not valid
 */
export async function readOperatorDirectory(path: string): Promise<OperatorDirectory> {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return { path, exists: false, settings: defaultSettings(), policies: [] };
  if (!status.isDirectory()) throw new KernelError("CONFIG_INVALID", `\`${path}\` is not a directory; it must be the operator's directory`);
  requireOwnerOnly(path);
  const settingsPath = join(path, "handrail.yaml");
  const text = readOptional(settingsPath);
  return {
    path,
    exists: true,
    settings: text === undefined ? defaultSettings() : await parseSettings(text, settingsPath),
    policies: readPolicies(join(path, "policy")),
  };
}

function readPolicies(directory: string): readonly PolicyFileText[] {
  if (!statSync(directory, { throwIfNoEntry: false })) return [];
  requireOwnerOnly(directory);
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".cedar"))
    .sort();
  if (names.length > POLICY_FILES_MAX)
    throw new KernelError("CONFIG_INVALID", `\`${directory}\` holds more than ${POLICY_FILES_MAX} policy files`);
  return names.map((name) => ({ name, text: readOptional(join(directory, name)) ?? "" }));
}

function readOptional(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return undefined;
  requireOwnerOnly(path);
  if (!status.isFile() || status.size > CONFIG_FILE_BYTES_MAX)
    throw new KernelError("CONFIG_INVALID", `\`${path}\` must be a regular file of at most 1 MiB`);
  return readFileSync(path, "utf8");
}

/** Looks at what the path leads to: a link in the operator's directory is the operator's own, its target need not be. */
function requireOwnerOnly(path: string): void {
  const status = statSync(path);
  const user = process.geteuid?.();
  if (user !== undefined && status.uid !== user) {
    throw new KernelError(
      "CONFIG_INVALID",
      `\`${path}\` belongs to user ${status.uid}, not to the user ${user} who runs handrail; policy is loaded from the operator's own files only`,
    );
  }
  if ((status.mode & 0o022) !== 0) {
    throw new KernelError("CONFIG_INVALID", `\`${path}\` can be written by others; run \`chmod go-w ${path}\``);
  }
}
