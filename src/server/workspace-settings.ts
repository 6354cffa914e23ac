/**
 * Reads a workspace's own configuration files. Links are not followed, because what stands in a file may be quoted to
 * agents; the digests are of the very bytes that were parsed, so that nothing can be exchanged between the two.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "../base/errors.ts";
import { blake3Hex } from "../base/hash.ts";
import { WORKSPACE_CONFIG_BYTES_MAX } from "../base/limits.ts";
import { noWorkspaceSettings, parseWorkspaceSettings, type WorkspaceSettings } from "../config/config.ts";
import { type FileDigests, WORKSPACE_FILES } from "../config/trust.ts";
import { requireZonePatterns } from "../model/zone.ts";

/** What a workspace says of itself. */
export interface WorkspaceConfiguration {
  readonly settings: WorkspaceSettings;
  readonly digests: FileDigests;
}

/**
 * Reads the configuration of the workspace at the real path `serviceRoot`. A file that is not valid closes the
 * workspace: its author wanted protection.
 * @throws KernelError WORKSPACE_INVALID
 */
export async function readWorkspaceConfiguration(serviceRoot: string): Promise<WorkspaceConfiguration> {
  const path = join(serviceRoot, "handrail.yaml");
  const bytes = readFileHere(path);
  if (bytes === undefined) return { settings: noWorkspaceSettings(), digests: { "handrail.yaml": null } };
  try {
    const settings = await parseWorkspaceSettings(bytes.toString("utf8"), path);
    requireZonePatterns(settings.files);
    return { settings, digests: { "handrail.yaml": blake3Hex(bytes) } };
  } catch (error) {
    const isOwn = error instanceof KernelError && error.code === "CONFIG_INVALID";
    throw isOwn ? new KernelError("WORKSPACE_INVALID", error.message, error) : error;
  }
}

/** Names the state of the configuration files without reading them: another name, another state. Never rejects. */
export async function workspaceFilesState(serviceRoot: string): Promise<string> {
  const states = WORKSPACE_FILES.map(async (name) => {
    const found = await lstat(join(serviceRoot, name), { bigint: true }).catch(() => undefined);
    return found === undefined ? "-" : [found.dev, found.ino, found.mode, found.size, found.mtimeNs, found.ctimeNs].join(" ");
  });
  return (await Promise.all(states)).join("\n");
}

function readFileHere(path: string): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new KernelError("WORKSPACE_INVALID", `\`${path}\` cannot be read; it must be a regular file and no link`, error);
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > WORKSPACE_CONFIG_BYTES_MAX)
      throw new KernelError("WORKSPACE_INVALID", `\`${path}\` must be a regular file of at most ${WORKSPACE_CONFIG_BYTES_MAX / 1024} KiB`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
