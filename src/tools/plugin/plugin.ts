/** Defines plugins in meao's shape: a name, a schema, a capability and code that answers `{success, output}`. */
import type { ZodType } from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { Access } from "../../model/place/access.ts";
import type { ToolCapability } from "../../model/tool/capability.ts";
import type { ToolContext } from "../../model/tool/tool.ts";

/** What a plugin answers. */
export interface PluginOutput {
  readonly success: boolean;
  readonly output: string;
  /** What went wrong, such as `Exit code: 3`. */
  readonly error?: string | undefined;
}

/** What a plugin declares of itself; effect and risk are taken for high where it does not say them. */
export type PluginCapability = Partial<Pick<ToolCapability, "effect" | "risk">> &
  Omit<ToolCapability, "effect" | "risk">;

/** A command to run in the sandbox. */
export interface ContainerOptions {
  readonly command: string;
  readonly workDir?: string | undefined;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
  /** Bytes that are kept of the output. */
  readonly maxOutputSize?: number | undefined;
  /** `none` alone. */
  readonly networkMode?: string | undefined;
  /** Memory, processors and processes are the operator's to limit; what stands here is not read. */
  readonly memory?: string | undefined;
  readonly cpus?: number | undefined;
  readonly pidsLimit?: number | undefined;
}

/** What came of it. */
export interface ContainerResult {
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Absent where the command was ended from outside. */
  readonly exitCode?: number;
}

/** What a running plugin is given. Its handles work while it runs, and no longer. */
export interface PluginContext
  extends Pick<
    ToolContext,
    "requestId" | "sessionId" | "userId" | "agentId" | "role" | "workDir" | "serviceRoot" | "projectRoot" | "signal"
  > {
  /** Ids of the approvals that the call consumed; a copy. */
  readonly approvals: string[];
  readonly allowedCommands: readonly string[];
  readonly accessToken: string;
  readonly sandbox: { readonly runContainer: (options: ContainerOptions) => Promise<ContainerResult> };
  readonly audit: {
    readonly log: (category: string, event: string, facts?: PluginAuditFacts) => Promise<void>;
  };
  /** What `analyse` named; a plugin without it is refused. */
  readonly files: ToolContext["files"];
  readonly search: ToolContext["search"];
}

/** What a plugin notes of itself; never output. */
export interface PluginAuditFacts {
  readonly severity?: string;
  readonly requestId?: string;
  readonly metadata?: JsonObject;
}

/** A plugin as meao wrote it. */
export interface ToolPlugin<Arguments = never> {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly parameters: ZodType;
  readonly capability: PluginCapability;
  /** Pure: what a call will touch. Without it the plugin touches nothing of the workspace, and every call asks. */
  analyse?(args: Arguments): readonly Access[];
  execute(args: Arguments, context: PluginContext): Promise<PluginOutput>;
}
