/** The ends of a call before it was executed. */
import type { CallResponse } from "../model/call.ts";
import type { Denial } from "../model/decision.ts";
import type { ToolFailure } from "../model/failure.ts";
import type { Mark } from "../model/label.ts";

/** How a call ends that does not go on. */
export type Ended =
  | { readonly kind: "replay"; readonly answer: CallResponse; readonly seen?: Mark }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "denial"; readonly denial: Denial };
