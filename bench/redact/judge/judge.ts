/**
 * The judge of recall: secrets from the vendors' documentation in the ways people write them, by a generator with a
 * fixed seed. A secret counts as hidden when no eight characters in a row of it are left to read.
 */
import { seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { type Row, rowOf } from "../../measure.ts";
import type { Effort } from "../../options.ts";
import type { Playground } from "../../playground.ts";
import { type Lint, loadSecretlint } from "../secretlint.ts";
import { KEYS, PRINTED } from "./blocks.ts";
import type { Context } from "./context.ts";
import { CONTEXTS } from "./contexts.ts";
import { type Format, readFormats } from "./formats.ts";
import { INNOCENTS } from "./look-alikes.ts";
import { PASSWORD_NAMES, PASSWORDS } from "./passwords.ts";
import { type Case, Tally } from "./report.ts";
import { fill, type RandomIndex } from "./template.ts";

const SEED = 20_261_127;
/** Contexts drawn for each format. */
const CONTEXTS_EACH = 30;
const CONTEXTS_QUICK = 2;
/** How many characters of a secret in a row are too many. */
const READABLE_MAX = 7;
/** An address or a connection string is a whole: nobody writes it where a password stands. */
const WHOLE = /:\/\/|;|=.* .*=/;
const PEER = "secretlint, recommended preset";

/** Recall by class and false findings; what was missed goes to standard error, worst first. */
export async function measureJudge(_playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const redactor = createRedactor();
  const lint = await loadSecretlint();
  const isWhole = effort.calls >= 1000;
  const tally = new Tally();
  for (const sample of makeCases(isWhole)) {
    const theirs = cut(sample.text, await lint(sample.text));
    tally.add(sample, isHidden(redactor.redact(sample.text).text, sample), isHidden(theirs, sample));
  }
  const rows = tally.classes().map(({ title, cases, ours, theirs }) =>
    rowOf(
      {
        id: `judge-${title.replace(/[^a-z]+/g, "-")}`,
        what: `judged recall, ${title}: ${cases} cases`,
        peer: PEER,
        unit: "%",
        better: "higher",
      },
      [{ our: (100 * ours) / cases, their: (100 * theirs) / cases }],
    ),
  );
  const innocents = await innocentRow(redactor, lint, tally);
  process.stderr.write(tally.report());
  return [...rows, innocents];
}

/** The corpus: the same in every run but for keys that must be real. */
export function* makeCases(isWhole: boolean): Generator<Case> {
  const random = seededRandom(SEED);
  const each = isWhole ? CONTEXTS_EACH : CONTEXTS_QUICK;
  for (const format of readFormats()) yield* casesOf(format, each, random);
  for (const [title, make] of Object.entries(PASSWORDS))
    for (const context of isWhole ? CONTEXTS : draw(CONTEXTS, each, random)) {
      const value = make(random);
      if (context.cue === "none" || context.keysOnly || context.excludes?.test(value)) continue;
      const name = PASSWORD_NAMES[random(PASSWORD_NAMES.length)] ?? "password";
      yield placed("names and values", `password: ${title}`, context, name, { value, parts: [value] });
    }
  for (const [title, make] of Object.entries(KEYS))
    for (const [context, print] of Object.entries(PRINTED)) {
      const lines = make(random);
      const parts = lines
        .filter((line) => !line.startsWith("Private-MAC"))
        .flatMap((line) => (/^[\w+/=]{24,}$/.test(line) ? [line] : (/[\w+/=]{64,}/.exec(line) ?? [])));
      yield { class: "key blocks", format: title, context: `key: ${context}`, text: print(lines), parts };
    }
}

function* casesOf(format: Format, count: number, random: RandomIndex): Generator<Case> {
  const usable = CONTEXTS.filter(({ cue }) => format.cue === "alone" || cue === "name");
  const group = format.cue === "alone" ? "known by its looks" : "known by its name";
  let left = count;
  for (const context of draw(usable, usable.length, random)) {
    const secret = fill(format.template, random);
    if (context.excludes?.test(secret.value) || (context.cue === "place" && WHOLE.test(secret.value))) continue;
    const name = format.names[random(format.names.length)] ?? "";
    yield placed(group, format.title, context, name, secret);
    left -= 1;
    if (left === 0) return;
  }
}

function placed(
  group: string,
  format: string,
  context: Context,
  name: string,
  { value, parts }: { readonly value: string; readonly parts: readonly string[] },
): Case {
  const spell = context.escape ?? ((raw: string) => raw);
  const text = context.write(name, spell(value));
  const spelled = parts.map(spell).filter((part) => text.includes(part));
  return { class: group, format, context: context.title, text, parts: spelled.length > 0 ? spelled : [spell(value)] };
}

/** `count` members by chance, each at most once. */
function draw<Item>(items: readonly Item[], count: number, random: RandomIndex): readonly Item[] {
  const rest = [...items];
  return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(random(rest.length), 1)).flat();
}

function isHidden(shown: string, { parts }: Case): boolean {
  return parts.every((part) => {
    const length = Math.min(READABLE_MAX + 1, part.length);
    for (let at = 0; at + length <= part.length; at += 1) if (shown.includes(part.slice(at, at + length))) return false;
    return true;
  });
}

/** The text without the ranges: each leaves a mark, so that what stood around it does not come together. */
function cut(text: string, ranges: readonly (readonly [number, number])[]): string {
  let [shown, from] = ["", 0];
  for (const [start, end] of [...ranges].sort(([left], [right]) => left - right)) {
    if (end <= from) continue;
    shown += `${text.slice(from, Math.max(from, start))}\0`;
    from = end;
  }
  return shown + text.slice(from);
}

async function innocentRow(redactor: ReturnType<typeof createRedactor>, lint: Lint, tally: Tally): Promise<Row> {
  const random = seededRandom(SEED);
  const found = { our: 0, their: 0 };
  for (const { title, write } of INNOCENTS) {
    const text = write(random);
    const findings = redactor.find(text);
    if (findings.length > 0) found.our += 1;
    for (const { rule, kind } of findings) tally.addFalse(title, `${kind} ${rule}`);
    if ((await lint(text)).length > 0) found.their += 1;
  }
  const what = `false findings in ${INNOCENTS.length} look-alikes`;
  return rowOf({ id: "judge-false", what, peer: PEER, unit: "texts", better: "lower" }, [found]);
}
