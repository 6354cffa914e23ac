/**
 * Replay protection (CTR-0003). Results are not kept yet; a call that asks to be executed at most once is therefore
 * refused: executing it twice is what its caller wanted to rule out.
 */
import { ToolFailure } from "../model/failure.ts";

/** The failure that a call with a `dedupe_key` meets, or nothing when it has none. */
export function checkDedupe(dedupeKey: string): ToolFailure | undefined {
  if (dedupeKey === "") return undefined;
  return new ToolFailure(
    "DEDUPE_UNAVAILABLE",
    "this kernel keeps no results for replay",
    "send the call without dedupe_key, and only once",
  );
}
