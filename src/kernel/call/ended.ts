/** The ends of a call that does not go on. */

import type { Denial } from "../../model/outcome/decision.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { CallResponse } from "../../model/tool/call.ts";

/** How a call ends before it was executed. */
export type Ended =
  | { readonly kind: "replay"; readonly answer: CallResponse; readonly seen?: Mark }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "denial"; readonly denial: Denial };

/** The failure of a call that had changed something when it was refused or failed; `why` is what stopped it. */
export function brokenOff(how: "failed" | "was refused", why: string): ToolFailure {
  return new ToolFailure(
    "OUTCOME_UNKNOWN",
    `the call ${how} after it had changed something: ${why}`,
    "check the state of the workspace; if the rest of the call is still wanted, send it as a call of its own",
  );
}
