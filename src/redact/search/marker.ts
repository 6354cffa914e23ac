/**
 * Redaction markers, `[REDACTED:<rule>]`: how they are written and recognised.
 *
 * INVARIANT: a marker is never taken for a secret, so redacting twice changes nothing.
 */

const RULE = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const MARKER = /\[REDACTED:[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\]/g;
const OPENING = "[REDACTED:";

/** Whether `name` can name a rule: what does not fit a marker could not be recognised in one. */
export function isRuleName(name: string): boolean {
  return RULE.test(name);
}

/** The marker of a rule. */
export function markerOf(rule: string): string {
  return `${OPENING}${rule}]`;
}

/** Whether `text` has a marker. */
export function hasMarkers(text: string): boolean {
  return text.includes(OPENING) && markersIn(text).length > 0;
}

/** Every marker in `text`, in order, repeated ones too. */
export function markersIn(text: string): readonly string[] {
  return text.includes(OPENING) ? (text.match(MARKER) ?? []) : [];
}

/**
 * The markers that `content` has and `original` does not have, or not as often: writing them would put a marker where a
 * secret was. Those of the original are its own text.
 */
export function newMarkers(original: string, content: string): readonly string[] {
  const written = markersIn(content);
  if (written.length === 0) return written;
  const left = new Map<string, number>();
  for (const marker of markersIn(original)) left.set(marker, (left.get(marker) ?? 0) + 1);
  return written.filter((marker) => {
    const count = left.get(marker) ?? 0;
    if (count > 0) left.set(marker, count - 1);
    return count === 0;
  });
}
