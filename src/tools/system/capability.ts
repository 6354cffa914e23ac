/** Defines the capability that all tools that touch the machine itself declare. */
import type { ToolCapability } from "../../model/tool/capability.ts";

/**
 * For the role `sre` alone, armed, and asked about: what is changed here no workspace contains. What the machine's
 * programs print was written by whoever wrote to their logs.
 */
export const SYSTEM_CAPABILITY: ToolCapability = {
  effect: "system",
  risk: "high",
  sizesResult: true,
  approval: { level: "ask" },
  requiresArming: true,
  requiredRole: "sre",
  execution: { sandbox: "none" },
  labels: { outputTrust: "untrusted", outputDataClass: "internal" },
  audit: { logArgs: true, logOutput: false },
};
