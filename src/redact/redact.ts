/**
 * Redaction of what leaves the kernel. It knows the secrets that the kernel itself holds for the call, the session's
 * token; occurrences are replaced by `[REDACTED:<rule>]` before anything is stored, hashed into evidence or returned.
 */

/** A secret and the rule under which it is hidden. */
export interface KnownSecret {
  readonly rule: string;
  readonly value: string;
}

/** Redacted text and how many occurrences were replaced. */
export interface Redacted {
  readonly text: string;
  readonly findings: number;
}

/** Replaces every occurrence of each known secret in `text`. */
export function redactText(text: string, known: readonly KnownSecret[]): Redacted {
  let findings = 0;
  let result = text;
  for (const { rule, value } of known) {
    if (value === "" || !result.includes(value)) continue;
    const parts = result.split(value);
    findings += parts.length - 1;
    result = parts.join(`[REDACTED:${rule}]`);
  }
  return { text: result, findings };
}
