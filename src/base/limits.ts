/**
 * Every limit of the kernel in one place: loops, queues, buffers, waits and inputs are bounded by a constant from here,
 * in `limits/` by what they bound.
 *
 * Each constant names its unit last (`Bytes`, `Ms`, `Max` for counts) and says why it has its value.
 */
export * from "./limits/alarm.ts";
export * from "./limits/approvals.ts";
export * from "./limits/budgets.ts";
export * from "./limits/capabilities.ts";
export * from "./limits/commands.ts";
export * from "./limits/content.ts";
export * from "./limits/egress.ts";
export * from "./limits/execution.ts";
export * from "./limits/files.ts";
export * from "./limits/gates.ts";
export * from "./limits/git.ts";
export * from "./limits/ledger.ts";
export * from "./limits/policy.ts";
export * from "./limits/prompts.ts";
export * from "./limits/protocol.ts";
export * from "./limits/redaction.ts";
export * from "./limits/search.ts";
export * from "./limits/sessions.ts";
export * from "./limits/stores.ts";
export * from "./limits/system.ts";
export * from "./limits/toolchain.ts";
export * from "./limits/transports.ts";
