/**
 * Makes the calls that a provider's output proposes, one after the other, each through the kernel's door.
 *
 * The output is recorded before its first call, and kept without its secrets where documents are. What is no call is
 * refused in its place, and recorded as any other refusal. INVARIANT: a call is what the pipeline makes of it; nothing
 * is executed here.
 */
import type { Clock } from "../../base/clock.ts";
import { blake3Hex } from "../../base/hash.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { jsonProblem, parseJson } from "../../base/json-parse.ts";
import type { ContentStore } from "../../cas/content-store.ts";
import { hiddenIn, type KernelDoor, type KernelSettings } from "../../kernel/index.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { Redactor } from "../../redact/redact.ts";
import type { BrokenCall, ProposedCall } from "../../wire/provider-output.ts";
import { type OutputFile, readInputFile } from "./output-file.ts";

/** Levels that a document puts around an output. */
const LEVELS_AROUND = 2;

/** What runs the calls of outputs. */
export interface ProviderOutputParts {
  readonly door: Pick<KernelDoor, "execute" | "recordRefusal">;
  readonly redactor: () => Redactor | Promise<Redactor>;
  readonly content: Pick<ContentStore, "keepDocuments">;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly settings: Pick<KernelSettings, "documents">;
}

/** As whom the calls are made, and until when. */
export interface OutputRun {
  readonly token: string;
  /** The session, where it is known, and who acts. */
  readonly sessionId: string;
  readonly actor: string;
  readonly signal: AbortSignal;
  readonly onAsked?: Parameters<KernelDoor["execute"]>[2] extends { onAsked?: infer Asked } | undefined ? Asked : never;
}

/** What came of one call of an output. */
export interface OutputAnswer {
  readonly at: string;
  readonly id?: string;
  readonly tool: string;
  readonly response: CallResponse;
}

/** Makes the calls of outputs of one kernel. */
export class ProviderOutputs {
  readonly #parts: ProviderOutputParts;

  constructor(parts: ProviderOutputParts) {
    this.#parts = parts;
  }

  /** Makes the calls of an output in their order; ends early once `signal` is aborted. */
  async *run(output: OutputFile, run: OutputRun): AsyncGenerator<OutputAnswer> {
    const prefix = newId("req", this.#parts.random);
    await this.#record(output, run, prefix);
    for (const [index, call] of output.calls.entries()) {
      if (run.signal.aborted) return;
      const { at, id } = call;
      const named = { at, ...(id !== undefined && { id }), tool: "tool" in call ? call.tool : "" };
      yield { ...named, response: await this.#answer(call, { output, run, requestId: `${prefix}.${index + 1}` }) };
    }
  }

  async #answer(
    call: ProposedCall | BrokenCall,
    { output, run, requestId }: { readonly output: OutputFile; readonly run: OutputRun; readonly requestId: string },
  ): Promise<CallResponse> {
    if ("problem" in call) return this.#refused(requestId, call, call.reason);
    const { input, tool } = call;
    const args = input.kind === "given" ? input.arguments : await readInputFile(output.path, input.reference);
    if (typeof args === "string")
      return this.#refused(requestId, { at: call.at, problem: args }, "tool_input_read_failed");
    const { token: sessionToken, signal, onAsked } = run;
    return this.#parts.door.execute({ kind: "call", requestId, sessionToken, tool, arguments: args }, signal, {
      ...(onAsked && { onAsked }),
    });
  }

  async #refused(
    requestId: string,
    { at, problem }: Pick<BrokenCall, "at" | "problem">,
    reason: string,
  ): Promise<CallResponse> {
    const denial: Denial = {
      layer: "call",
      reason,
      ruleId: "PROVIDER:call",
      message: `the call at \`${at}\` of the provider's output was not made: ${problem}`,
    };
    await this.#parts.door.recordRefusal(denial);
    return { requestId, outcome: { kind: "denied", denial }, durationMs: 0, rules: [denial.ruleId] };
  }

  async #record({ value, calls }: OutputFile, { sessionId, actor }: OutputRun, requestId: string): Promise<void> {
    const { ledger, clock, settings } = this.#parts;
    const timeMs = clock.nowMs();
    const document = settings.documents === "off" ? undefined : await this.#keep(value, { sessionId, requestId });
    const payload = { calls: calls.length, ...(document !== undefined && { document }) };
    await ledger.record({ type: "provider_output_read", sessionId, actor, requestId, timeMs, payload }, "durable");
  }

  /** Keeps an output without its secrets, as deep as documents may be. */
  async #keep(value: JsonObject, reference: { readonly sessionId: string; readonly requestId: string }) {
    const { content, clock, redactor } = this.#parts;
    const hidden = hiddenIn(await redactor(), unfolded(value, 0) as JsonObject);
    const isTooDeep = jsonProblem(hidden, LEVELS_AROUND) !== undefined;
    const about = { schema: "handrail.provider_output.v1" };
    const bytes = Buffer.from(
      canonicalJson(isTooDeep ? { ...about, output_omitted: true } : { ...about, output: hidden }),
    );
    const hash = blake3Hex(bytes);
    await (await content.keepDocuments([{ hash, bytes }], reference, clock.nowMs())).sync();
    return hash;
  }
}

/** The value with texts of JSON as what they say: redaction finds no secret that an escape hides. */
function unfolded(value: JsonValue, depth: number): JsonValue {
  if (typeof value === "string") {
    const json = /^\s*[[{]/.test(value) && depth < UNFOLDED_DEPTH_MAX ? parseJson(value) : undefined;
    return json?.ok ? unfolded(json.value, depth + 1) : value;
  }
  if (Array.isArray(value)) return value.map((item) => unfolded(item, depth));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [[name, unfolded(member, depth)] as const],
  );
  return Object.fromEntries(members);
}

/** Texts of JSON within texts of JSON that are looked into. */
const UNFOLDED_DEPTH_MAX = 4;
