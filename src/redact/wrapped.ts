/**
 * Secrets inside base64: a Kubernetes secret, a kubeconfig, a configuration that was encoded as a whole.
 *
 * The distinctive beginnings of formats are keywords in each of the three alignments that base64 has. Where one stands,
 * what follows is decoded and searched once (never again inside of what was decoded); a secret found there is replaced as
 * the groups of four characters that hold it.
 */
import type { Finding } from "./finding.ts";
import type { Matcher, Trigger } from "./matcher.ts";

/** Characters of base64 that are decoded from one keyword on: a private key of 4,096 bits, wrapped. */
const WRAPPED_CHARACTERS_MAX = 8192;
const BYTES_KEPT = 3;
/** A beginning must fill this many characters of base64: shorter ones are met by chance. */
const KEYWORD_CHARACTERS_MIN = 4;

/** Finds what stands at `at` of a decoded text. */
export type FindAt = (text: string, at: number) => Finding | undefined;

/** Triggers for each of `beginnings`, in the right case, in each alignment. */
export function wrappedTriggers(beginnings: readonly string[], findAt: FindAt): readonly Trigger[] {
  const triggers = new Map<string, Trigger>();
  for (const beginning of beginnings) {
    for (let shift = 0; shift < BYTES_KEPT; shift += 1) {
      const keyword = alignedBase64(beginning, shift);
      if (keyword.length < KEYWORD_CHARACTERS_MIN) continue;
      triggers.set(`${shift}${keyword}`, { keyword, matcher: wrappedMatcher(keyword, shift, findAt) });
    }
  }
  return [...triggers.values()];
}

/** The characters of base64 that `text` alone decides when `shift` unknown bytes precede it. */
export function alignedBase64(text: string | Uint8Array, shift: number): string {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

function wrappedMatcher(keyword: string, shift: number, findAt: FindAt): Matcher {
  const before = Math.ceil((shift * 8) / 6);
  return {
    reach: WRAPPED_CHARACTERS_MAX + 4,
    back: before,
    match: (text, start) => {
      if (!text.startsWith(keyword, start)) return undefined;
      const first = start - before;
      if (first < 0) return undefined;
      const end = endOfBase64(text, first, start + WRAPPED_CHARACTERS_MAX);
      if (end < start + keyword.length) return undefined;
      // Characters are decoded as they are: one byte of the result for each byte.
      const decoded = Buffer.from(text.slice(first, end), "base64").toString("latin1");
      const found = findAt(decoded, shift);
      if (!found) return undefined;
      const from = first + Math.floor(found.start / 3) * 4;
      const to = Math.min(end, first + Math.ceil(found.end / 3) * 4);
      return { rule: found.rule, kind: found.kind, start: from, end: to };
    },
  };
}

/** Where base64 or base64url ends, its padding included. */
function endOfBase64(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    const code = text.charCodeAt(at);
    const inside =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 47 && code <= 57) || code === 43 || code === 45 || code === 95;
    if (!inside) break;
    at += 1;
  }
  for (let padding = 0; padding < 2 && text.charCodeAt(at) === 61; padding += 1) at += 1;
  return at;
}
