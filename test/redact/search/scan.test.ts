// Reading a text in four places at once finds what one pass finds: the automaton over every character is the measure.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { knownTriggers } from "../../../src/redact/kinds/known-secret.ts";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { builtInRules } from "../../../src/redact/rule-set.ts";
import { FORMAT_RULES } from "../../../src/redact/rules/all.ts";
import { NAMED_RULES } from "../../../src/redact/rules/named.ts";
import { type Finding, mergeFindings } from "../../../src/redact/search/finding.ts";
import { addFound, emptyMemo } from "../../../src/redact/search/matcher.ts";
import { buildTable, scanText, type TriggerTable, verify } from "../../../src/redact/search/scan.ts";
import { searching } from "../../support/thorough.ts";

const KNOWN = [
  "pässwörd-1é",
  "пароль-секрет",
  "é1é2é3é4",
  "Kx7/+pass phrase&é=",
  "kKk=&kelvin KEY/7",
  "abababababababab1",
  "hunter2",
  "0xDEADBEEFcafe",
];
const triggers = [...KNOWN.flatMap((value) => knownTriggers({ rule: "env-x", value })), ...builtInRules().triggers];
const table = buildTable(triggers);

function everywhere({ automaton, triggers: all }: TriggerTable, text: string): readonly Finding[] {
  const { next, classes, shift, accepting, outputStarts, outputs } = automaton;
  const found: Finding[] = [];
  const memo = emptyMemo(text);
  let state = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    state = next[(state << shift) | (code < 128 ? (classes[code] ?? 0) : 0)] ?? 0;
    if (state < accepting || code === 0) continue;
    const entry = state - accepting;
    for (const keyword of outputs.subarray(outputStarts[entry], outputStarts[entry + 1])) {
      const trigger = all[keyword];
      const met = trigger && verify(trigger, memo, index);
      if (met) addFound(found, met);
    }
  }
  return mergeFindings(found);
}

function inLanes(text: string): readonly Finding[] {
  const found: Finding[] = [];
  scanText(table, text, found);
  return mergeFindings(found);
}

const random = seededRandom(11);
const templates = [...FORMAT_RULES, ...NAMED_RULES].flatMap(({ examples }) => [
  ...examples.positive,
  ...examples.negative,
]);
const samples = templates.map((template) => fillTemplate(template, random).text);
const wrapped = samples
  .slice(0, 400)
  .map((sample, index) => Buffer.from("?".repeat(index % 3) + sample).toString("base64"));
const knownForms = KNOWN.flatMap((value) => [
  value,
  Buffer.from(value).toString("base64"),
  Buffer.from(value).toString("hex").toUpperCase(),
  Buffer.from(value).toString("latin1"),
  encodeURIComponent(value),
  new URLSearchParams({ "": value }).toString().slice(1).toUpperCase(),
]);
/**
 * Letters that fold to ASCII or look like it, halves of pairs, and characters whose low bytes are those of keywords'
 * letters.
 */
const odd = [
  "K",
  "ſ",
  "İ",
  "ı",
  "ｔｏｋｅｎ",
  "ｇｈｐ＿",
  "\ud800",
  "\udc00",
  "🙂",
  "š",
  "ł",
  "Ā",
  "\u8000",
  "\uffff",
  "ÿ",
  "\x80",
  "\u00a0",
  "\u2028",
];
const keywords = triggers.map(({ keyword }) => keyword);

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...samples) },
  { weight: 2, arbitrary: fc.constantFrom(...wrapped) },
  { weight: 2, arbitrary: fc.constantFrom(...knownForms) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...samples), fc.nat(80)).map(([sample, length]) => sample.slice(0, length)),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...keywords)
      .chain((word) => fc.constantFrom(word, word.toUpperCase(), word.slice(1), word.slice(0, -1))),
  },
  { weight: 2, arbitrary: fc.constantFrom(...odd) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      " ",
      "\n",
      '"',
      "=",
      ": ",
      "\\n",
      "%3D",
      "a",
      "A",
      "0",
      "AAAAAAAAAAAAAAAA",
      "some_identifier.of.theirs",
    ),
  },
);
/** A string in which the pieces begin anywhere, in one byte for each character or two. */
const texts = fc
  .tuple(fc.nat(70), fc.array(piece, { minLength: 6, maxLength: 40 }), fc.constantFrom("", "Ā"))
  .map(([indent, pieces, wide]) => `${wide}${" .-x".repeat(80)}${".".repeat(indent)}${pieces.join("")}`);

