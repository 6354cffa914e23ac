/** The ends of a call before it was executed. */

import type { Denial } from "../../model/outcome/decision.ts";
import type { ToolFailure } from "../../model/outcome/failure.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { CallResponse } from "../../model/tool/call.ts";

/** How a call ends that does not go on. */
export type Ended =
  | { readonly kind: "replay"; readonly answer: CallResponse; readonly seen?: Mark }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "denial"; readonly denial: Denial };
