/** Understands the scope of an approval as people type it. */
import { usageError } from "../../base/errors.ts";
import type { ApprovalScope } from "../../model/approval/approval.ts";
import { parseDuration } from "../terminal/inputs.ts";

const PROJECT = "project:";

/**
 * The scope of `once`, `session`, `kind`, a duration such as `15m` from now on, or `project:30d`.
 * @throws KernelError USAGE
 */
export function parseScope(text: string, nowMs: number): ApprovalScope {
  if (text === "once" || text === "session" || text === "kind") return { kind: text };
  if (text.startsWith(PROJECT)) return { kind: "project", untilMs: nowMs + parseDuration(text.slice(PROJECT.length)) };
  if (!/^\d/.test(text))
    throw usageError(`\`${text}\` is no scope; write once, session, kind, a duration such as 15m, or project:30d`);
  return { kind: "until", untilMs: nowMs + parseDuration(text) };
}
