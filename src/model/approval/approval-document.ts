/**
 * Reads back the document of a request for approval.
 *
 * Whoever shows a request to people reads it here, and shows nothing that does not fit.
 *
 * INVARIANT: what comes back is what the reference names. Its digest is computed again, so nobody is shown one request
 * and decides another.
 */
import * as z from "zod";
import { blake3Hex } from "../../base/hash.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { EFFECT_CLASSES } from "../outcome/effect.ts";
import { DATA_CLASSES, TRUST_LEVELS } from "../outcome/label.ts";
import { HASH_PATTERN } from "../work/content.ts";
import type { ApprovalDetails, ApprovalRequest } from "./approval.ts";

/** A request as people are shown it. */
export type ShownRequest = ApprovalRequest & { readonly details: ApprovalDetails };

const object = z.custom<JsonObject>(isJsonObject);
const count = z.number();
const counts = { port: count, allowed: count, refused: count, failed: count, bytesOut: count, bytesIn: count };
const details = z.object({
  kind: z.enum(["execute", "danger"]),
  rules: z.array(z.object({ ruleId: z.string(), rationale: z.string().exactOptional() })),
  userId: z.string(),
  agentId: z.string(),
  role: z.string(),
  sessionId: z.string(),
  workspace: z.string(),
  workDir: z.string(),
  branch: z.string().exactOptional(),
  seen: z.object({ trustLevel: z.enum(TRUST_LEVELS), dataClass: z.enum(DATA_CLASSES) }),
  accesses: z.array(object),
  reached: z
    .array(z.object({ host: z.string(), ...counts, secrets: z.array(z.string()).exactOptional() }))
    .exactOptional(),
  effects: z
    .object({
      count,
      created: count,
      changed: count,
      deleted: count,
      rights: count,
      bytesBefore: count,
      bytesAfter: count,
      asking: z.array(z.object({ ruleId: z.string(), effects: count })),
      list: z.object({ hash: z.string().regex(HASH_PATTERN), bytes: count }).exactOptional(),
      unlisted: z.string().exactOptional(),
    })
    .exactOptional(),
  changes: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(["create", "modify", "delete", "rename"]),
      from: z.string().exactOptional(),
      diff: z.string().exactOptional(),
      linesOmitted: z.number(),
      bytesBefore: z.number().exactOptional(),
      bytesAfter: z.number().exactOptional(),
    }),
  ),
  projectWords: z.array(z.object({ path: z.string(), text: z.string() })).exactOptional(),
  sends: z.array(z.object({ name: z.string(), text: z.string() })).exactOptional(),
  unseen: z.string().exactOptional(),
  arguments: object,
  argumentsCut: z.literal(true).exactOptional(),
  covers: z
    .array(
      z.object({
        what: z.string(),
        target: z.string(),
        effect: z.enum(EFFECT_CLASSES),
        rules: z.array(z.string()),
        digest: z.string(),
      }),
    )
    .exactOptional(),
});
const request = z.object({
  id: z.string(),
  tool: z.string(),
  action: z.string(),
  summary: z.string(),
  risks: z.array(z.string()),
  details,
});

/** The request in `document`; `undefined` when it is not the one that `ref` names, or none that can be shown. */
export function readApprovalDocument(ref: string, document: string): ShownRequest | undefined {
  if (ref !== `blake3:${blake3Hex(document)}`) return undefined;
  const parsed = request.safeParse(parseOrNothing(document));
  return parsed.success ? parsed.data : undefined;
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
