/**
 * Digests what makes two calls the same call: tool, arguments and the form of the reply.
 *
 * The digest is made with a secret, because the arguments may hold short secrets of their own that could be guessed
 * from a plain digest.
 */
import { utf8 } from "../base/bytes.ts";
import { blake3Salted } from "../base/hash.ts";
import { canonicalJson } from "../base/json.ts";
import type { ToolCall } from "../model/tool/call.ts";

/** The digest of a call: 32 bytes. `secret` has 32 bytes and never leaves the kernel; `args` are canonical JSON. */
export function callDigest(
  secret: Uint8Array,
  { tool, reply }: Pick<ToolCall, "tool" | "reply">,
  args: string,
): Uint8Array {
  return blake3Salted(secret, utf8(`["handrail.dedupe.v1",${canonicalJson(tool)},${canonicalJson(reply)},${args}]`));
}
