/** `done`: the agent says that its turn is over, and what came of it. */
import { z } from "zod";
import { KIB } from "../../base/bytes.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { textArgument } from "../kit/argument.ts";
import { IN_KERNEL } from "../kit/capabilities.ts";
import { flag, objectOf, text } from "../kit/result-schema.ts";

/** Bytes of a summary. */
const SUMMARY_BYTES_MAX = 64 * KIB;

const parameters = z.strictObject({
  summary: textArgument("What was done, and what is left, in a few sentences.", SUMMARY_BYTES_MAX),
});

/** The tool `done`. */
export const done: Tool<z.infer<typeof parameters>> = {
  name: "done",
  title: "End the turn",
  description: "Says that your work is done, with a summary. It is recorded, and whoever waits for you learns of it.",
  parameters,
  outputSchema: objectOf({ done: flag(), summary: text() }),
  capability: { effect: "control", risk: "low", ...IN_KERNEL },
  analyse: () => [],
  execute: ({ summary }) => ({ kind: "data", data: { done: true, summary } }),
  toText: ({ summary }) => `[the turn has ended] ${String(summary)}`,
};
