/** Defines the operator's settings for the sandbox that commands run in. */
import * as z from "zod";
import { MIB } from "../../base/bytes.ts";
import { MAX_PATH_LEN } from "../../base/limits.ts";

/** Directories with programs that the operator may show to commands. */
const SANDBOX_TOOLCHAINS_MAX = 64;

/** The section `sandbox` of `handrail.yaml`. */
export const sandboxSettings = z.strictObject({
  /** What contains commands; never another in its place. `none` needs the kernel's own flag as well. */
  backend: z.enum(["bwrap", "container", "none"]).default("bwrap"),
  /** What commands write into: an overlay of the workspace where one can be mounted, else a copy; or always the one. */
  views: z.enum(["auto", "overlay", "copy"]).default("auto"),
  /** Directories with programs outside of `/usr`, seen read only under their own paths. */
  toolchains: z.array(z.string().startsWith("/").max(MAX_PATH_LEN)).max(SANDBOX_TOOLCHAINS_MAX).default([]),
  /** The user that commands run as where the kernel runs as root; never root. */
  user_id: z.int().min(1).max(4_294_967_294).optional(),
  memory_mb: z.int().min(16).max(1_048_576).default(512),
  processes: z.int().min(4).max(65_536).default(100),
  processors: z.number().min(0.1).max(1024).default(1),
  /** Megabytes that a command may write into one file, and into its private `/tmp`. */
  file_mb: z.int().min(1).max(1_048_576).default(1024),
  temporary_mb: z.int().min(1).max(1_048_576).default(256),
  open_files: z.int().min(64).max(1_048_576).default(1024),
  /** Megabytes of output after which a command is killed. */
  output_mb: z.int().min(1).max(1_048_576).default(64),
});
/** Parsed. */
export type SandboxSettings = z.infer<typeof sandboxSettings>;

/** The settings as limits of a run; the time is each call's own. */
export function sandboxLimits(settings: SandboxSettings) {
  return {
    outputBytesMax: settings.output_mb * MIB,
    processesMax: settings.processes,
    memoryBytesMax: settings.memory_mb * MIB,
    processors: settings.processors,
    fileBytesMax: settings.file_mb * MIB,
    openFilesMax: settings.open_files,
    temporaryBytesMax: settings.temporary_mb * MIB,
  };
}
