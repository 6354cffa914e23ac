/**
 * Reads a workspace's own configuration files. Links are not followed, because what stands in a file may be quoted to
 * agents; the digests are of the very bytes that were parsed, so that nothing can be exchanged between the two.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { KIB } from "../../base/bytes.ts";
import { errorCode, fileInvalid, KernelError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import { WORKSPACE_CONFIG_BYTES_MAX } from "../../base/limits.ts";
import { noWorkspaceSettings, parseWorkspaceSettings, type WorkspaceSettings } from "../../config/config.ts";
import type { FlowConfig } from "../../config/files/flow-config.ts";
import { parseWorkspacePolicy } from "../../config/files/tool-rules.ts";
import type { RedactionSettings } from "../../config/sections/redaction.ts";
import { type FileDigests, WORKSPACE_FILES } from "../../config/trust.ts";
import type { OpenWorkspace } from "../../kernel/index.ts";
import type { ToolPolicy } from "../../model/people/gates.ts";
import { requireZonePatterns } from "../../model/place/zone.ts";

/** Bytes of a workspace's `policy.json`: a stranger's, which may be another program's as well. */
const WORKSPACE_POLICY_BYTES_MAX = 256 * KIB;

/** The file of a workspace that may hold a tool policy. */
export const TOOL_POLICY_FILE = "policy.json";

/** A rule of redaction, as configurations have it. */
type RedactionRule = RedactionSettings["rules"][number];

/** What a workspace says of itself. */
export interface WorkspaceConfiguration {
  readonly settings: WorkspaceSettings;
  readonly digests: FileDigests;
  /** What its `policy.json` leaves of the tools, if it has one that is meant for that. */
  readonly toolPolicy?: WorkspaceToolPolicy;
  /** What its `.flow/config.json` says, if it has one. */
  readonly flow?: WorkspaceFlow;
}

/** What a workspace's `.flow/config.json` says, and what of it hides secrets. */
export interface WorkspaceFlow {
  readonly config: FlowConfig;
  readonly redactRules: readonly RedactionRule[];
  /** What of it has no effect, for people. */
  readonly unhonoured: readonly string[];
}

/** A workspace's tool policy, and the digest of its file. */
export interface WorkspaceToolPolicy {
  readonly policy: ToolPolicy;
  readonly digest: string;
}

/**
 * Reads the configuration of the workspace at the real path `serviceRoot`. A file that is not valid closes the
 * workspace: its author wanted protection.
 * @throws KernelError WORKSPACE_INVALID, or WORKSPACE_BUSY when somebody holds a lease on one of the files
 */
export async function readWorkspaceConfiguration(serviceRoot: string): Promise<WorkspaceConfiguration> {
  const path = join(serviceRoot, "handrail.yaml");
  const bytes = readFileHere(path, WORKSPACE_CONFIG_BYTES_MAX);
  try {
    const toolPolicy = readToolPolicy(join(serviceRoot, TOOL_POLICY_FILE));
    const flow = await readFlow(serviceRoot);
    const more = { ...(toolPolicy && { toolPolicy }), ...(flow && { flow: flow.said }) };
    const digests: FileDigests = {
      "handrail.yaml": bytes === undefined ? null : blake3Hex(bytes),
      ".flow/config.json": flow?.digest ?? null,
    };
    if (bytes === undefined) return { settings: noWorkspaceSettings(), digests, ...more };
    const settings = await parseWorkspaceSettings(bytes.toString("utf8"), path);
    requireZonePatterns(settings.files);
    return { settings, digests, ...more };
  } catch (error) {
    const isOwn = error instanceof KernelError && error.code === "CONFIG_INVALID";
    throw isOwn ? new KernelError("WORKSPACE_INVALID", error.message, error) : error;
  }
}

