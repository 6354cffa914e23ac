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
  return Buffer.concat([...parts, scrubber.flush()]).toString("latin1");
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

test("how much is held back depends on the length of the forms alone, so that nobody finds a value out by it", () => {
  const { longest } = replacements;
  for (const end of ["x".repeat(longest), VALUE.slice(0, 8).padStart(longest, "x"), VALUE.padStart(longest, "x")]) {
    const scrubber = new Scrubber(replacements);
    expect(scrubber.push(Buffer.from(`before${end}`)).length).toBe("before".length + 1);
  }
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
    expect(out + scrubber.flush().toString()).toBe("x B y A z A");
  }
});
