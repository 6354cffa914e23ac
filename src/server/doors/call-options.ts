/** Defines the options of one call of the library. */
import type { ProgressListener } from "../../model/outcome/progress.ts";

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** At most 256 characters; a random one when absent. */
  readonly requestId?: string;
  readonly dedupeKey?: string;
  /** Hears what the tool reports while it runs. */
  readonly onProgress?: ProgressListener;
}
