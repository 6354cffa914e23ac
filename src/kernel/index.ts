/**
 * The kernel's only door. Transports hand submissions in and get responses out; everything between is the pipeline.
 */
import type { InBandAnswer } from "../approval/in-band.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { DialectName } from "../model/people/dialect.ts";
import type { CallResponse } from "../model/tool/call.ts";
import { type Admission, type Asker, admit, recordRefusal } from "./admit.ts";
import { DocumentWriter } from "./answer/documents/document-writer.ts";
import { Evidence } from "./answer/evidence.ts";
import type { KernelParts } from "./call/parts.ts";
import { loadCodec, type Submission, type Waiter } from "./call/submission.ts";
import { type Fetched, type FetchRequest, getContent, putContent, type Upload } from "./content-door.ts";
import type { ToolDefinition } from "./declared/registry.ts";
import {
  type CallExplanation,
  type ExplainedCall,
  explainCall,
  redactedExplanation,
} from "./judge/imagined/explain.ts";
import { offeredTools } from "./offered.ts";
import { pipeline, type TurnedKernel } from "./pipeline.ts";
import { CallRedaction } from "./redaction/redaction.ts";
import { type AnsweredRound, answerRound, type OpenedQuestion, openQuestion, type RoundCall } from "./rounds.ts";
import { type TurnCounts, Turns } from "./turns.ts";
import { warmUp } from "./warm-up.ts";

export type { InBandAnswer, InBandAsker, InBandQuestion } from "../approval/in-band.ts";
export type { Admission, Asker } from "./admit.ts";
export { KillSwitch } from "./call/kill-switch.ts";
export type {
  KernelParts,
  KernelSandbox,
  KernelSettings,
  OpenWorkspace,
  SessionScratch,
  WorkspaceCatalog,
  WorkspaceName,
} from "./call/parts.ts";
export type { Submission } from "./call/submission.ts";
export type { Fetched, FetchRequest, UploadAnnouncement } from "./content-door.ts";
export { needsArming } from "./declared/capability-obligations.ts";
export { patternsReady, problemsOfPatterns } from "./declared/danger-patterns.ts";
export { compileInputSchema } from "./declared/input-schema.ts";
export { TOOL_NAME, type ToolDefinition, ToolRegistry } from "./declared/registry.ts";
export { compileWholePattern, problemOfWholePattern } from "./declared/whole-pattern.ts";
/** What describes and judges branches, loaded with its first use. */
export const loadBranchParts = () => import("./handles/branches/branch-parts.ts");
export { CALL_TOOL, namedTool } from "./dialect/named-call.ts";
export { looksUp } from "./judge/decide.ts";
export type { Assumptions, CallExplanation } from "./judge/imagined/explain.ts";
export { imagineAccesses, imagineCall } from "./judge/imagined/imagine.ts";
export { type ImaginedAccess, imagineRequests, placed } from "./judge/imagined/imagine-requests.ts";
export { wholeCall } from "./judge/whole-call.ts";
export { keepableOf } from "./keeping/call-keeping.ts";
export { FileHistory } from "./keeping/file-history.ts";
export { SessionSecrets } from "./redaction/found-values.ts";
export { hiddenIn } from "./redaction/recorded-arguments.ts";
export { SecretGuesses } from "./redaction/secret-guesses.ts";
export type { AnsweredRound, OpenedQuestion, RoundCall } from "./rounds.ts";
export type { TurnCounts } from "./turns.ts";

