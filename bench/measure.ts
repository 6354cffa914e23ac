/**
 * How a figure is measured: the product and its peer take turns (A B A B …) in one run, and what is reported is the
 * ratio of each turn, because a machine's speed drifts by more than what is to be seen.
 */
import { loadavg } from "node:os";

/** Which way a figure is better. */
export type Better = "higher" | "lower";

/** Median and range of some values. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** One figure of the table. */
export interface Row {
  readonly id: string;
  readonly what: string;
  readonly peer: string;
  readonly unit: string;
  readonly better: Better;
  readonly ours: Spread;
  readonly theirs: Spread;
  /** Ours divided by the peer's, turn by turn. */
  readonly ratio: Spread;
  readonly rounds: number;
  /** One-minute load average when the figure was complete. */
  readonly load: number;
}

/** What a figure is about. */
export type Subject = Pick<Row, "id" | "what" | "peer" | "unit" | "better">;

/** Gives one figure; `round` counts from 0. */
export type Side = (round: number) => number | Promise<number>;

/** Lets both sides take turns and returns the figure. */
export async function interleave(subject: Subject, rounds: number, ours: Side, theirs: Side): Promise<Row> {
  const pairs: { readonly our: number; readonly their: number }[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push({ our: await ours(round), their: await theirs(round) });
  return rowOf(subject, pairs);
}

/** The figure of turns that were already taken. */
export function rowOf(subject: Subject, pairs: readonly { readonly our: number; readonly their: number }[]): Row {
  return {
    ...subject,
    ours: spreadOf(pairs.map(({ our }) => our)),
    theirs: spreadOf(pairs.map(({ their }) => their)),
    ratio: spreadOf(pairs.map(({ our, their }) => our / their)),
    rounds: pairs.length,
    load: loadavg()[0] ?? 0,
  };
}

/** Median, least and greatest of `values`. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** Microseconds that one of `count` calls of `work` takes. */
export function microsecondsEach(count: number, work: (index: number) => void): number {
  const started = performance.now();
  for (let index = 0; index < count; index += 1) work(index);
  return ((performance.now() - started) * 1000) / count;
}

/** The same for calls that are awaited one after the other. */
export async function microsecondsEachAwaited(count: number, work: (index: number) => unknown): Promise<number> {
  const started = performance.now();
  for (let index = 0; index < count; index += 1) await work(index);
  return ((performance.now() - started) * 1000) / count;
}
