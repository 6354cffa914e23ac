/** Defines with what a kernel is opened. */
import type { ApprovalManager } from "../approval/handler.ts";
import type { Tool } from "../model/tool/tool.ts";
import type { EgressNetwork } from "../sandbox/sandbox.ts";
import type { Environment } from "./operator/operator-directory.ts";
import type { PluginSource } from "./plugins/load-plugins.ts";

/** Where a kernel keeps its state and finds its configuration; what is absent comes from the environment. */
export interface KernelOptions {
  readonly stateDirectory?: string;
  readonly configDirectory?: string;
  readonly environment: Environment;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Tools in place of the built-in ones. */
  readonly registry?: { readonly tools: () => readonly Tool[] };
  /** Plugins besides: those of the embedding program, and modules that run in processes of their own. */
  readonly plugins?: readonly PluginSource[];
  /** Where the embedding program answers requests for approval, once it has set a handler. */
  readonly approvals?: ApprovalManager;
  /**
   * What commands reach as the internet, in place of the machine's own. Code alone can give it, no configuration can;
   * every check of names and addresses stays as it is.
   */
  readonly network?: EgressNetwork;
  /**
   * Whether reads wait for their place in the ledger, so that each answer carries its sequence. Without it they wait
   * only until they would survive a killed process, and the answer names no sequence.
   */
  readonly awaitSequences?: boolean;
  /**
   * Whether commands may run without a sandbox where the operator's configuration says `sandbox.backend: none`, too.
   * Alone it changes nothing.
   */
  readonly allowUnsandboxedCommands?: boolean;
  /** Whether sessions may be made for `/`, home directories and directories of the system. */
  readonly allowUnusualWorkspace?: boolean;
  /**
   * Told about bugs and background failures; by default they are written to standard error, redacted. It gets the error
   * itself, with its stack and cause and whatever secrets their words hold: a program that writes them anywhere redacts
   * them first.
   */
  readonly onInternalError?: (error: unknown) => void;
  /**
   * Whether this process does nothing else, so that it may collect what commands leave behind; a program that embeds a
   * kernel has children of its own.
   */
  readonly ownsProcess?: boolean;
  /** Told what the operator should know; standard error by default. */
  readonly onWarning?: (message: string) => void;
}
