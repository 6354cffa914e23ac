/** What ends a call that a door was given. */

/** The signal behind what ends a call. */
export function signalOf(end: AbortSignal | AbortController): AbortSignal {
  return end instanceof AbortController ? end.signal : end;
}
