/**
 * The operator's directory: the only place that policy, settings and grants are loaded from.
 *
 * `$HANDRAIL_CONFIG_HOME`, else `$XDG_CONFIG_HOME/handrail`, else `~/.config/handrail`. It is optional; when it exists
 * it must belong to the user who runs the kernel and be writable by nobody else, or nothing from it is used and the
 * kernel does not start.
 */
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { configInvalid, usageError } from "../../base/errors.ts";
import { CONFIG_FILE_BYTES_MAX, POLICY_FILES_MAX } from "../../base/limits.ts";
import { defaultSettings, parseSettings, type Settings } from "../../config/config.ts";
import { parsePin, type WorkspacePin } from "../../config/trust.ts";
import { checkCapabilities } from "./capability-overrides.ts";
import { checkGitRules } from "./git-rules.ts";
import { type ReadGates, readOperatorGates } from "./operator-gates.ts";

/** Workspaces that the operator trusts. */
export const TRUSTED_WORKSPACES_MAX = 1024;

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
  /** Whether there is a settings file; without one the settings are the defaults. */
  readonly settingsFile?: boolean;
  readonly policies: readonly PolicyFileText[];
  /** Whether there is a directory for policies, empty or not. */
  readonly policyDirectory?: boolean;
  /** Examples beside the policies. */
  readonly examples?: readonly PolicyFileText[];
  /** Modes, skills, tool specs and tool policy; absent where there are none. */
  readonly narrowing?: ReadGates;
  /** Workspaces whose own configuration the operator trusts. */
  readonly trusted?: readonly WorkspacePin[];
}

/** Where, in the operator's directory, pins of trusted workspaces lie. */
export const TRUST_DIRECTORY = "trust";

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
  if (!status) return { path, exists: false, settings: defaultSettings(), policies: [], examples: [], trusted: [] };
  if (!status.isDirectory()) throw configInvalid(`\`${path}\` is not a directory; it must be the operator's directory`);
  requireOwnerOnly(path);
  const settingsPath = join(path, "handrail.yaml");
  const text = readOptional(settingsPath, requireOwnerOnly);
  return {
    path,
    exists: true,
    settings: text === undefined ? defaultSettings() : await parseChecked(text, settingsPath),
    settingsFile: text !== undefined,
    ...readPolicies(join(path, "policy"), requireOwnerOnly),
    narrowing: await readOperatorGates(path, (file) => readOptional(file, requireOwnerOnlyPath)),
    trusted: readPins(join(path, TRUST_DIRECTORY)),
  };
}

/**
 * Reads a candidate for the operator's directory, which decides nothing: it may belong to anybody. It is laid out like
 * the operator's directory, or holds the policy files alone; what it leaves out is taken from `current`.
 * @throws KernelError CONFIG_INVALID when a file in it is not valid; USAGE when there is nothing to read
 */
export async function readCandidateDirectory(path: string, current: OperatorDirectory): Promise<OperatorDirectory> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`\`${path}\` is not a directory; name one with policy files`);
  const inside = statSync(join(path, "policy"), { throwIfNoEntry: false })?.isDirectory() ?? false;
  const settingsPath = join(path, "handrail.yaml");
  const text = readOptional(settingsPath, () => undefined);
  return {
    ...current,
    path,
    exists: true,
    settings: text === undefined ? current.settings : await parseChecked(text, settingsPath),
    ...readPolicies(inside ? join(path, "policy") : path, () => undefined),
  };
}

/** Settings whose own rules of redaction have proved themselves; the redactor is loaded only where there are some. */
async function parseChecked(text: string, name: string): Promise<Settings> {
  const settings = await parseSettings(text, name);
  const { rules, allow } = settings.redaction;
  if (rules.length + allow.length > 0) (await import("./redaction.ts")).checkRedaction(settings.redaction, name);
  checkCapabilities(settings, name);
  checkGitRules(settings, name);
  return settings;
}

type Requirement = (path: string) => void;

/** Policies and their examples; a sidecar that belongs to no policy would look like protection and be none. */
function readPolicies(
  directory: string,
  require: Requirement,
): Required<Pick<OperatorDirectory, "policies" | "policyDirectory" | "examples">> {
  if (!statSync(directory, { throwIfNoEntry: false })) return { policies: [], policyDirectory: false, examples: [] };
  require(directory);
  const names = readdirSync(directory).sort();
  const policies = names.filter((name) => name.endsWith(".cedar"));
  const examples = names.filter((name) => /\.test\.ya?ml$/.test(name));
  if (policies.length > POLICY_FILES_MAX)
    throw configInvalid(`\`${directory}\` holds more than ${POLICY_FILES_MAX} policy files; join some`);
  for (const name of examples) {
    const policy = name.replace(/\.test\.ya?ml$/, ".cedar");
    if (name.endsWith(".yml"))
      throw configInvalid(`\`${join(directory, name)}\` is not read; call it \`${name.replace(/yml$/, "yaml")}\``);
    if (!policies.includes(policy))
      throw configInvalid(`\`${join(directory, name)}\` has no \`${policy}\` beside it; rename or remove it`);
  }
  const read = (name: string) => ({ name, text: readOptional(join(directory, name), require) ?? "" });
  return { policies: policies.map(read), policyDirectory: true, examples: examples.map(read) };
}

function readPins(directory: string): readonly WorkspacePin[] {
  if (!statSync(directory, { throwIfNoEntry: false })) return [];
  requireOwnerOnly(directory);
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  if (names.length > TRUSTED_WORKSPACES_MAX)
    throw configInvalid(`\`${directory}\` holds more than ${TRUSTED_WORKSPACES_MAX} workspaces; revoke some`);
  return names.sort().flatMap((name) => {
    const path = join(directory, name);
    const text = readOptional(path, requireOwnerOnly);
    return text === undefined ? [] : [parsePin(text, path)];
  });
}

function readOptional(path: string, require: Requirement): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return undefined;
  require(path);
  if (!status.isFile() || status.size > CONFIG_FILE_BYTES_MAX)
    throw configInvalid(`\`${path}\` must be a regular file of at most 1 MiB`);
  return readFileSync(path, "utf8");
}

/** A file in a directory of the operator's: the directory must be the operator's alone as well. */
function requireOwnerOnlyPath(path: string): void {
  requireOwnerOnly(dirname(path));
  requireOwnerOnly(path);
}

/**
 * Looks at what the path leads to: a link in the operator's directory is the operator's own, its target need not be.
 * @param status of what was opened under the path, where that is known
 * @throws KernelError CONFIG_INVALID when it belongs to somebody else or others can write it
 */
export function requireOwnerOnly(path: string, status: Pick<Stats, "uid" | "mode"> = statSync(path)): void {
  const user = process.geteuid?.();
  if (user !== undefined && status.uid !== user) {
    throw configInvalid(
      `\`${path}\` belongs to user ${status.uid}, not to the user ${user} who runs handrail; policy is loaded from the operator's own files only`,
    );
  }
  if ((status.mode & 0o022) !== 0) {
    throw configInvalid(`\`${path}\` can be written by others; run \`chmod go-w ${path}\``);
  }
}
