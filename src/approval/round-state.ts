/**
 * Seals the state that leaves the kernel between two rounds of a call and returns with the answer.
 *
 * The seal is made with a key of the state directory. The state holds nothing secret, so it is signed and not
 * encrypted.
 *
 * Pure. INVARIANT: state opens only for what it was sealed for: one request, one call in every byte, one session (and
 * so one principal), one client, until a set time, as the next answer. The store makes sure that it is used only once.
 */
import * as z from "zod";
import { equalInConstantTime, KIB, utf8 } from "../base/bytes.ts";
import { blake3Keyed, blake3KeyedHex } from "../base/hash.ts";
import { canonicalJson, type JsonObject } from "../base/json.ts";
import { parseJson } from "../base/json-parse.ts";

/** Characters of the state between two rounds of a call: some five times what the longest names need. */
export const ROUND_STATE_CHARACTERS_MAX = 4 * KIB;

/** What a round of a call is about. */
export interface RoundFacts {
  readonly ref: string;
  readonly sessionId: string;
  readonly client: string;
  /** Digest of tool and arguments: 64 hexadecimal digits. */
  readonly call: string;
  /** In-band answers to the request before this one. */
  readonly answersBefore: number;
  readonly expiresAtMs: number;
}

/** A round that was opened, or why it was not, as the end of a sentence about it. */
export type OpenedRound =
  | { readonly ok: true; readonly round: RoundFacts }
  | { readonly ok: false; readonly problem: string };

const sealed = z.strictObject({
  ref: z.string(),
  sessionId: z.string(),
  client: z.string(),
  call: z.string(),
  answersBefore: z.int().min(0),
  expiresAtMs: z.int().min(0),
});

/** Digest of a call as the client makes it. `key`: 32 secret bytes of the state directory. */
export function roundCall(key: Uint8Array, tool: string, args: JsonObject): string {
  return blake3KeyedHex(key, canonicalJson(["handrail.approval.round_call", tool, args]));
}

/** Seals a round as text of base64url and one full stop. */
export function sealRound(key: Uint8Array, facts: RoundFacts): string {
  const { ref, sessionId, client, call, answersBefore, expiresAtMs } = facts;
  return seal(
    key,
    canonicalJson({ ref, sessionId, client, call, answersBefore, expiresAtMs: Math.floor(expiresAtMs) }),
  );
}

/** Opens a round for whoever brings it, `as` of now. */
export function openRound(
  key: Uint8Array,
  state: unknown,
  as: Pick<RoundFacts, "sessionId" | "client" | "call"> & { readonly nowMs: number },
): OpenedRound {
  const round = unseal(key, state);
  if (round === undefined) return { ok: false, problem: "it is none of this kernel's, or was changed" };
  if (round.sessionId !== as.sessionId) return { ok: false, problem: "it belongs to another session" };
  if (round.client !== as.client) return { ok: false, problem: "it belongs to another client" };
  if (round.expiresAtMs <= as.nowMs) return { ok: false, problem: "its time is over" };
  if (round.call !== as.call)
    return { ok: false, problem: "it belongs to another call: tool and arguments have to be the very same" };
  return { ok: true, round };
}

function unseal(key: Uint8Array, state: unknown): RoundFacts | undefined {
  if (typeof state !== "string" || state.length > ROUND_STATE_CHARACTERS_MAX) return undefined;
  const text = Buffer.from(state.split(".", 1).join(""), "base64url").toString("utf8");
  // Sealed again as a whole, so that it is compared in every character, and not as a lenient decoder reads it.
  if (!equalInConstantTime(utf8(state), utf8(seal(key, text)))) return undefined;
  const json = parseJson(text);
  const parsed = json.ok ? sealed.safeParse(json.value) : undefined;
  return parsed?.success === true ? parsed.data : undefined;
}

function seal(key: Uint8Array, text: string): string {
  const mac = blake3Keyed(key, canonicalJson(["handrail.approval.round", text.toWellFormed()]));
  return `${Buffer.from(text).toString("base64url")}.${Buffer.from(mac).toString("base64url")}`;
}