/** A running kernel as its front doors see it. */
export interface KernelDoor {
  /**
   * Takes one submission through the pipeline. Never rejects; every failure is a response. `listener` hears what the
   * tool reports while it runs, always before the response; `inBand` is asked for approval while the call waits, where
   * it may be.
   * @param end aborts when nobody waits any more; a controller of this call alone instead of a signal spares linking
   * one to it, and is aborted by
   * the kernel as well when the call's session must not act any more
   */
  readonly execute: (
    submission: Submission,
    end: AbortSignal | AbortController,
    hears?: Pick<Waiter, "listener" | "inBand" | "onAsked" | "traceparent">,
  ) => Promise<CallResponse>;
  /**
   * What an attended client is to ask before a call that was refused by the request `ref` comes back; `undefined`:
   * nothing.
   */
  readonly openQuestion: (call: RoundCall, ref: string) => Promise<OpenedQuestion | undefined>;
  /**
   * Takes the answer that comes with a further round of a call. Never rejects; a refusal is recorded and is a response.
   */
  readonly answerRound: (call: RoundCall, state: unknown, answer: InBandAnswer) => Promise<AnsweredRound>;
  /** The same for an encoded `ToolRequest`; resolves with an encoded `ToolResponse`. */
  readonly executeBytes: (request: Uint8Array, end: AbortSignal | AbortController) => Promise<Uint8Array>;
  /** Authenticates a caller of what is no tool call. Never rejects; a refusal is recorded and is a response. */
  readonly admit: (asker: Asker) => Promise<Admission>;
  /** Stores an upload: the call `put_content` with bytes that come beside it. Never rejects. */
  readonly putContent: (upload: Upload, signal: AbortSignal) => Promise<CallResponse>;
  /**
   * Fetches content: the call `artifact_fetch` whose bytes stream after it was answered. Never rejects; the stream may.
   */
  readonly getContent: (request: FetchRequest, signal: AbortSignal) => Promise<Fetched>;
  /** Records that a front door refused a request by itself; beyond a rate only counted. Never rejects. */
  readonly recordRefusal: (denial: Denial) => Promise<void>;
  /** The tools on offer, sorted by name. */
  readonly tools: () => readonly ToolDefinition[];
  /** Those of them that are not refused to the session whatever it calls them with. Rejects like `warmUp`. */
  readonly offered: (sessionToken: string) => Promise<readonly ToolDefinition[]>;
  /** The tools on offer as a dialect has them. */
  readonly spokenTools: (dialect: DialectName) => Promise<readonly ToolDefinition[]>;
  /** The tool of that name. */
  readonly tool: (name: string) => ToolDefinition | undefined;
  /** Why a call would be decided as it would; nothing is executed or recorded. */
  readonly explain: (explained: ExplainedCall) => Promise<CallExplanation>;
  /**
   * Makes what the first calls of a session need before they come; nothing is executed or recorded. Rejects when
   * policies cannot be loaded.
   */
  readonly warmUp: (sessionToken: string) => Promise<void>;
  /** Operations that run, and that wait for their turn. */
  readonly turns: () => TurnCounts;
  /** Records what is still only counted; call it before closing the ledger. */
  readonly flush: () => Promise<void>;
}

/** Opens the door of a kernel made of `parts`. */
export function createKernelDoor(parts: KernelParts): KernelDoor {
  const turns = new Turns(() => parts.settings.operationsAtOnce);
  const kernel: TurnedKernel = { parts, evidence: new Evidence(parts), documents: new DocumentWriter(parts), turns };
  const run = (
    submission: Submission,
    end: AbortSignal | AbortController,
    waiter: Omit<Waiter, "signal"> = {},
  ): Promise<CallResponse> => {
    return parts.killSwitch.during(end, (running) =>
      pipeline(kernel, { submission, waiter: { ...waiter, signal: running.signal }, running }),
    );
  };
  const submit = (submission: Submission, { signal, ...waiter }: Waiter) => run(submission, signal, waiter);
  return {
    execute: run,
    async executeBytes(request, end) {
      const { responseBytes } = await loadCodec();
      return responseBytes(await run({ kind: "wire", bytes: request }, end));
    },
    admit: (asker) => admit(kernel, asker),
    putContent: (upload, signal) => putContent({ parts, submit }, upload, signal),
    getContent: (request, signal) => getContent({ parts, submit }, request, signal),
    openQuestion: (call, ref) => openQuestion(kernel, call, ref),
    answerRound: (call, state, answer) => answerRound(kernel, call, { state, answer }),
    recordRefusal: (denial) => recordRefusal(kernel, denial),
    tools: () => parts.registry.getToolDefinitions(),
    offered: (sessionToken) => offeredTools(parts, sessionToken),
    async spokenTools(dialect) {
      const { spokenTools } = await import("./dialect/speak.ts");
      return spokenTools(dialect, parts.registry.getToolDefinitions());
    },
    tool: (name) => parts.registry.definition(name),
    explain: async (explained) => {
      const redaction = new CallRedaction(await parts.redactor()).knowing(explained.args);
      return redactedExplanation(await explainCall(parts, redaction, explained), redaction);
    },
    warmUp: (sessionToken) => warmUp(parts, sessionToken),
    turns: () => turns.counts,
    flush: () => kernel.evidence.flush(),
  };
}
