/**
 * What a tool is: a name, a schema, a capability, a pure analysis of what a call will touch, and the code that does it
 * with the handles of its context. Tools have no ambient authority.
 */
import type { ZodType } from "zod";
import type { JsonObject } from "../base/json.ts";
import type { Access } from "./access.ts";
import type { ToolCapability } from "./capability.ts";
import type { ContentAccess } from "./content.ts";
import type { FileAccess } from "./files.ts";
import type { Label } from "./label.ts";
import type { ProgressListener } from "./progress.ts";
import type { Role } from "./role.ts";
import type { SearchAccess } from "./search.ts";
import type { IsolationLevel } from "./workspace.ts";

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
  readonly allowedCommands: readonly string[];
  /** Ephemeral, of this call alone; never leaves the kernel. */
  readonly accessToken: string;
  /** Device number of the workspace root. */
  readonly volumeId: string;
  /** Ids of the approvals that this call consumed. */
  readonly approvals: readonly string[];
  readonly files: FileAccess;
  readonly search: SearchAccess;
  readonly content: ContentAccess;
  readonly audit: ToolAudit;
  /** Tells whoever waits how far the tool is. A courtesy: bounded, redacted, dropped when nobody asks or it is too much. */
  readonly progress: ProgressListener;
  readonly signal: AbortSignal;
  /** `bytes`: the caller takes raw bytes (APM2's `FileRead`); `result`: a structured result; `stream`: content beside it. */
  readonly reply: ReplyForm;
}

/** Which form the caller takes. */
export type ReplyForm = "bytes" | "result" | "stream";

/** What a tool returns: structured data, or raw bytes when the context asks for them. */
export type ToolOutput =
  | {
      readonly kind: "data";
      readonly data: JsonObject;
      readonly truncated?: boolean;
      /** The label of what the data was taken from; the result is labelled no better. */
      readonly label?: Label;
    }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** More bytes than an answer carries; they are stored, and the answer names them. */
  | { readonly kind: "stream"; readonly chunks: AsyncIterable<Uint8Array> };

/** A tool of the registry. `parameters` refuses unknown properties. */
export interface Tool<Arguments = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: ZodType<Arguments>;
  /** JSON Schema (2020-12) of `data` on success. */
  readonly outputSchema?: JsonObject;
  readonly capability: ToolCapability;
  /** Pure: every resource the call will touch, and how. */
  analyse(args: Arguments): readonly Access[];
  execute(args: Arguments, context: ToolContext): ToolOutput | Promise<ToolOutput>;
}
