/** Builds the failures of a search, in words for the agent. */

import { ToolFailure } from "../../model/outcome/failure.ts";
import type { SearchPattern } from "../../model/work/search.ts";
import { failureOf, quoted } from "../files/places/failures.ts";
import { REGEX_BUDGET_MS } from "./pattern/budget.ts";
import type { WorkResult } from "./pattern/messages.ts";

/** The failure of work that a search thread did not do; `path` is the file it was at. */
export function failureOfWork(
  result: Exclude<WorkResult, { kind: "done" }>,
  pattern: SearchPattern,
  path: string | undefined,
): ToolFailure {
  switch (result.kind) {
    case "invalid": {
      const message = `${quoted(pattern.text)} is not a regular expression: ${result.problem}`;
      return new ToolFailure(
        "REGEX_INVALID",
        message,
        "correct it (RE2 syntax), or set `literal` to search for the text as it is",
      );
    }
    case "too_big": {
      const message = `${quoted(pattern.text)} needs more memory than a regular expression may`;
      return new ToolFailure(
        "REGEX_TIMEOUT",
        message,
        "repeat fewer times, or use ASCII classes such as `[0-9A-Za-z_]`",
      );
    }
    case "over_budget": {
      const where = path === undefined ? "" : ` in ${quoted(path)}`;
      const message = `matching ${quoted(pattern.text)}${where} took more than the ${REGEX_BUDGET_MS} ms that a file may take`;
      return new ToolFailure(
        "REGEX_TIMEOUT",
        message,
        "use a simpler expression, or leave large files out with `glob`",
      );
    }
    case "out_of_memory": {
      const where = path === undefined ? "" : ` in ${quoted(path)}`;
      const message = `searching for ${quoted(pattern.text)}${where} took more memory than a search may`;
      return new ToolFailure(
        "REGEX_TIMEOUT",
        message,
        "use a simpler expression, or leave large files out with `glob`",
      );
    }
    case "busy":
      return failureOf("EMFILE", path ?? ".");
    case "stalled": {
      const message = path === undefined ? "the search did not get on" : `${quoted(path)} could not be read in time`;
      return new ToolFailure("RESOURCE_BUSY", message, { suggestion: "try again in a moment", retryAfterMs: 1000 });
    }
    case "bad_content":
      return new ToolFailure("NOT_SUPPORTED", result.problem, "correct the content");
    case "broken":
      return new ToolFailure("INTERNAL", "the search failed", {
        suggestion: "report this to the operator",
        cause: new Error(result.message),
      });
  }
}

/** The failure of a glob that cannot be used. */
export function badGlob(glob: string): ToolFailure {
  const message = `the glob ${quoted(glob)} cannot be used`;
  return new ToolFailure(
    "NOT_SUPPORTED",
    message,
    "use fewer wildcards and balanced brackets, such as `*.ts` or `src/**/*.{ts,tsx}`",
  );
}
