/** Placeholders: the shape of a real key, and nothing of it. */
import { expect, test } from "vitest";
import { newPlaceholder } from "../../../../src/sandbox/net/broker/placeholder.ts";

let state = 1;
const made = (value: string) =>
  newPlaceholder(value, (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  });

test.each([
  ["ghp_9rT4mXw2Lq8Zk5Yb7Nc1Vd3Fs6Hj0Pa2Qe4", /^ghp_[A-Za-z0-9]{35}$/],
  ["sk-ant-api03-Ab1_Cd2-Ef3Gh4Ij5Kl6Mn7Op8", /^sk-ant-api03-[A-Za-z0-9]{3}_[A-Za-z0-9]{3}-[A-Za-z0-9]{18}$/],
  ["AKIAIOSFODNN7EXAMPLE", /^AKIA[A-Z0-9]{16}$/],
  ["0123456789abcdef0123456789abcdef", /^[0-9a-f]{32}$/],
  ["c29tZSBzZWNyZXQgdmFsdWU+/w==", /^[A-Za-z0-9]{26}==$/],
  ["hunter22", /^secret_placeholder_[a-z]{20}$/],
  ["correct horse battery staple", /^secret_placeholder_[a-z]{20}$/],
])("of %s", (value, shape) => {
  const [one, other] = [made(value), made(value)];
  expect(one).toMatch(shape);
  expect(one).not.toBe(other);
  expect(one).not.toBe(value);
});
