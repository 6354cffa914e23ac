/** Understands the scope of an approval as people type it. */
import { usageError } from "../../base/errors.ts";
import type { ApprovalScope } from "../../model/approval/approval.ts";
import { parseDuration } from "../terminal/inputs.ts";

/** The scope of `once`, `session`, or a duration such as `15m` from now on. @throws KernelError USAGE */
export function parseScope(text: string, nowMs: number): ApprovalScope {
  if (text === "once" || text === "session") return { kind: text };
  if (!/^\d/.test(text)) throw usageError(`\`${text}\` is no scope; write once, session, or a duration such as 15m`);
  return { kind: "until", untilMs: nowMs + parseDuration(text) };
}
