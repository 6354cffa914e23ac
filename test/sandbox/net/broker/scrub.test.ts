/** Secrets that leave a stream, in whatever pieces it comes. */
import { expect, test } from "vitest";
import { formsOf } from "../../../../src/sandbox/net/broker/forms.ts";
import { Replacements, Scrubber } from "../../../../src/sandbox/net/broker/scrub.ts";

/** Numbers below a bound, the same ones each time. */
function numbersBy(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const VALUE = "s3cr3t/Va+lue=1";
const replacements = new Replacements(
  new Map(formsOf(VALUE).map((form) => [Buffer.from(form).toString("latin1"), "*"])),
);

function inPieces(text: string, sizes: () => number): string {
  const scrubber = new Scrubber(replacements);
  const parts: Buffer[] = [];
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; ) {
    const end = at + sizes();
    parts.push(scrubber.push(bytes.subarray(at, end)));
    at = end;
  }
  return Buffer.concat([...parts, scrubber.end()]).toString("latin1");
}

test("pieces give what the whole gives, and nothing of any form is left", () => {
  const number = numbersBy(7);
  const forms = formsOf(VALUE);
  for (let round = 0; round < 300; round += 1) {
    const words = Array.from({ length: 12 }, () => {
      const form = forms[number(forms.length)] ?? "";
      return [form, form.slice(0, number(form.length)), "plain ", "\xff\x00"][number(4)] ?? "";
    });
    const text = words.join("");
    const whole = replacements.in(text);
    expect(inPieces(text, () => 1 + number(9))).toBe(whole);
    for (const form of forms) expect(whole).not.toContain(form);
  }
});

test("a stream of what is none is not held back", () => {
  const scrubber = new Scrubber(replacements);
  expect(scrubber.push(Buffer.from("data: x\n\n")).toString()).toBe("data: x\n\n");
  expect(scrubber.push(Buffer.from("data: s3c")).toString()).toBe("data: ");
  expect(scrubber.push(Buffer.from("ond\n\n")).toString()).toBe("s3cond\n\n");
});

test("of two secrets of which one begins the other, both are replaced", () => {
  const both = new Map([
    ["secret-one", "A"],
    ["secret-one-more", "B"],
  ]);
  for (let size = 1; size < 20; size += 1) {
    const scrubber = new Scrubber(new Replacements(both));
    const text = "x secret-one-more y secret-one z secret-one";
    let out = "";
    for (let at = 0; at < text.length; at += size)
      out += scrubber.push(Buffer.from(text.slice(at, at + size))).toString();
    expect(out + scrubber.end().toString()).toBe("x B y A z A");
  }
});
