/** One finding of `handrail doctor`; the detail of a failed one says what to do about it. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "failed" | "advisory";
  readonly detail: string;
}
