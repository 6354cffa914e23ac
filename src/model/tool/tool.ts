/**
 * Defines the tool interface: a name, a schema, a capability, a pure analysis and the code.
 *
 * The analysis says what a call will touch. The code does the work with the handles of its context, and tools have no
 * ambient authority.
 */
import type { ZodType } from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import type { EffectClass } from "../outcome/effect.ts";
import type { Label } from "../outcome/label.ts";
import type { ProgressListener } from "../outcome/progress.ts";
import type { LeaseBudget } from "../people/lease.ts";
import type { Role } from "../people/role.ts";
import type { Access } from "../place/access.ts";
import type { CodeAccess } from "../place/code.ts";
import type { FileAccess } from "../place/files.ts";
import type { KnowledgeAccess } from "../place/knowledge.ts";
import type { IsolationLevel } from "../place/workspace.ts";
import type { ModelAccess } from "../reach/models.ts";
import type { WebAccess } from "../reach/web.ts";
import type { BranchAccess } from "../work/branches.ts";
import type { ContentAccess } from "../work/content.ts";
import type { ExecAccess } from "../work/exec.ts";
import type { GitAccess, RepositoryView } from "../work/git.ts";
import type { MachineAccess } from "../work/machine.ts";
import type { Match } from "../work/matching.ts";
import type { SearchAccess } from "../work/search.ts";
import type { ToolchainView } from "../work/toolchain.ts";
import type { ToolCapability } from "./capability.ts";
import type { AskPerson } from "./person-question.ts";

/** Records an event in the ledger on behalf of a running tool; never with output. */
export interface ToolAudit {
  readonly log: (category: string, event: string, fields: JsonObject) => Promise<void>;
}

/** What a running tool gets: who asks, where, and the handles it may use. */
export interface ToolContext {
  readonly requestId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly agentId: string;
  readonly role: Role;
  /** The workspace root of the active service; also `workDir`'s default. */
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly workDir: string;
  readonly isolationLevel: IsolationLevel;
  /** Names of the commands that the lease covers, sorted; `*` alone where it restricts none. */
  readonly allowedCommands: readonly string[];
  /** Ephemeral, of this call alone; never leaves the kernel. */
  readonly accessToken: string;
  /** Device number of the workspace root. */
  readonly volumeId: string;
  /** Ids of the approvals that this call consumed. */
  readonly approvals: readonly string[];
  readonly files: FileAccess;
  readonly search: SearchAccess;
  readonly knowledge: KnowledgeAccess;
  readonly code: CodeAccess;
  readonly content: ContentAccess;
  readonly exec: ExecAccess;
  readonly git: GitAccess;
  readonly branches: BranchAccess;
  readonly web: WebAccess;
  readonly models: ModelAccess;
  /** The machine itself; for tools of the effect class `system` alone. */
  readonly machine: MachineAccess;
  /** The same as analysis saw. */
  readonly toolchain: ToolchainView;
  /** The same as analysis saw. */
  readonly repository: RepositoryView;
  /**
   * The secrets in `bytes`, sorted: for a tool that shows or matches parts of something. Results are redacted in any
   * case.
   */
  readonly hidden: (bytes: Uint8Array) => readonly HiddenRange[];
  /** Finds what an expression or a syntax pattern matches in bytes that the tool has read. */
  readonly match: Match;
  /** Whether the caller is offered the tool of that name, as in its list of tools. */
  readonly offers: (tool: string) => boolean;
  readonly audit: ToolAudit;
  /**
   * Tells whoever waits how far the tool is. A courtesy: bounded, redacted, dropped when nobody asks or it is too much.
   */
  readonly progress: ProgressListener;
  readonly signal: AbortSignal;
  /**
   * Asks the person at the client, redacted; for tools of upstream servers alone, and absent where the client cannot
   * ask while a call runs.
   */
  readonly askPerson?: AskPerson | undefined;
  /**
   * `bytes`: the caller takes raw bytes (APM2's `FileRead`); `result`: a structured result; `stream`: content beside
   * it.
   */
  readonly reply: ReplyForm;
  /** The wire's variant that the call came as, by whose names its caller knows the arguments; else `call`. */
  readonly variant?: string;
}

/** A file as it is and as a call would leave it; a version that is absent is no file. */
export interface FilePreview {
  /** As the call names it. */
  readonly path: string;
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  /** Bytes of the versions where one of them is too large to be shown; `before` and `after` are only its beginning. */
  readonly sizes?: { readonly before: number; readonly after: number };
  /** Where the same file, or directory with all that lies in it, was before. */
  readonly from?: string;
}

