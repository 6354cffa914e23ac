/** Port: what documents need of the records of calls. */
import type { JsonObject } from "../../../base/json.ts";
import type { Known } from "../../call/stages.ts";
import type { Kept } from "./document-writer.ts";

/** Records that documents of a call are kept. */
export interface WrittenEvidence {
  readonly written: (type: "tool_call_written" | "tool_output_written", known: Known, kept: Kept) => Promise<void>;
  /** What an entry says of a call. */
  readonly factsOf: (known: Known) => JsonObject;
}
