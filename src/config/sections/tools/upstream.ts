/** Defines the operator's settings for other people's MCP servers. */
import * as z from "zod";

/** The section `upstream` of `handrail.yaml`. */
export const upstreamSettings = z.strictObject({
  /** Tools of upstream servers up to which all are listed; clients find more with `find_tools`. */
  list_max: z.int().min(0).max(10_000).default(16),
});
