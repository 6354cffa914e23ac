/**
 * Defines what a person is asked and what they answer.
 *
 * Both are documents named by the BLAKE3-256 of their canonical JSON, so what was shown, what was decided and what was
 * recorded are the same.
 */
import type { JsonObject } from "../../base/json.ts";
import type { EffectClass } from "../outcome/effect.ts";
import type { DataClass, TrustLevel } from "../outcome/label.ts";
import type { ReachedHost } from "../work/exec.ts";

/** How an answer came in; part of evidence. */
export const APPROVAL_CHANNELS = [
  "handler",
  "cli",
  "rpc",
  "file",
  "elicitation",
  "multi_round_trip",
  "console",
] as const;
/** One of them. */
export type ApprovalChannel = (typeof APPROVAL_CHANNELS)[number];

/** What is asked, in meao's shape. `id` is `<tool>:execute`, or `<tool>:danger` when a danger pattern asks. */
export interface ApprovalRequest {
  readonly id: string;
  readonly tool: string;
  /** `execute` or `dangerous_operation`. */
  readonly action: string;
  /** One line in words of the kernel, without text of the agent. */
  readonly summary: string;
  readonly risks: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A call about which people are asked. */
export interface AskedCall {
  /** Names the request. */
  readonly ref: string;
  /** What is asked, in words of the kernel. */
  readonly summary: string;
}

/** A rule that asks, and why it says that it does. */
export interface AskingRule {
  readonly ruleId: string;
  readonly rationale?: string;
}

/** A file as it is, and as it would be after the call. */
export type ChangeDetail = {
  readonly path: string;
  /** `rename`: a file with the same content, or a directory with all that lies in it, was at `from` before. */
  readonly kind: "create" | "modify" | "delete" | "rename";
  readonly from?: string;
  /** Unified diff, redacted; absent for bytes that are no text. */
  readonly diff?: string;
  /** Lines of the diff that are not shown; lines that were cut say so themselves. */
  readonly linesOmitted: number;
  /** Sizes of the file now and after the call; absent where there is none. */
  readonly bytesBefore?: number;
  readonly bytesAfter?: number;
};

/** How much a command has changed, and where all of it is listed, of a request that shows a part. */
export type EffectsDetail = {
  readonly count: number;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  /** Directories whose rights alone change. */
  readonly rights: number;
  /** Of all files and links, as they are and as they would be. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** How many effects each rule asks about. */
  readonly asking: readonly { readonly ruleId: string; readonly effects: number }[];
  /** BLAKE3-256 and bytes of the list of all (`effect-list.ts`), as stored content. */
  readonly list?: { readonly hash: string; readonly bytes: number };
  /** Why there is none. */
  readonly unlisted?: string;
};

/**
 * Facts of a request, redacted. What comes from the agent is only in `arguments`, `accesses`, `projectWords`,
 * `sends` and `changes`; whoever shows them escapes them and says whose words they are.
 */
export type ApprovalDetails = {
  readonly kind: "execute" | "danger";
  readonly rules: readonly { readonly ruleId: string; readonly rationale?: string }[];
  readonly userId: string;
  readonly agentId: string;
  readonly role: string;
  readonly sessionId: string;
  readonly workspace: string;
  readonly workDir: string;
  /** The branch that the session works on; the workspace itself when absent. */
  readonly branch?: string;
  /** What the principal has seen in the workspace so far. */
  readonly seen: { readonly trustLevel: TrustLevel; readonly dataClass: DataClass };
  /**
   * As evidence has them: `{kind, effect, path, zone}`, `{kind: "host", host, port}`, `{kind: "command", binary, line}`
   * …
   */
  readonly accesses: readonly JsonObject[];
  /** What a command that has run tried to reach, whatever is decided now. */
  readonly reached?: readonly ReachedHost[];
  /** Absent where `changes` show everything. */
  readonly effects?: EffectsDetail;
  readonly changes: readonly ChangeDetail[];
  /** What files of the project say about what is run: whoever can write them, wrote it. */
  readonly projectWords?: readonly { readonly path: string; readonly text: string }[];
  /** Stored content that is sent, by its name: whoever stored it, wrote it. */
  readonly sends?: readonly { readonly name: string; readonly text: string }[];
  /** Why more changes than these are to be expected, or none: they could not be looked at, or are too many. */
  readonly unseen?: string;
  readonly arguments: JsonObject;
  /** Not all of the arguments are there, or not as they were sent. */
  readonly argumentsCut?: true;
  /** What an answer for the kind covers; absent where only this very call can be answered. */
  readonly covers?: readonly Coverage[];
};

/**
 * Where an approval applies. Of the very call that was shown, `once`: one execution; `session`: as long as the session;
 * `until`: up to a time, in the session. Of all calls that the request's `covers` name, `kind`: as long as the session;
 * `project`: up to a time, for the same user and agent in the same workspace, whatever the session.
 */
export type ApprovalScope =
  | { readonly kind: "once" | "session" | "kind" }
  | { readonly kind: "until" | "project"; readonly untilMs: number };

/** Whether an approval covers more than the call that was shown. */
export function isLasting(scope: ApprovalScope | undefined): boolean {
  return scope?.kind === "kind" || scope?.kind === "project";
}

/** What an approval of a request's kind covers, of one thing that it asks about. */
export type Coverage = {
  /** In the kernel's words: what may be done, such as `contact host, port 443, by gh pr view`. */
  readonly what: string;
  /** To what: a path, a host. The agent may have chosen it. */
  readonly target: string;
  readonly effect: EffectClass;
  /** Rules that no longer ask about it. */
  readonly rules: readonly string[];
  /** Keyed digest of all that it is bound to, 64 hexadecimal digits. */
  readonly digest: string;
};
