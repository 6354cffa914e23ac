/** Defines what can be asked of one upstream server, however it is reached. */
import type { JsonObject } from "../../../base/json.ts";
import type { ProgressListener } from "../../../model/outcome/progress.ts";
import type { AskPerson } from "../../../model/tool/person-question.ts";
import type { UpstreamAnswer } from "../../../tools/upstream/upstream-tool.ts";
import type { OfferedTool } from "../records/pins.ts";

/** Who asks: until when, and who hears how far the server is. */
export interface Asking {
  readonly signal: AbortSignal;
  readonly progress?: ProgressListener;
  readonly askPerson?: AskPerson | undefined;
}

/** A tool as a person approved it. */
export interface PinnedTool {
  readonly name: string;
  readonly hash: string;
}

/** One server. */
export interface AskedServer {
  /** What it offers now. @throws ToolFailure where it offers nothing that can be used */
  list(signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** Calls a tool that has the pinned hash still. @throws ToolFailure where there is no answer */
  call(pinned: PinnedTool, args: JsonObject, asking: Asking): Promise<UpstreamAnswer>;
  /** Ends it for good, with the calls that are under way. */
  close(): Promise<void>;
}
