/** Builds the question that policy is asked about a call, or about what its command has changed. Pure. */
import type { Decided } from "../call/stages.ts";
import type { PolicyQuestion } from "./decide.ts";
import { withGateDemands } from "./gates.ts";
import { wholeCall } from "./whole-call.ts";

/** A call that policy is asked about. */
type Questioned = Pick<
  Decided,
  "policy" | "caller" | "tool" | "receivedAtMs" | "call" | "accesses" | "demands" | "review"
>;

/** The question. What the call as a whole demands was met before its command ran. */
export function callQuestion(questioned: Questioned): PolicyQuestion {
  const { policy, caller, tool, receivedAtMs: nowMs, call, accesses, demands, review } = questioned;
  const question = { policy, caller, tool, nowMs, call: wholeCall(tool, accesses, call.arguments) };
  return review === undefined ? { ...question, demands: withGateDemands(caller, tool.name, demands) } : question;
}
