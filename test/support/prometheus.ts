/** Reads Prometheus' text format strictly: a line that it has no form for fails the test. */

/** One sample. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a text holds. */
export interface Scrape {
  /** Kind by name, as `# TYPE` says it. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the sample with these labels, whatever other labels it has; `undefined` where there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gy;

/** Reads `text`. */
export function parsePrometheus(text: string): Scrape {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# HELP ")) continue;
    const [, name, kind] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (name !== undefined && kind !== undefined) types.set(name, kind);
    else samples.push(sampleIn(line));
  }
  const value: Scrape["value"] = (name, labels = {}) =>
    samples.find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    )?.value;
  return { types, samples, value };
}

function sampleIn(line: string): Sample {
  const [, name, written = "", value = ""] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let end = 0;
  for (let found = LABEL.exec(written); found !== null; found = LABEL.exec(written)) {
    labels[found[1] ?? ""] = found[2] ?? "";
    end = LABEL.lastIndex;
  }
  if (end !== written.length) throw new Error(`no labels: ${line}`);
  const number = value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value);
  // a gauge of the event loop that has no sample yet is "Nan": Prometheus reads it in any case
  if (Number.isNaN(number) && value.toLowerCase() !== "nan") throw new Error(`no value: ${line}`);
  return { name, labels, value: number };
}
