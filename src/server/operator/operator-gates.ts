/**
 * Reads what narrows tools in the operator's directory: `modes/`, `skills/`, tool specs in `tools/` and `policy.json`.
 *
 * A mode or a skill that is not valid is a fault of the configuration, as one in `handrail.yaml`. A spec or tool policy
 * that is not valid is kept as such: then no tool runs, and callers are told by which of the two (serverd).
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { configInvalid, FileError, type FileProblem, KernelError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import { GATE_FILE_BYTES_MAX } from "../../base/limits.ts";
import type { GateFile } from "../../config/files/gate-file.ts";
import { parseMode, parseSkill } from "../../config/files/profiles.ts";
import { parseToolPolicy, parseToolSpec, specsById } from "../../config/files/tool-rules.ts";
import { compileInputSchema, type ToolRegistry } from "../../kernel/index.ts";
import {
  NO_GATES,
  type OperatorGates,
  SHIPPED_MODES,
  type ToolPolicy,
  type ToolRules,
} from "../../model/people/gates.ts";
import { withCanonicalActions } from "../../policy/terms/action.ts";

/** Files of one kind (modes, skills, tool specs) in the operator's directory. */
const GATE_FILES_MAX = 256;

/** The gates of a directory, and the files that make them. */
export interface ReadGates {
  readonly gates: OperatorGates;
  readonly files: readonly GateFile[];
  /** Whether there is a directory for specs, empty or not. */
  readonly toolDirectory: boolean;
  /** Where a spec or tool policy that is not valid is wrong. */
  readonly problems?: readonly FileProblem[];
}

/** The gates of a directory that has none. */
export const NO_GATE_FILES: ReadGates = { gates: NO_GATES, files: [], toolDirectory: false };

/** Which files are read of a directory, as `configurationState` has to look at them. */
export const GATE_DIRECTORIES: readonly (readonly [directory: string, names: RegExp])[] = [
  ["modes", /\.ya?ml$/],
  ["skills", /\.(?:ya?ml|json)$/],
  ["tools", /\.json$/],
];
/** The tool policy, in the operator's directory or beside the specs, where serverd has it. */
export const TOOL_POLICY_FILE = "policy.json";

/** Reads a file or says that there is none, after making sure that it is the operator's. */
export type CheckedReader = (path: string) => string | undefined;

/**
 * Reads the gates of the operator's directory at `path`.
 * @throws KernelError CONFIG_INVALID when a mode or a skill is not valid
 */
export async function readOperatorGates(path: string, read: CheckedReader): Promise<ReadGates> {
  const source: Source = { path, read };
  const [modes, skills] = [filesOf(source, "modes"), filesOf(source, "skills")];
  const byMode = await Promise.all(modes.map(async (file) => parseMode(file)));
  const bySkill = await Promise.all(skills.map(async (file) => parseSkill(file, compileInputSchema)));
  const { rules, files, problems } = await readToolRules(source);
  const all = [...modes, ...skills, ...files];
  const toolDirectory = statSync(join(path, "tools"), { throwIfNoEntry: false }) !== undefined;
  if (all.length === 0 && rules.ok) return { ...NO_GATE_FILES, toolDirectory };
  const hash = `blake3:${blake3Hex(canonicalJson(all.map(({ name, text }) => ({ name, text }))))}`;
  // an operator's mode stands before one that Handrail brings along
  const known = new Map([...SHIPPED_MODES, ...byName(modes, byMode)]);
  const gates = { hash, rules, modes: known, skills: byName(skills, bySkill) };
  return { gates, files: all, toolDirectory, ...(problems && { problems }) };
}

interface Source {
  readonly path: string;
  readonly read: CheckedReader;
}

/** The files of one of the directories, in the order of their names. */
function filesOf({ path, read }: Source, directory: string): readonly GateFile[] {
  const place = join(path, directory);
  const wanted = GATE_DIRECTORIES.find(([name]) => name === directory)?.[1];
  if (wanted === undefined || !statSync(place, { throwIfNoEntry: false })) return [];
  const names = readdirSync(place)
    .filter((name) => wanted.test(name))
    .sort();
  if (names.length > GATE_FILES_MAX)
    throw configInvalid(`\`${place}\` holds more than ${GATE_FILES_MAX} files; remove some`);
  return names.map((name) => {
    if (name.endsWith(".yml"))
      throw configInvalid(`\`${join(place, name)}\` is not read; call it \`${name.replace(/yml$/, "yaml")}\``);
    return readFile({ path, read }, `${directory}/${name}`) ?? { name: `${directory}/${name}`, text: "" };
  });
}

