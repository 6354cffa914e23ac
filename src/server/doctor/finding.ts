/** One finding of `handrail doctor`; the detail of a failed one says what to do about it. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "failed" | "advisory";
  readonly detail: string;
}

/** What `work` finds: a text says that all is well, and what it throws is a fault. */
export async function attempt(
  check: string,
  work: () => string | Omit<Finding, "check"> | Promise<string | Omit<Finding, "check">>,
): Promise<Finding> {
  try {
    const found = await work();
    return typeof found === "string" ? { check, status: "ok", detail: found } : { check, ...found };
  } catch (error) {
    return { check, status: "failed", detail: error instanceof Error ? error.message : String(error) };
  }
}
