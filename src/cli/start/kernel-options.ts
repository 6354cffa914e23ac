/** Options that every command which opens a kernel shares, and how they open it. */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { KernelOptions, OpenKernel } from "../../server/compose.ts";
import type { SessionWish } from "../../server/people/administration.ts";

/** The shared options as commander parses them. */
export interface KernelFlags {
  readonly state?: string;
  readonly config?: string;
}

/** Adds `--state` and `--config`. */
export function withKernelOptions(command: Command): Command {
  return command
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--config <directory>", "operator directory (default: $HANDRAIL_CONFIG_HOME or $XDG_CONFIG_HOME/handrail)");
}

/** The directories that the options name. */
export function directoriesOf({
  state,
  config,
}: KernelFlags): Pick<KernelOptions, "stateDirectory" | "configDirectory"> {
  return {
    ...(state !== undefined && { stateDirectory: resolve(state) }),
    ...(config !== undefined && { configDirectory: resolve(config) }),
  };
}

/** The shared options of commands whose kernel runs what agents ask for. */
export interface ServingFlags extends KernelFlags {
  readonly allowUnsandboxedCommands?: boolean;
  readonly allowUnusualWorkspace?: boolean;
}

/** Adds what `withKernelOptions` adds, `--allow-unsandboxed-commands` and `--allow-unusual-workspace`. */
export function withServingOptions(command: Command): Command {
  return withKernelOptions(command)
    .option(...UNSANDBOXED)
    .option(...UNUSUAL);
}

/** The flag of whoever holds the admin credential, at doors that make sessions for people. */
export const AS_OPERATOR = [
  "--as-operator",
  "take any role, preset and project root; needs the admin credential in HANDRAIL_ADMIN_TOKEN",
] as const;

/**
 * The proof that the flags claim; none where they claim none. @throws KernelError USAGE for a claim without the
 * credential
 */
export async function operatorOf(
  { asOperator }: { readonly asOperator?: boolean },
  { stateDirectory }: Pick<OpenKernel, "stateDirectory">,
): Promise<Pick<SessionWish, "operator">> {
  if (asOperator !== true) return {};
  const { OperatorProof } = await import("../../server/people/operator-proof.ts");
  return { operator: await OperatorProof.byEnvironment(stateDirectory, process.env) };
}

/** The flag that a workspace needs which is `/`, a home directory or a directory of the system. */
export const UNUSUAL = [
  "--allow-unusual-workspace",
  "let the workspace be the root of the machine, a home directory or a directory of the system",
] as const;

/** The flag that `sandbox.backend: none` needs. */
export const UNSANDBOXED = [
  "--allow-unsandboxed-commands",
  "let commands run without a sandbox where handrail.yaml says `sandbox.backend: none`, too",
] as const;

/** What a command wants of its kernel. */
export type KernelWishes = Pick<KernelOptions, "awaitSequences">;

/** Opens the kernel that the options name. */
export async function openFromFlags(flags: ServingFlags, wishes: KernelWishes = {}): Promise<OpenKernel> {
  const { openKernel } = await import("../../server/compose.ts");
  return openKernel({
    ...wishes,
    ownsProcess: true,
    environment: process.env,
    ...(flags.allowUnsandboxedCommands === true && { allowUnsandboxedCommands: true }),
    ...(flags.allowUnusualWorkspace === true && { allowUnusualWorkspace: true }),
    ...directoriesOf(flags),
  });
}

/** Opens the kernel, works with it, and closes it whatever happens. */
export async function withKernel<T>(
  flags: ServingFlags,
  work: (kernel: OpenKernel) => Promise<T>,
  wishes: KernelWishes = {},
): Promise<T> {
  const kernel = await openFromFlags(flags, wishes);
  try {
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}
