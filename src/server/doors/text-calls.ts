/** Makes the calls of a model's text, in its order, under one session. */
import { newId, systemRandom } from "../../base/ids.ts";
import type { KernelDoor } from "../../kernel/index.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { TextProblem, ToolInvocation } from "../../wire/xml/events.ts";
import { ToolParser } from "../../wire/xml/tool-parser.ts";

/** One call of a text, and what came of it. */
export interface MadeCall {
  readonly call: ToolInvocation;
  readonly response: CallResponse;
}

/** What came of a text. */
export interface MadeCalls {
  readonly made: readonly MadeCall[];
  readonly problems: readonly TextProblem[];
  /** Calls that were not made, because one before them failed. */
  readonly left: number;
}

/** How to make them. */
export interface TextCallOptions {
  readonly sessionToken: string;
  readonly signal: AbortSignal;
  /** Whether the first call that is refused or fails ends it. */
  readonly stopOnError: boolean;
  /** Told of each call once it is answered. */
  readonly onCall?: (made: MadeCall) => Promise<void> | void;
}

/**
 * Makes the calls that `text` holds. A text in which something is malformed calls nothing, because what was meant is
 * not known.
 */
export async function makeTextCalls(
  door: Pick<KernelDoor, "execute">,
  text: string,
  { sessionToken, signal, stopOnError, onCall }: TextCallOptions,
): Promise<MadeCalls> {
  const { calls, problems } = new ToolParser().parse(text);
  if (problems.length > 0) return { made: [], problems, left: calls.length };
  const made: MadeCall[] = [];
  for (const call of calls) {
    const { name: tool, args } = call;
    const response = await door.execute(
      { kind: "call", requestId: newId("req", systemRandom), sessionToken, tool, arguments: args },
      signal,
    );
    const one = { call, response };
    made.push(one);
    await onCall?.(one);
    if ((stopOnError && response.outcome.kind !== "success") || signal.aborted) break;
  }
  return { made, problems, left: calls.length - made.length };
}
