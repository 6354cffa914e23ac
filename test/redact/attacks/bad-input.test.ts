// Input that is made to break a redactor: each rule's own worst case, broken characters, borders, markers in secrets.
import { describe, expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { FORMAT_RULES } from "../../../src/redact/rules/all.ts";
import { PASSWORD_OPTIONS } from "../../../src/redact/rules/commands.ts";
import { NAMED_RULES } from "../../../src/redact/rules/named.ts";
import { MORE_NAMED_RULES } from "../../../src/redact/rules/named-more.ts";
import { timesOfPlain } from "../../support/redaction-time.ts";

const redactor = createRedactor();
const random = seededRandom(5);
const sample = (template: string) => fillTemplate(template, random).text;
const TOKEN = sample("ghp_{checked}");
const HIDDEN = "[REDACTED:github-token]";

/** Times that a text may take as long as plain text of its length: what few rules come near. */
const TIMES_MAX = 60;
/** The same for one letter, in which no rule has anything to do. */
const LETTER_TIMES_MAX = 5;
const CHARACTERS = 8192;

describe("the worst case of each rule costs a bounded factor of plain text", () => {
  const filled = (part: string) => part.repeat(Math.ceil(CHARACTERS / part.length)).slice(0, CHARACTERS);

  test.each(FORMAT_RULES.map((rule) => [rule.id, rule] as const))("%s", (_, { keywords, examples }) => {
    const [keyword = ""] = keywords;
    const example = sample(examples.positive[0] ?? "");
    const parts = [
      keyword,
      ` ${keyword}`,
      `${example.slice(0, -1)}~`,
      `${example.slice(0, Math.ceil(example.length / 2))} `,
    ];
    for (const part of parts) expect(timesOfPlain(redactor, filled(part), TIMES_MAX)).toBeLessThan(TIMES_MAX);
  });

  test.each([...NAMED_RULES, ...MORE_NAMED_RULES].map((rule) => [rule.id, rule] as const))("%s", (_, { names }) => {
    const name = `${names[0] ?? ""}_secret_token_key`;
    for (const part of [`${name}="`, `${name}=aB3dE5gH7xx `, `${name}: `])
      expect(timesOfPlain(redactor, filled(part), TIMES_MAX)).toBeLessThan(TIMES_MAX);
  });
  test.each(Object.entries(PASSWORD_OPTIONS))("the command %s", (command, [flag = ""]) => {
    for (const part of [`${command} `, `${command} ${flag} `, `${command} ${flag}"aB3dE5 `, `x | ${command} ${flag}`])
      expect(timesOfPlain(redactor, filled(part), TIMES_MAX)).toBeLessThan(TIMES_MAX);
  });

  test.each([
    "echo x | y --password-stdin ",
    "echo ' ' | ",
    "DB_PASSWORD=a{b ",
    "password: |\n ",
    "x_secret, ",
    'password { get } = "',
    "the password for a is ",
  ])("%j", (part) => {
    expect(timesOfPlain(redactor, filled(part), TIMES_MAX)).toBeLessThan(TIMES_MAX);
  });
});

test.each(["a", "A", "0", "=", " ", "\n"])(
  "100 MB of %j take no more than five times as long as plain text",
  (letter) => {
    const text = letter.repeat(100_000_000);
    expect(timesOfPlain(redactor, text, LETTER_TIMES_MAX)).toBeLessThan(LETTER_TIMES_MAX);
  },
);

test("a million beginnings of keys cost a bounded factor of plain text, and none is a secret", () => {
  const beginnings = FORMAT_RULES.flatMap(({ keywords }) => keywords).filter((keyword) => /^[\w-]+$/.test(keyword));
  const text = Array.from({ length: 1_000_000 }, (_, index) => beginnings[(index * 7) % beginnings.length]).join(" ");
  expect(timesOfPlain(redactor, text, TIMES_MAX)).toBeLessThan(TIMES_MAX);
});

describe("broken characters around a secret", () => {
  const BROKEN = [
    [0xff],
    [0xc3],
    [0xe2, 0x82],
    [0xf0, 0x9f, 0x98],
    [0x80],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xfe, 0xff],
  ];

  test.each(BROKEN)("bytes %j that are no UTF-8 stay, and the secret goes", (...bytes) => {
    const broken = Buffer.from(bytes);
    const text = Buffer.concat([broken, Buffer.from(` ${TOKEN} `), broken, Buffer.from(TOKEN), broken]);
    const expected = Buffer.concat([broken, Buffer.from(` ${HIDDEN} `), broken, Buffer.from(HIDDEN), broken]);
    expect(Buffer.from(redactor.redactBytes(text).bytes)).toEqual(expected);
  });

  test.each(["\ud800", "\udc00", "\udc00\ud800", "\ufffd", "\u2028"])(
    "a lone %j stays, and the secret goes",
    (lone) => {
      expect(redactor.redact(`${lone}${TOKEN}${lone} x ${lone}`).text).toBe(`${lone}${HIDDEN}${lone} x ${lone}`);
    },
  );

  test.each(["\ud800", "\udc00"])("a known value with a lone %j is hidden", (lone) => {
    const known = createRedactor({ known: [{ rule: "env-x", value: `ab12${lone}cd34` }] });
    expect(known.redact(`x ab12${lone}cd34 y`).text).toBe("x [REDACTED:env-x] y");
  });
});

