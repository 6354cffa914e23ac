/** Waits for something only for as long as whoever asked does. */
import { cancelled } from "./failures.ts";

/** What `turn` comes to, or that the call was cancelled, as soon as it is. */
export async function beforeAbort<Answer>(turn: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(cancelled());
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([turn, aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