/** Reads `.flow/config.json`. Its directory is opened before it, so that a link there leads nowhere. */
async function readFlow(
  serviceRoot: string,
): Promise<{ readonly digest: string; readonly said: WorkspaceFlow } | undefined> {
  const directory = join(serviceRoot, ".flow");
  let descriptor: number;
  try {
    descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || (code === "ENOTDIR" && !lstatSync(directory).isSymbolicLink())) return undefined;
    throw new KernelError("WORKSPACE_INVALID", `\`${directory}\` must be a directory and no link`, error);
  }
  const name = join(directory, "config.json");
  let bytes: Buffer | undefined;
  try {
    bytes = readFileHere(`/proc/self/fd/${descriptor}/config.json`, WORKSPACE_CONFIG_BYTES_MAX, name);
  } finally {
    closeSync(descriptor);
  }
  if (bytes === undefined) return undefined;
  const { parseFlowConfig, redactionRuleOf, unhonoured } = await import("../../config/files/flow-config.ts");
  const config = await parseFlowConfig({ name, text: bytes.toString("utf8") });
  requireZonePatterns({ secret: config.blockPatterns, read_only: [], protected: [] });
  const redactRules = config.redactPatterns.map((pattern, index) => redactionRuleOf(pattern, `workspace-${index + 1}`));
  await requireUsableRules(redactRules, name);
  return { digest: blake3Hex(bytes), said: { config, redactRules, unhonoured: unhonoured(config) } };
}

/** What a `.flow/config.json` takes away besides files: programs, shared places in searches, secrets in answers. */
export function narrowedBy(
  flow: WorkspaceFlow | undefined,
): Pick<OpenWorkspace, "commands" | "isStrict" | "redactRules"> {
  if (flow === undefined) return {};
  const { binaries, isolation } = flow.config;
  return {
    ...(binaries && { commands: new Set(binaries) }),
    ...(isolation === "STRICT" && { isStrict: true }),
    ...(flow.redactRules.length > 0 && { redactRules: flow.redactRules }),
  };
}

/** What of it names the rules of a workspace, besides zones. */
export function flowFacts({ config: { binaries, isolation, redactPatterns } }: WorkspaceFlow): JsonObject {
  return { ...(binaries && { binaries }), ...(isolation && { isolation }), redactPatterns };
}

/** A rule that cannot be used would refuse every call later on, and not say where it comes from. */
async function requireUsableRules(rules: readonly RedactionRule[], name: string): Promise<void> {
  if (rules.length === 0) return;
  const { compileCustomRedaction } = await import("../../redact/custom-rules.ts");
  const compiled = compileCustomRedaction(rules, []);
  if (compiled.ok) return;
  const problems = compiled.problems.map(({ path, problem }) => {
    const index = /^rules\.(\d+)/.exec(path)?.[1] ?? "0";
    return `secrets.redact_patterns.${index}: ${problem}`;
  });
  throw fileInvalid(name, problems);
}

/** It only narrows, so that it needs no trust. */
function readToolPolicy(path: string): WorkspaceToolPolicy | undefined {
  const bytes = readFileHere(path, WORKSPACE_POLICY_BYTES_MAX);
  const policy = bytes && parseWorkspacePolicy({ name: path, text: bytes.toString("utf8") });
  return bytes && policy && { policy, digest: blake3Hex(bytes) };
}

/** Names the state of the configuration files without reading them: another name, another state. Never rejects. */
export async function workspaceFilesState(serviceRoot: string): Promise<string> {
  const states = [...WORKSPACE_FILES, TOOL_POLICY_FILE].map(async (name) => {
    const found = await lstat(join(serviceRoot, name), { bigint: true }).catch(() => undefined);
    return found === undefined
      ? "-"
      : [found.dev, found.ino, found.mode, found.size, found.mtimeNs, found.ctimeNs].join(" ");
  });
  return (await Promise.all(states)).join("\n");
}

/** @param name how messages name it */
function readFileHere(path: string, bytesMax: number, name = path): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return undefined;
    // It says nothing of the file, so that the next call looks again.
    if (code === "EAGAIN")
      throw new KernelError("WORKSPACE_BUSY", `\`${name}\` is held by another program, which has a lease on it`, error);
    throw new KernelError(
      "WORKSPACE_INVALID",
      `\`${name}\` cannot be read; it must be a regular file and no link`,
      error,
    );
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > bytesMax)
      throw new KernelError(
        "WORKSPACE_INVALID",
        `\`${name}\` must be a regular file of at most ${bytesMax / 1024} KiB`,
      );
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
