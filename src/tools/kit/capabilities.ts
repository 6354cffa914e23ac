/** Defines the capabilities that tools of one kind declare alike. */
import type { ToolCapability } from "../../model/tool/capability.ts";

/** Of tools that work in the kernel itself: nobody is asked, nothing leaves, and what they say is of the workspace. */
export const IN_KERNEL = {
  approval: { level: "auto" },
  execution: { sandbox: "process", networkDefault: "none" },
  labels: { outputTrust: "verified", outputDataClass: "internal" },
  audit: { logArgs: true, logOutput: false },
} as const satisfies Partial<ToolCapability>;

/** Of those that read the workspace. */
export const READS: ToolCapability = { effect: "read", risk: "low", ...IN_KERNEL };

/** Of those that change it. */
export const WRITES: ToolCapability = { effect: "write", risk: "medium", ...IN_KERNEL };

/** Of tools that run commands in the sandbox: what they print, the project's code may have written. */
export const RUNS: ToolCapability = {
  effect: "exec",
  risk: "medium",
  sizesResult: true,
  approval: { level: "auto" },
  execution: { sandbox: "container", networkDefault: "none" },
  labels: { outputTrust: "user", outputDataClass: "internal" },
  audit: { logArgs: true, logOutput: false },
};
