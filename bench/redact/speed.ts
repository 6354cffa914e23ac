/** How fast secrets are found: clean text, text with secrets, a result of 4 KB, hostile text, and text in pieces. */

import { seededRandom } from "../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { readCorpus, secretsOfEveryFormat } from "./corpus.ts";
import { loadSecretlint } from "./secretlint.ts";

const RESULT_CHARACTERS = 4096;
const PIECE_CHARACTERS = 64 * 1024;
/** Characters of clean text between two secrets, in the text that has some. */
const SECRET_EVERY = 4096;
const PEER = "secretlint, recommended preset";

/** The figures. */
export async function measureRedactionSpeed(_: Playground, effort: Effort): Promise<readonly Row[]> {
  const redactor = createRedactor({ known: [{ rule: "env-known", value: "a value of the environment 7" }] });
  const lint = await loadSecretlint();
  const clean = cleanText(redactor, effort.calls >= 1000 ? 8_000_000 : 400_000);
  const planted = plantEvery(clean);
  const results = Array.from({ length: 64 }, (_unused, index) =>
    clean.slice(index * RESULT_CHARACTERS, (index + 1) * RESULT_CHARACTERS),
  );
  const extra = [
    { rule: "session-token", value: "ses_0123456789abcdefghijkl.0123456789abcdefghijklmnopqrstuvwxyz0123" },
  ];
  const throughput = { unit: "MB/s", better: "higher" } as const;
  const ours = (text: string) => () => megabytesPerSecond(text, effort.turnMs, () => void redactor.redact(text));
  const theirs = (text: string) => () => megabytesPerSecondAwaited(text, effort.turnMs, () => lint(text));
  for (const text of [clean, planted]) redactor.redact(text);
  return [
    await interleave(
      { id: "redact-clean", what: "clean text", peer: PEER, ...throughput },
      effort.rounds,
      ours(clean),
      theirs(clean),
    ),
    await interleave(
      { id: "redact-found", what: "text with a secret every 4 KB", peer: PEER, ...throughput },
      effort.rounds,
      ours(planted),
      theirs(planted),
    ),
    await interleave(
      { id: "redact-result", what: "a result of 4 KB", peer: PEER, unit: "µs", better: "lower" },
      effort.rounds,
      () => microsecondsPerResult(results, effort, (text) => void redactor.redact(text)),
      () => microsecondsPerResultAwaited(results, effort, lint),
    ),
    await interleave(
      {
        id: "redact-call",
        what: "a result of 4 KB, with the call's own token",
        peer: "without one",
        unit: "µs",
        better: "lower",
      },
      effort.rounds,
      () => microsecondsPerResult(results, effort, (text) => void redactor.redact(text, extra)),
      () => microsecondsPerResult(results, effort, (text) => void redactor.redact(text)),
    ),
    await interleave(
      {
        id: "redact-pieces",
        what: "text with secrets in pieces of 64 KB",
        peer: "the same text at once",
        ...throughput,
      },
      effort.rounds,
      () => megabytesPerSecond(planted, effort.turnMs, () => inPieces(redactor, planted)),
      ours(planted),
    ),
    ...(await hostileRows(redactor, clean, effort)),
  ];
}

type Redactor = ReturnType<typeof createRedactor>;

/** Real text in which nothing is found. */
function cleanText(redactor: Redactor, characters: number): string {
  let text = "";
  for (const { text: part } of readCorpus(characters)) {
    if (redactor.find(part).length === 0) text += part;
    if (text.length >= characters) break;
  }
  return Buffer.from(text.slice(0, characters)).toString(); // one flat string, as what is read from a file is
}

function plantEvery(clean: string): string {
  const random = seededRandom(7);
  const secrets = secretsOfEveryFormat(random);
  const parts: string[] = [];
  for (let at = 0, count = 0; at < clean.length; at += SECRET_EVERY, count += 1) {
    parts.push(clean.slice(at, at + SECRET_EVERY), "\n", secrets[count % secrets.length]?.text ?? "", "\n");
  }
  return Buffer.from(parts.join("")).toString();
}

function inPieces(redactor: Redactor, text: string): void {
  const stream = redactor.stream();
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) stream.push(text.slice(at, at + PIECE_CHARACTERS));
  stream.end();
}

/** Text that is made of nothing but beginnings of secrets, against clean text. */
async function hostileRows(redactor: Redactor, clean: string, effort: Effort): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const base = clean.slice(0, 2_000_000);
  const parts = {
    "a name": "token",
    "almost a key": "ghp_aaaaaaaaaaaaaaaaaaaa ",
    "a name and a colon": "password:",
    "an opening line": "-----BEGIN PRIVATE KEY-----\n",
    "wrapped beginnings": "Z2hwX2docF9naHBf",
  };
  for (const [what, part] of Object.entries(parts)) {
    const text = part.repeat(Math.ceil(base.length / part.length)).slice(0, base.length);
    const subject = {
      id: `redact-hostile-${what.replaceAll(" ", "-")}`,
      what: `nothing but ${what}`,
      peer: "clean text",
      unit: "MB/s",
      better: "higher",
    } as const;
    rows.push(
      await interleave(
        subject,
        effort.rounds,
        () => megabytesPerSecond(text, effort.turnMs / 4, () => void redactor.redact(text)),
        () => megabytesPerSecond(base, effort.turnMs / 4, () => void redactor.redact(base)),
      ),
    );
  }
  return rows;
}

function megabytesPerSecond(text: string, turnMs: number, work: () => void): number {
  const started = performance.now();
  let turns = 0;
  do {
    work();
    turns += 1;
  } while (performance.now() - started < turnMs);
  return (turns * text.length) / 1000 / (performance.now() - started);
}

async function megabytesPerSecondAwaited(text: string, turnMs: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let turns = 0;
  do {
    await work();
    turns += 1;
  } while (performance.now() - started < turnMs);
  return (turns * text.length) / 1000 / (performance.now() - started);
}

function microsecondsPerResult(results: readonly string[], effort: Effort, work: (text: string) => void): number {
  const started = performance.now();
  for (let call = 0; call < effort.calls; call += 1) work(results[call % results.length] ?? "");
  return ((performance.now() - started) * 1000) / effort.calls;
}

async function microsecondsPerResultAwaited(
  results: readonly string[],
  effort: Effort,
  work: (text: string) => Promise<unknown>,
): Promise<number> {
  const calls = Math.ceil(effort.calls / 10);
  const started = performance.now();
  for (let call = 0; call < calls; call += 1) await work(results[call % results.length] ?? "");
  return ((performance.now() - started) * 1000) / calls;
}
