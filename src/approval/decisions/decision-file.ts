/**
 * Reads a decision file (serverd): a person's answer to one request, put down in the operator's state directory.
 *
 * Pure. INVARIANT: a decision counts only for the request that it names and whose one-time code it repeats; anything
 * odd about it, and it does not count at all.
 */
import * as z from "zod";
import { equalInConstantTime, utf8 } from "../../base/bytes.ts";
import { blake3Digest } from "../../base/hash.ts";
import { parseJson } from "../../base/json-parse.ts";
import { APPROVAL_REASON_CHARACTERS_MAX } from "../../base/limits.ts";
import type { ApprovalScope } from "../../model/approval/approval.ts";

const scope = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("once") }),
  z.strictObject({ kind: z.literal("session") }),
  z.strictObject({ kind: z.literal("kind") }),
  z.strictObject({ kind: z.enum(["until", "project"]), untilMs: z.int().min(0) }),
]);

const decisionFile = z.strictObject({
  schema: z.enum(["handrail.tool_approval.v1", "serverd.tool_approval.v1"]),
  approval_ref: z.string(),
  approved: z.boolean(),
  code: z.string(),
  by: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/)
    .optional(),
  scope: scope.optional(),
  reason: z.string().max(APPROVAL_REASON_CHARACTERS_MAX).optional(),
});

/** A decision that counts. */
export interface FileDecision {
  readonly approved: boolean;
  readonly by: string;
  readonly scope?: ApprovalScope;
  readonly reason?: string;
}

/** The decision of a file, or why it does not count; `incomplete`: somebody may still be writing it. */
export type ReadDecision =
  | { readonly ok: true; readonly decision: FileDecision }
  | { readonly ok: false; readonly problem: string; readonly incomplete?: true };

/** Reads the text of a decision file for the request `ref` with the one-time `code`. */
export function readDecisionFile(
  text: string,
  { ref, code }: { readonly ref: string; readonly code: string },
): ReadDecision {
  const json = parseJson(text);
  if (!json.ok) return { ok: false, problem: `the file cannot be read: ${json.problem}`, incomplete: true };
  const parsed = decisionFile.safeParse(json.value);
  if (!parsed.success) return { ok: false, problem: "the file is no `handrail.tool_approval.v1` document" };
  const { approval_ref: named, approved, code: given, by, scope: wanted, reason } = parsed.data;
  if (named !== ref) return { ok: false, problem: "the file is about another request" };
  // Of digests, so that neither length nor content shows in the time it takes.
  if (!equalInConstantTime(blake3Digest(utf8(given)), blake3Digest(utf8(code))))
    return { ok: false, problem: "the code is wrong" };
  return {
    ok: true,
    decision: {
      approved,
      by: by === undefined ? "file" : `file:${by}`,
      ...(wanted !== undefined && { scope: wanted }),
      ...(reason !== undefined && { reason }),
    },
  };
}
