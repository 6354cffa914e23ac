/** A secret in bytes, from `start` up to `end` (offsets in bytes), and the marker that is shown instead. */
export interface HiddenRange {
  readonly start: number;
  readonly end: number;
  readonly marker: string;
}