describe("a secret at a border", () => {
  test.each([
    ["of lines", (secret: string) => `a\n${secret}\nb`],
    ["of lines of another system", (secret: string) => `a\r\n${secret}\r\nb`],
    ["of the text", (secret: string) => secret],
    ["of a member's name", (secret: string) => `{"${secret}":1,"x":{"${secret}":[]}}`],
    ["of a member", (secret: string) => `["${secret}","${secret}"]`],
    ["of a path", (secret: string) => `/srv/${secret}/file`],
    ["of null characters", (secret: string) => `\0\0${secret}\0\0`],
  ])("%s is hidden in the whole and in any pieces", (_, around) => {
    const text = around(TOKEN);
    expect(redactor.redact(text).text).toBe(around(HIDDEN));
    for (let size = 1; size <= text.length; size += 3) {
      const stream = redactor.stream();
      let out = "";
      for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
      expect(out + stream.end()).toBe(around(HIDDEN));
    }
  });

  test("between a name and its value is hidden", () => {
    const value = sample("{a32}");
    for (const [name, rest] of [
      ["api_key", `=${value}\n`],
      ["api_key=", `${value}\n`],
      [`api_key=${value.slice(0, 9)}`, `${value.slice(9)}\n`],
    ] as const) {
      const stream = redactor.stream();
      expect(stream.push(name) + stream.push(rest) + stream.end()).not.toContain(value.slice(9));
    }
  });
});

describe("a secret that holds a marker", () => {
  const MARKER = "[REDACTED:github-token]";

  test.each([`${MARKER}hunter2x9`, `hunter2x9${MARKER}`, MARKER])(
    "%j is hidden whole, and a second time changes nothing",
    (value) => {
      const known = createRedactor({ known: [{ rule: "env-x", value }] });
      const once = known.redact(`a ${value} b`).text;
      expect(once).toBe("a [REDACTED:env-x] b");
      expect(known.redact(once).text).toBe(once);
    },
  );

  test("beside a name is taken as redacted, and stays as it is", () => {
    const secret = sample("{a32}");
    expect(redactor.redact(`api_key="${secret}"`).text).toBe('api_key="[REDACTED:named-secret]"'); // control
    for (const value of [`${MARKER}${secret}`, `${secret}${MARKER}`]) {
      const once = redactor.redact(`api_key="${value}"`).text;
      expect(once).toContain(MARKER);
      expect(redactor.redact(once).text).toBe(once);
    }
  });
});
