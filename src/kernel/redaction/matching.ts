/** Creates the match handle of one call; the code that matches is loaded with the first use. */
import type { Match } from "../../model/work/matching.ts";
import type { CallRedaction } from "./redaction.ts";

/** Matching in bytes in which the call's redaction hides secrets. */
export function matchFor(redaction: Pick<CallRedaction, "hidden">, signal: AbortSignal): Match {
  return async (bytes, query) => {
    const { createMatch } = await import("../../sandbox/matching/matching.ts");
    const { searchThreads } = await import("../../sandbox/search/threads.ts");
    const hidden = (text: Uint8Array) => redaction.hidden(text);
    return createMatch({ threads: searchThreads(), hidden, signal })(bytes, query);
  };
}
