/** How a call ends that changed something and then could not go on: nobody can say that it did what it should, or nothing. */
import { ToolFailure } from "../../model/outcome/failure.ts";

/** The failure of a call that had changed something when it was refused or failed; `why` is what stopped it. */
export function brokenOff(how: "failed" | "was refused", why: string): ToolFailure {
  return new ToolFailure(
    "OUTCOME_UNKNOWN",
    `the call ${how} after it had changed something: ${why}`,
    "check the state of the workspace; if the rest of the call is still wanted, send it as a call of its own",
  );
}