test("the same is found as by looking everywhere, in texts of pieces of what is looked for", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(inLanes(text)).toEqual(everywhere(table, text));
    }),
    { numRuns: 1500 },
  );
});

test("what stands around a border of two blocks is found, wherever the border cuts it", () => {
  const [block, near] = [16_384, 200];
  const secrets = [
    ...samples.filter((_, index) => index % 3 === 0),
    ...wrapped.filter((_, index) => index % 5 === 0),
    ...knownForms,
  ];
  const step = searching({ shortly: 5, thoroughly: 1 }); // shortly, several of one kind share its cuts
  for (const [index, secret] of secrets.entries()) {
    const filler = (index % 2 === 0 ? "- " : "é ").repeat(block);
    for (let cut = index % step; cut <= Math.min(secret.length, 48); cut += step) {
      const text = `${filler.slice(0, block - cut)}${secret}${" ".repeat(40)}`;
      const expected = everywhere(table, text.slice(block - near)).map(({ start, end, ...finding }) => ({
        ...finding,
        start: start + block - near,
        end: end + block - near,
      }));
      expect({ secret, cut, found: inLanes(text) }).toEqual({ secret, cut, found: expected });
    }
  }
});

test("in text that is dense with keywords, too", () => {
  for (const [index, sample] of [...wrapped, ...samples].entries()) {
    if (index % 7 !== 0) continue;
    const text = `${"AAAA.token=".repeat(50).slice(0, 300 + (index % 61))} ${sample}\n${"eyJ ".repeat(200)}`;
    expect({ sample, found: inLanes(text) }).toEqual({ sample, found: everywhere(table, text) });
  }
});

test("a long beginning in base64 is found wherever it stands", () => {
  const address = `https://discordapp.com/api/webhooks/123456789012345678/${"aB3dE5fG7hI9jK1l".repeat(4)}0123`;
  for (let shift = 0; shift < 3; shift += 1) {
    const encoded = Buffer.from("?".repeat(shift) + address).toString("base64");
    for (let at = 420; at < 520; at += 1) {
      for (const filler of [" ", "eyJ "]) {
        const text = `${filler.repeat(at).slice(0, at)}${encoded}`.padEnd(2048, filler);
        expect({ shift, at, found: inLanes(text) }).toEqual({ shift, at, found: everywhere(table, text) });
        expect(inLanes(text).length).toBe(1);
      }
    }
  }
});

test("every example of every rule is found at the end of a text, and in every alignment", () => {
  for (const [index, sample] of samples.entries()) {
    for (const before of [300 + (index % 64), 300 + ((index * 7) % 64)]) {
      const text = `${"\n".repeat(before)}${sample}`;
      expect({ sample, found: inLanes(text) }).toEqual({ sample, found: everywhere(table, text) });
    }
  }
});

describe("with allowances and without rules", () => {
  test("a table of known values alone finds them", () => {
    for (const value of KNOWN) {
      const own = buildTable(knownTriggers({ rule: "env-x", value }));
      const text = `${"x ".repeat(300)}${value}${" y".repeat(300)}`;
      const found: Finding[] = [];
      scanText(own, text, found);
      expect(mergeFindings(found)).toEqual([{ rule: "env-x", kind: "definite", start: 600, end: 600 + value.length }]);
    }
  });

  test("texts with null characters anywhere are read whole", () => {
    const value = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const redactor = createRedactor();
    const interleaved = [...value].join("\0");
    for (const length of [300, 16_000, 16_400, 40_000]) {
      const text = `${" ".repeat(length)}${interleaved}\0`;
      expect(redactor.find(text)).toEqual(everywhere(buildTable(builtInRules().triggers), text));
      expect(redactor.find(text).length).toBe(1);
    }
  });
});
