/** Reads the wait that a server asks for. */

/** Milliseconds of such a wait; more is that. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/** Seconds or a date (RFC 9110 §10.2.3), as milliseconds from now; `undefined` where it is neither. */
export function waitOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), RETRY_AFTER_MAX_MS) : undefined;
}