/** What a tool gets to say what a call would change: it can look, and nothing else. */
export interface PreviewContext {
  /** The whole file. Throws `ToolFailure` or `Refusal` like `FileAccess`. */
  readonly read: (path: string) => Promise<Uint8Array>;
  /** The same, `undefined` when there is no file. */
  readonly readIfAny: (path: string) => Promise<Uint8Array | undefined>;
  /** As in `ToolContext`. */
  readonly hidden: (bytes: Uint8Array) => readonly HiddenRange[];
  /** As in `ToolContext`. */
  readonly match: Match;
  /** As in `ToolContext`. */
  readonly variant?: string;
}

/** Which form the caller takes. */
export type ReplyForm = "bytes" | "result" | "stream";

/** What a tool returns: structured data, or raw bytes when the context asks for them. */
export type ToolOutput =
  | {
      readonly kind: "data";
      readonly data: JsonObject;
      /** By member of `data`: what it is part of, where it is part of something. */
      readonly excerpts?: Readonly<Record<string, Excerpt>>;
      readonly truncated?: boolean;
      /** The label of what the data was taken from; the result is labelled no better. */
      readonly label?: Label;
      readonly consumed?: Consumed;
    }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly window?: Window; readonly consumed?: Consumed }
  /** More bytes than an answer carries; they are stored, and the answer names them. */
  | {
      readonly kind: "stream";
      readonly chunks: AsyncIterable<Uint8Array>;
      readonly window?: Window;
      readonly consumed?: Consumed;
    };

/** What a call has spent that the kernel cannot measure; it counts calls, time and bytes by itself. */
export interface Consumed {
  readonly tokens?: number;
  /** Millionths of the unit that costs are counted in. */
  readonly costMicros?: number;
}

/**
 * The part of what a tool has read that it wants to return: the rest is there so that no cut hides a secret from
 * redaction.
 */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/**
 * What a member of a result is cut out of: the text from `start` up to `end`, or such bytes, which stand as base64 in
 * the result. Such text may stand there as lines with numbers, of which the first is `firstLine`.
 */
export type Excerpt = Window &
  (
    | { readonly kind: "text"; readonly text: string; readonly firstLine?: number }
    | { readonly kind: "base64"; readonly bytes: Uint8Array }
  );

/** What a file of the project says about what is run: a script, the recipe of a goal. */
export type ProjectWords = {
  readonly path: string;
  readonly text: string;
};

/** A tool of the registry. `parameters` refuses unknown properties. */
export interface Tool<Arguments = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: ZodType<Arguments>;
  /** JSON Schema (2020-12) of `data` on success. */
  readonly outputSchema?: JsonObject;
  readonly capability: ToolCapability;
  /**
   * What the versions of a tool share whose code is replaced while the kernel runs: a call ends with the version that
   * it began with. Such versions touch the same, so that the judgement of one holds for another.
   */
  readonly lineage?: object;
  /** Whether it is a tool of an upstream MCP server, whose names have a form of their own. */
  readonly isUpstream?: true;
  /** Whether clients find it with `find_tools` and call it with `call_tool`, so that their list stays short. */
  readonly isUnlisted?: true;
  /**
   * Its actions by their names, such as `git:push`, where policy is asked about each by itself; every access names one
   * of them.
   */
  readonly actions?: Readonly<Record<string, EffectClass>>;
  /**
   * Loads what `analyse` needs, for a tool that would make every start slower. Done before each analysis; cheap from
   * the second time on.
   */
  readonly prepare?: () => Promise<void>;
  /**
   * Pure: every resource the call will touch, and how. `toolchain` is what the workspace is built with, `repository`
   * what it is kept in; a tool that does not ask costs nothing.
   */
  analyse(args: Arguments, toolchain?: ToolchainView, repository?: RepositoryView): readonly Access[];
  /**
   * Pure: the most that the call can spend, as far as that is known. A tool that spends tokens or cost says so here, or
   * they are not reserved.
   */
  spends?(args: Arguments): LeaseBudget;
  /**
   * What a call would change as things are now, for people who are asked about it. Throws `ToolFailure` when the call
   * would fail. Changes nothing; a tool without it is described by its arguments alone.
   */
  preview?(args: Arguments, context: PreviewContext): Promise<readonly FilePreview[]>;
  /** Pure: what the project's own files say about what the call will run, for people who are asked about it. */
  projectWords?(args: Arguments, toolchain: ToolchainView): readonly ProjectWords[];
  execute(args: Arguments, context: ToolContext): ToolOutput | Promise<ToolOutput>;
  /**
   * Pure: the data of a success as a model reads it, in texts, or in content blocks of MCP. A tool without it answers
   * models with its data as JSON, which is for results that are a record of few values.
   */
  toText?(data: JsonObject): string | readonly (string | JsonObject)[];
}
