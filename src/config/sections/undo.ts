/** The section `undo` of `handrail.yaml`: how long, and how much of, what calls changed in files is kept. */
import * as z from "zod";
import { MIB } from "../../base/bytes.ts";

/** Days for which a change can be undone. */
const KEPT_DAYS = 7;
const KEPT_DAYS_MAX = 365;
/** Mebibytes of all that is kept of a state directory. */
const TOTAL_MB = 2048;
/** Mebibytes of a file beyond which it is not kept: copying it would take longer than most calls. */
const FILE_MB = 64;
const DAY_MS = 24 * 3_600_000;

/** The section, with the defaults of an operator who wrote nothing. */
export const undoSettings = z.strictObject({
  /** Days for which what a call changed can be brought back; 0: nothing is kept. */
  keep_days: z.int().min(0).max(KEPT_DAYS_MAX).default(KEPT_DAYS),
  /** Mebibytes of all that is kept; the oldest goes first. */
  total_mb: z.int().min(1).max(1_048_576).default(TOTAL_MB),
  /** Mebibytes of one file that is kept. */
  file_mb: z.int().min(1).max(1_048_576).default(FILE_MB),
});

/** How much is kept, and how long. */
export interface UndoLimits {
  /** Milliseconds; 0: nothing is kept. */
  readonly keepMs: number;
  readonly bytesMax: number;
  readonly fileBytesMax: number;
}

/** The section as the kernel uses it. */
export function undoLimits({ keep_days, total_mb, file_mb }: z.infer<typeof undoSettings>): UndoLimits {
  return { keepMs: keep_days * DAY_MS, bytesMax: total_mb * MIB, fileBytesMax: file_mb * MIB };
}