function readFile({ path, read }: Source, name: string): GateFile | undefined {
  const text = read(join(path, name));
  if (text === undefined) return undefined;
  if (Buffer.byteLength(text) > GATE_FILE_BYTES_MAX)
    throw configInvalid(`\`${name}\`: is larger than ${GATE_FILE_BYTES_MAX / 1024} KiB`);
  return { name, text };
}

function byName<T extends { readonly name: string }>(
  files: readonly GateFile[],
  parsed: readonly T[],
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [index, one] of parsed.entries()) {
    if (found.has(one.name))
      throw configInvalid(
        `\`${files[index]?.name}\`: \`${one.name}\` is defined by another file already; keep one of them`,
      );
    found.set(one.name, one);
  }
  return found;
}

/** Specs and policy; what is wrong with either is kept, and no tool runs then. */
async function readToolRules(
  source: Source,
): Promise<Pick<ReadGates, "files" | "problems"> & { readonly rules: ToolRules }> {
  let policyFiles: readonly GateFile[] = [];
  let policy: ToolPolicy | undefined;
  try {
    policyFiles = [TOOL_POLICY_FILE, `tools/${TOOL_POLICY_FILE}`].flatMap((name) => readFile(source, name) ?? []);
    const [file, other] = policyFiles;
    if (other !== undefined)
      throw configInvalid(`\`${other.name}\`: there is \`${TOOL_POLICY_FILE}\` as well; keep one of them`);
    policy = file && parseToolPolicy(file);
  } catch (error) {
    return {
      rules: { ok: false, reason: "tool_policy_invalid", problem: problemOf(error) },
      files: policyFiles,
      ...placesOf(error),
    };
  }
  let specFiles: readonly GateFile[] = [];
  try {
    specFiles = filesOf(source, "tools").filter(({ name }) => name !== `tools/${TOOL_POLICY_FILE}`);
    const specs = await Promise.all(specFiles.map((file) => parseToolSpec(file, compileInputSchema)));
    return {
      rules: { ok: true, specs: specsById(specs), ...(policy && { policy }) },
      files: [...policyFiles, ...specFiles],
    };
  } catch (error) {
    return {
      rules: { ok: false, reason: "tool_spec_invalid", problem: problemOf(error) },
      files: [...policyFiles, ...specFiles],
      ...placesOf(error),
    };
  }
}

function placesOf(error: unknown): Pick<ReadGates, "problems"> {
  return error instanceof FileError ? { problems: error.problems } : {};
}

/** What cannot be read is as good as not valid. Bugs are not hidden by that. */
function problemOf(error: unknown): string {
  if (error instanceof KernelError) return error.message;
  if (error instanceof Error && "syscall" in error) return error.message;
  throw error;
}

/** What the operator should know about the gates: why no tool runs, or which names no tool has. */
export function problemOfGates(
  { path, narrowing = NO_GATE_FILES }: { readonly path: string; readonly narrowing?: ReadGates },
  tools: readonly { readonly name: string }[],
): string | undefined {
  const { rules, modes, skills } = narrowing.gates;
  if (!rules.ok) return `${path}: no tool runs (${rules.reason}): ${rules.problem}`;
  const known = new Set([...tools, ...withCanonicalActions([])].map(({ name }) => name));
  const named = [...modes.values(), ...skills.values()].flatMap((profile) => [...profile.tools.keys()]);
  named.push(...rules.specs.keys(), ...(rules.policy?.requireApproval ?? []), ...(rules.policy?.requireArming ?? []));
  const unknown = [...new Set(named)].filter((tool) => !known.has(tool)).sort();
  if (unknown.length === 0) return undefined;
  const listed = unknown.slice(0, UNKNOWN_LISTED_MAX).map((tool) => `\`${tool}\``);
  const more = unknown.length > UNKNOWN_LISTED_MAX ? " and others" : "";
  return `${path}: modes, skills, tool specs or policy.json name ${listed.join(", ")}${more}, which no tool is called; correct the spelling`;
}

/** Names that a warning repeats. */
const UNKNOWN_LISTED_MAX = 16;

/** What is recorded about gates that are about to be in force. */
export function gateFacts(
  { narrowing = NO_GATE_FILES }: { readonly narrowing?: ReadGates },
  previous: OperatorGates,
): JsonObject {
  const { gates, files } = narrowing;
  return {
    gates: gates.hash,
    ...(previous.hash !== "" && { previous: previous.hash }),
    files: files.map(({ name }) => name),
  };
}

/** The canonical hash of what is on offer: the tools, and the operator's specs of them. */
export function registryHash(registry: ToolRegistry, { rules }: OperatorGates): string {
  return registry.hash(rules.ok ? rules.specs : undefined);
}
