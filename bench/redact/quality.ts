/**
 * How well secrets are found: the rules' own examples, made-up secrets of every format planted into real text, and what
 * is found in real text that has none. Deterministic: one round says it all.
 */

import { fillTemplate, seededRandom } from "../../src/redact/kinds/samples.ts";
import { createRedactor, type Finding } from "../../src/redact/redact.ts";
import { FORMAT_RULES } from "../../src/redact/rules/all.ts";
import { NAMED_RULES } from "../../src/redact/rules/named.ts";
import { type Row, rowOf } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { type CorpusText, readCorpus, secretsOfEveryFormat } from "./corpus.ts";
import { makeLogs } from "./logs.ts";
import { type Lint, loadSecretlint } from "./secretlint.ts";

const PEER = "secretlint, recommended preset";
const CONTEXT_LINES = 12;
/** Characters of a false finding that are shown: enough to find it again. */
const NOISE_SHOWN_MAX = 40;

/** The figures. */
export async function measureRedactionQuality(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const redactor = createRedactor();
  const lint = await loadSecretlint();
  const isWhole = effort.calls >= 1000;
  const corpus = readCorpus(isWhole ? 24_000_000 : 600_000);
  const logs = await makeLogs(playground, !isWhole);
  return [
    ...(await exampleRows(redactor, lint)),
    ...(await plantedRows(redactor, lint, corpus, effort)),
    ...(await noiseRows(redactor, lint, [
      ...corpus,
      ...logs.map(({ tool, text }) => ({ kind: "logs", path: tool, text }) as const),
    ])),
  ];
}

type Redactor = ReturnType<typeof createRedactor>;

function row(id: string, what: string, unit: string, better: Row["better"], our: number, their: number): Row {
  return rowOf({ id, what, peer: PEER, unit, better }, [{ our, their }]);
}

async function exampleRows(redactor: Redactor, lint: Lint): Promise<readonly Row[]> {
  const rules = [...FORMAT_RULES, ...NAMED_RULES];
  const positive = rules.flatMap(({ examples }) =>
    examples.positive.map((text) => fillTemplate(text, seededRandom(1)).text),
  );
  const negative = rules.flatMap(({ examples }) =>
    examples.negative.map((text) => fillTemplate(text, seededRandom(1)).text),
  );
  const counts = { ourHits: 0, theirHits: 0, ourNoise: 0, theirNoise: 0 };
  for (const text of positive) {
    if (redactor.find(text).length > 0) counts.ourHits += 1;
    if ((await lint(text)).length > 0) counts.theirHits += 1;
  }
  for (const text of negative) {
    if (redactor.find(text).length > 0) counts.ourNoise += 1;
    if ((await lint(text)).length > 0) counts.theirNoise += 1;
  }
  const share = (hits: number, noise: number) => (hits + noise === 0 ? 0 : (100 * hits) / (hits + noise));
  return [
    row(
      "quality-example-recall",
      `recall on ${positive.length} examples of our rules`,
      "%",
      "higher",
      (100 * counts.ourHits) / positive.length,
      (100 * counts.theirHits) / positive.length,
    ),
    row(
      "quality-example-precision",
      `precision with ${negative.length} counter-examples`,
      "%",
      "higher",
      share(counts.ourHits, counts.ourNoise),
      share(counts.theirHits, counts.theirNoise),
    ),
  ];
}

async function plantedRows(
  redactor: Redactor,
  lint: Lint,
  corpus: readonly CorpusText[],
  effort: Effort,
): Promise<readonly Row[]> {
  const random = seededRandom(2024);
  const hosts = corpus.filter(({ text }) => text.length > 2000 && text.length < 400_000);
  let [planted, ours, theirs, definite] = [0, 0, 0, 0];
  for (let round = 0; round < Math.max(1, Math.round(effort.calls / 500)); round += 1) {
    for (const { text: secret, random: hidden } of secretsOfEveryFormat(random)) {
      const host = (hosts[random(hosts.length)]?.text ?? "").split("\n");
      const line = random(host.length);
      const text = [
        ...host.slice(Math.max(0, line - CONTEXT_LINES), line),
        secret,
        ...host.slice(line, line + CONTEXT_LINES),
      ].join("\n");
      const from = text.indexOf(secret);
      const touches = (start: number, end: number) => start < from + secret.length && end > from;
      const found = redactor.redact(text);
      planted += 1;
      if (
        hidden.every((part) => !found.text.includes(part)) &&
        found.findings.some(({ start, end }) => touches(start, end))
      )
        ours += 1;
      if (found.findings.some(({ kind, start, end }) => kind === "definite" && touches(start, end))) definite += 1;
      if ((await lint(text)).some(([start, end]) => touches(start, end))) theirs += 1;
    }
  }
  const percent = (count: number) => (100 * count) / planted;
  return [
    row(
      "quality-planted-recall",
      `${planted} made-up secrets in real text, wholly hidden`,
      "%",
      "higher",
      percent(ours),
      percent(theirs),
    ),
    row("quality-planted-definite", "of those, definite", "%", "higher", percent(definite), percent(theirs)),
  ];
}

async function noiseRows(redactor: Redactor, lint: Lint, corpus: readonly CorpusText[]): Promise<readonly Row[]> {
  const kinds = Map.groupBy(corpus, ({ kind }) => kind);
  const rows: Row[] = [];
  const sum = { megabytes: 0, definite: 0, probable: 0, theirs: 0 };
  for (const [kind, texts] of kinds) {
    const counts = { megabytes: 0, definite: 0, probable: 0, theirs: 0 };
    for (const { path, text } of texts) {
      counts.megabytes += text.length / 1e6;
      for (const finding of redactor.find(text)) {
        counts[finding.kind] += 1;
        process.stderr.write(describeNoise(path, text, finding));
      }
      counts.theirs += (await lint(text)).length;
    }
    const per = (count: number) => count / counts.megabytes;
    const what = `found per MB of ${counts.megabytes.toFixed(1)} MB ${kind}`;
    rows.push(
      row(
        `quality-noise-${kind.replace(" ", "-")}`,
        what,
        "1/MB",
        "lower",
        per(counts.definite + counts.probable),
        per(counts.theirs),
      ),
    );
    for (const name of ["megabytes", "definite", "probable", "theirs"] as const) sum[name] += counts[name];
  }
  rows.push(
    row(
      "quality-noise-definite",
      "definite per MB of all of it",
      "1/MB",
      "lower",
      sum.definite / sum.megabytes,
      sum.theirs / sum.megabytes,
    ),
  );
  rows.push(
    row(
      "quality-noise-probable",
      "probable per MB of all of it",
      "1/MB",
      "lower",
      sum.probable / sum.megabytes,
      sum.theirs / sum.megabytes,
    ),
  );
  return rows;
}

function describeNoise(path: string, text: string, { rule, kind, start, end }: Finding): string {
  const line = text.slice(0, start).split("\n").length;
  const shown = JSON.stringify(text.slice(start, Math.min(end, start + NOISE_SHOWN_MAX)));
  return `false finding: ${path}:${line}: ${kind} ${rule} ${shown}\n`;
}
