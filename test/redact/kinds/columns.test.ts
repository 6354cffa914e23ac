// Tables whose header alone says which column holds secrets: what is found, what is left, in pieces as in the whole.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/redact/redact.ts";

const redactor = createRedactor();
const hidden = (text: string) => redactor.redact(text).text;
const MARK = "[REDACTED:named-secret]";
/** A text that is long enough to be read in four places at once. */
const PADDING = `${"nothing to see here\n".repeat(40)}`;

describe.each(["", PADDING])("behind %j", (padding) => {
  test.each([
    ["CSV", "user,password\nada,Zq9xw7Lm2p\nbob,hunter22x\n", `user,password\nada,${MARK}\nbob,${MARK}\n`],
    ["CSV with quotes", '"user","api_key"\n"a, b","kT8vQ2mZp4xW9aB3"\n', `"user","api_key"\n"a, b","${MARK}"\n`],
    [
      "CSV of another system",
      "id;Kennung;Password\r\n1;ada;Zq9xw7Lm2p\r\n",
      `id;Kennung;Password\r\n1;ada;${MARK}\r\n`,
    ],
    ["tabs", "login\tsecret_key\tnote\nada\tkT8vQ2mZp4xW9aB3\tx\n", `login\tsecret_key\tnote\nada\t${MARK}\tx\n`],
    [
      "Markdown",
      "| user | password |\n|------|:--------:|\n| ada | Zq9xw7Lm2p |\n",
      `| user | password |\n|------|:--------:|\n| ada | ${MARK} |\n`,
    ],
    [
      "a database's client",
      " name | passwd \n------+--------\n ada  | Zq9xw7Lm2p\n(1 row)\n",
      ` name | passwd \n------+--------\n ada  | ${MARK}\n(1 row)\n`,
    ],
    [
      "a frame",
      "+------+------------+\n| name | password   |\n+------+------------+\n| ada  | Zq9xw7Lm2p |\n+------+------------+\n",
      `+------+------------+\n| name | password   |\n+------+------------+\n| ada  | ${MARK} |\n+------+------------+\n`,
    ],
    [
      "two columns",
      "password,user,token\nZq9xw7Lm2p,ada,kT8vQ2mZp4xW9aB3\n",
      `password,user,token\n${MARK},ada,${MARK}\n`,
    ],
    ["no line's end", "user,password\nada,Zq9xw7Lm2p", `user,password\nada,${MARK}`],
    [
      "a second table",
      "user,password\nada,Zq9xw7Lm2p\npassword,user\nhunter22x,bob\n",
      `user,password\nada,${MARK}\npassword,user\n${MARK},bob\n`,
    ],
    ["doubled quotes", 'user,password\nada,"Zq9""xw7Lm2p"\n', `user,password\nada,"${MARK}"\n`],
  ])("%s", (_, text, expected) => {
    expect(hidden(padding + text)).toBe(padding + expected);
  });

  test.each([
    ["a column that promises nothing", "user,city\nada,Zq9xw7Lm2p\n"],
    ["words under a name", "word,token\nbank,NOUN\nriver,NOUN\n"],
    ["a line with other cells", "user,password\nada,Zq9,xw7Lm2p\n"],
    ["a blank line between", "user,password\n\nada,Zq9xw7Lm2p\n"],
    ["code", "import { token, secret } from 'x';\ncall(one, Zq9xw7Lm2p);\n"],
    ["placeholders", "user,password\nada,changeme\nbob,********\n"],
  ])("%s is left", (_, text) => {
    expect(hidden(padding + text)).toBe(padding + text);
  });
});

test("a long table is hidden to its end, at once and in steps, and its neighbours are not", () => {
  const rows = Array.from({ length: 20_000 }, (_, row) => `user${row},Zq9x${row}w7LmP,note ${row}`);
  const text = `${PADDING}user,password,note\n${rows.join("\n")}\n\n${PADDING}`;
  const expected = text.replaceAll(/,Zq9x\d+w7LmP/g, `,${MARK}`);
  expect(hidden(text)).toBe(expected);
  let [steps, result] = [redactor.findInSteps(text), undefined as readonly unknown[] | undefined];
  for (let step = steps.next(); ; step = steps.next())
    if (step.done === true) {
      result = step.value;
      break;
    }
  expect(result).toEqual(redactor.find(text));
});

test("in pieces a table gives what the whole gives, and no more than a line is held back", () => {
  const lines = [
    "user,password",
    "ada,Zq9xw7Lm2p",
    "x,y",
    "| a | token |",
    "|--|--|",
    "| q | kT8vQ2mZp4xW9aB3 |",
    "",
    "plain text",
  ];
  const texts = fc
    .array(fc.constantFrom(...lines), { maxLength: 12 })
    .map((some) => `${some.join("\n")}\n${"filler ".repeat(130)}`);
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (text, lengths) => {
      const stream = redactor.stream();
      let [output, at] = ["", 0];
      for (let piece = 0; at < text.length; piece += 1) {
        const length = lengths[piece % lengths.length] ?? 1;
        output += stream.push(text.slice(at, at + length));
        at += length;
      }
      expect(output + stream.end()).toBe(hidden(text));
    }),
    { numRuns: 300 },
  );
  const stream = redactor.stream();
  let output = stream.push("user,password\n");
  for (let row = 0; row < 200; row += 1) output += stream.push(`user${row},Zq9xw7Lm${row}\n`);
  expect(output.split("\n").length).toBeGreaterThan(150); // the rest waits for what the last names may bring
  expect(output + stream.end()).not.toMatch(/Zq9/);
});

test("an operator's allowance holds for cells", () => {
  const allow = { allows: (_: string, secret: string) => secret === "Zq9xw7Lm2p", definition: "one" };
  const allowing = createRedactor({ allow });
  expect(allowing.redact("user,password\nada,Zq9xw7Lm2p\nbob,hunter22x\n").text).toBe(
    `user,password\nada,Zq9xw7Lm2p\nbob,${MARK}\n`,
  );
});

test("headers without end cost what their text costs", () => {
  const timeOf = (text: string) => {
    const begun = performance.now();
    redactor.find(text);
    return performance.now() - begun;
  };
  const header = "password,token\n";
  const fastest = (text: string) => Math.min(...[1, 2, 3].map(() => timeOf(text)));
  timeOf(header.repeat(2000));
  const [one, sixteen] = [fastest(header.repeat(2500)), fastest(header.repeat(40_000))];
  expect(sixteen).toBeLessThan(64 * one + 100); // quadratic work would take 256 times as long
});
