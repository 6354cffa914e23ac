/**
 * Lists the signals that ask a command to end in good order.
 *
 * They come from Ctrl-C, from a service manager, or from a terminal or client that is gone.
 */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `stop` at the first of each of them; a second one of a kind ends the process at once. */
export function onStop(stop: (signal: (typeof STOP_SIGNALS)[number]) => void): void {
  for (const signal of STOP_SIGNALS) process.once(signal, () => stop(signal));
}

/** Resolves at the first signal that asks the process to end, or with `over`. */
export function untilStopped(over?: Promise<unknown>): Promise<void> {
  // A pending promise alone does not keep the process alive; a timer does.
  const keepAlive = setInterval(() => undefined, 3_600_000);
  return new Promise((resolveStopped) => {
    const stop = () => {
      clearInterval(keepAlive);
      resolveStopped();
    };
    onStop(stop);
    over?.then(stop, stop);
  });
}
