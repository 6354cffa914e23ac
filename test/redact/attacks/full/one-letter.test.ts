// A hundred megabytes of one letter: searched in proportion to the length, without a finding.
import { expect, test } from "vitest";
import { createRedactor } from "../../../../src/redact/redact.ts";
import { timesOfPlain } from "../../../support/redaction-time.ts";

const BYTES = 100_000_000;
const TIMES_MAX = 5;

test.each(["a", "A", "0", "=", "-", "\n"])("%j", (letter) => {
  const redactor = createRedactor();
  const text = Buffer.alloc(BYTES, letter).toString("latin1");
  expect(redactor.find(text)).toEqual([]);
  expect(timesOfPlain(redactor, text, TIMES_MAX)).toBeLessThan(TIMES_MAX);
});
