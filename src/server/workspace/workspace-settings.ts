/**
 * Reads a workspace's own configuration files. Links are not followed, because what stands in a file may be quoted to
 * agents; the digests are of the very bytes that were parsed, so that nothing can be exchanged between the two.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { KIB } from "../../base/bytes.ts";
import { errorCode, KernelError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { WORKSPACE_CONFIG_BYTES_MAX } from "../../base/limits.ts";
import { noWorkspaceSettings, parseWorkspaceSettings, type WorkspaceSettings } from "../../config/config.ts";
import { parseWorkspacePolicy } from "../../config/files/tool-rules.ts";
import { type FileDigests, WORKSPACE_FILES } from "../../config/trust.ts";
import type { ToolPolicy } from "../../model/people/gates.ts";
import { requireZonePatterns } from "../../model/place/zone.ts";

/** Bytes of a workspace's `policy.json`: a stranger's, which may be another program's as well. */
const WORKSPACE_POLICY_BYTES_MAX = 256 * KIB;

/** The file of a workspace that may hold a tool policy. */
export const TOOL_POLICY_FILE = "policy.json";

/** What a workspace says of itself. */
export interface WorkspaceConfiguration {
  readonly settings: WorkspaceSettings;
  readonly digests: FileDigests;
  /** What its `policy.json` leaves of the tools, if it has one that is meant for that. */
  readonly toolPolicy?: WorkspaceToolPolicy;
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
    const policy = toolPolicy && { toolPolicy };
    if (bytes === undefined) return { settings: noWorkspaceSettings(), digests: { "handrail.yaml": null }, ...policy };
    const settings = await parseWorkspaceSettings(bytes.toString("utf8"), path);
    requireZonePatterns(settings.files);
    return { settings, digests: { "handrail.yaml": blake3Hex(bytes) }, ...policy };
  } catch (error) {
    const isOwn = error instanceof KernelError && error.code === "CONFIG_INVALID";
    throw isOwn ? new KernelError("WORKSPACE_INVALID", error.message, error) : error;
  }
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

function readFileHere(path: string, bytesMax: number): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return undefined;
    // It says nothing of the file, so that the next call looks again.
    if (code === "EAGAIN")
      throw new KernelError("WORKSPACE_BUSY", `\`${path}\` is held by another program, which has a lease on it`, error);
    throw new KernelError(
      "WORKSPACE_INVALID",
      `\`${path}\` cannot be read; it must be a regular file and no link`,
      error,
    );
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > bytesMax)
      throw new KernelError(
        "WORKSPACE_INVALID",
        `\`${path}\` must be a regular file of at most ${bytesMax / 1024} KiB`,
      );
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
