/**
 * Counts durations by bucket in plain arrays; `prom-client` prints them.
 *
 * Its own histogram looks the labels up for each value, which for the eighteen stages of a call takes twice as long as
 * everything else that is counted of it.
 */
import { Histogram, type Registry } from "prom-client";
import type { MetricEntry } from "./catalog.ts";

/** One series. */
export interface Series {
  readonly observe: (value: number) => void;
}

interface Row {
  readonly labels: Readonly<Record<string, string>>;
  /** Values of each bucket, and of none at the end. */
  readonly counts: number[];
  sum: number;
}

/** A histogram with one label or none, whose series are made once. */
export class QuickHistogram extends Histogram<string> {
  readonly #entry: MetricEntry;
  readonly #bounds: readonly number[];
  readonly #rows: Row[] = [];

  constructor(registry: Registry, entry: MetricEntry, bounds: readonly number[]) {
    const { name, help, labels } = entry;
    super({ name, help, labelNames: [...labels], buckets: [...bounds], registers: [registry] });
    this.#entry = entry;
    this.#bounds = bounds;
  }

  /** Makes the series of a label's value; of one value it is made once. */
  series(value?: string): Series {
    const [label] = this.#entry.labels;
    const labels = label === undefined || value === undefined ? {} : { [label]: value };
    const row: Row = { labels, counts: Array(this.#bounds.length + 1).fill(0), sum: 0 };
    this.#rows.push(row);
    const bounds = this.#bounds;
    return {
      observe(seconds) {
        let bucket = 0;
        while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1;
        row.counts[bucket] = (row.counts[bucket] ?? 0) + 1;
        row.sum += seconds;
      },
    };
  }

  /** What is printed: the registry asks for this, and so does the histogram's own `get`. */
  async getForPromString() {
    const { name, help } = this.#entry;
    const values = this.#rows.flatMap((row) => this.#values(row));
    return { name, help, type: "histogram", aggregator: "sum", values };
  }

  #values({ labels, counts, sum }: Row) {
    const { name } = this.#entry;
    let total = 0;
    const buckets = counts.map((count, index) => {
      total += count;
      const le = this.#bounds[index] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, sharedLabels: {}, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, sharedLabels: {}, value: sum },
      { metricName: `${name}_count`, labels, sharedLabels: {}, value: total },
    ];
  }
}

/** Series by a label's value, made with the first value of each. */
export class SeriesByValue {
  readonly #histogram: QuickHistogram;
  readonly #series = new Map<string, Series>();

  constructor(histogram: QuickHistogram) {
    this.#histogram = histogram;
  }

  /** The series of `value`. INVARIANT: callers bound how many values there are. */
  of(value: string): Series {
    const known = this.#series.get(value);
    if (known !== undefined) return known;
    const made = this.#histogram.series(value);
    this.#series.set(value, made);
    return made;
  }
}
