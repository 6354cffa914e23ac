// Redaction of pieces: the same as of the whole, wherever it is cut; and what is held back stays small.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../src/redact/kinds/samples.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { builtInRules, withBar } from "../../src/redact/rule-set.ts";

const known = [{ rule: "env-deploy", value: "correct horse 9 battery" }];
const redactor = createRedactor({ known });
const extra = [{ rule: "session-token", value: "ses_abcdefghij.0123456789" }];
const sample = (template: string, seed = 1) => fillTemplate(template, seededRandom(seed)).text;

const TOKEN = sample("ghp_{checked}");
const KEY = sample("-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----\n");
const FRAGMENTS = [
  TOKEN, KEY, KEY.slice(0, 300), KEY.slice(500), known[0]?.value ?? "", extra[0]?.value ?? "", Buffer.from(known[0]?.value ?? "").toString("base64"),
  Buffer.from(TOKEN, "utf16le").toString("latin1"), sample("{jwt}"), `postgres://u:${sample("{a16}")}@h/x`, Buffer.from(`a\n${TOKEN}`).toString("base64"),
  `password = "${sample("Aa1!{a12}")}"`, sample("{a42}AzSe" + "A{a5}"), sample("{h32}-us12"), "sk-", "-----BEGIN ", "token: ", "\n", " ", "plain words ", "\0", "é🙂", "eyJ", "://a:",
]; // biome-ignore format: a list of fragments

function inPieces(text: string, cuts: readonly number[]): string {
  const stream = redactor.stream(extra);
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((left, right) => left - right);
  let output = "";
  let at = 0;
  for (const place of [...places, text.length]) {
    output += stream.push(text.slice(at, place));
    at = place;
  }
  return output + stream.end();
}

test("any cutting gives the output of the whole text", () => {
  const text = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
      expect(inPieces(whole, cuts)).toBe(redactor.redact(whole, extra).text);
    }),
    { numRuns: 1500 },
  );
});

test("character by character gives the output of the whole text", () => {
  for (const fragment of FRAGMENTS) {
    const whole = `before ${fragment} after\n${fragment}`;
    const every = Array.from({ length: whole.length }, (_, index) => index);
    expect(inPieces(whole, every)).toBe(redactor.redact(whole, extra).text);
  }
});

test("a private key that comes line by line is hidden as a whole, and the text behind it comes", () => {
  const stream = redactor.stream();
  const out = `start\n${KEY}done\n`.split(/(?<=\n)/).map((line) => stream.push(line));
  expect(out.join("") + stream.end()).toBe("start\n[REDACTED:private-key]\ndone\n");
  expect(stream.findings).toEqual([{ rule: "private-key", kind: "definite", start: 6, end: 6 + KEY.length - 1 }]);
});

test("control: redacting each line alone shows the key", () => {
  const byForm = createRedactor({ rules: withBar(builtInRules(), undefined) });
  const lines = KEY.split(/(?<=\n)/).map((line) => byForm.redact(line).text);
  expect(lines.join("")).toContain(KEY.slice(200, 260));
});

test("a clean line leaves at once", () => {
  const stream = redactor.stream();
  expect(stream.push("compiled 12 files in 3 s\n")).toBe("compiled 12 files in 3 s\n");
});

test("what is held back is bounded, whatever comes", () => {
  const stream = redactor.stream();
  let held = 0;
  for (const fragment of ["-----BEGIN PRIVATE KEY-----\n", "a".repeat(64), "token=", "eyJ", "sk-", " "]) {
    for (let count = 0; count < 2000; count += 1) held += fragment.length - stream.push(fragment).length;
    expect(held).toBeLessThan(64_000);
  }
});

test("bytes that come in pieces are redacted, others stay as they are", () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from(` ${TOKEN} `), Buffer.from([0x80, 0xfe])]);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const stream = redactor.byteStream();
    const out = Buffer.concat([stream.push(bytes.subarray(0, cut)), stream.push(bytes.subarray(cut)), stream.end()]);
    expect(out).toEqual(Buffer.from(redactor.redactBytes(bytes).bytes));
  }
});
