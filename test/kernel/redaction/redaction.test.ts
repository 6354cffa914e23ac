// What is remembered as clean is so for one redactor and for secrets that are longer than what is remembered.
import { expect, test } from "vitest";
import { CallRedaction } from "../../../src/kernel/redaction/redaction.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { builtInRules, withBar } from "../../../src/redact/rule-set.ts";

const facts = { path: "zebra-1234", list: ["zebra-1234"] };
const HIDDEN = { path: "[REDACTED:animal]", list: ["[REDACTED:animal]"] };
const animal = { rule: "animal", value: "zebra-1234" };

test("a text that one redactor found clean is looked at again by another one", () => {
  const before = createRedactor();
  for (let time = 0; time < 3; time += 1) expect(new CallRedaction(before).facts(facts)).toBe(facts);
  expect(new CallRedaction(createRedactor({ known: [animal] })).facts(facts)).toEqual(HIDDEN);
});

test("a text that was clean is hidden from a call whose own short secret it is", () => {
  const redactor = createRedactor();
  expect(new CallRedaction(redactor).facts(facts)).toBe(facts);
  expect(new CallRedaction(redactor, [animal]).facts(facts)).toEqual(HIDDEN);
  expect(new CallRedaction(redactor).facts(facts)).toBe(facts);
});

test("more short texts than are remembered are all judged", () => {
  const redaction = new CallRedaction(createRedactor({ known: [animal] }));
  const names = Array.from({ length: 5000 }, (_, index) => `name-${index}`);
  const shown = redaction.facts({ names: [...names, "zebra-1234", ...names] });
  expect(shown["names"]).toEqual([...names, "[REDACTED:animal]", ...names]);
});

test("a member is judged by its name, or by the one beside it, however often objects of its shape came", () => {
  const redactor = createRedactor();
  const password = ["pw", "k3J-x8Qz-v5"].join("-");
  const pair = (name: string) => ({ name, value: password });
  const object = () => ({ user: password, password, pairs: [pair("user"), pair("DB_PASSWORD")] });
  const hidden = "[REDACTED:named-secret]";
  for (let time = 0; time < 4; time += 1) {
    expect(new CallRedaction(redactor).facts(object())).toEqual({
      user: password,
      password: hidden,
      pairs: [pair("user"), { name: "DB_PASSWORD", value: hidden }],
    });
  }
});

test("a name that is a secret is hidden each time, and from a call whose own secret it is", () => {
  const object = () => ({ [animal.value]: 1, path: "a" });
  const [knowing, plain] = [createRedactor({ known: [animal] }), createRedactor()];
  for (let time = 0; time < 4; time += 1) {
    const clean = object();
    expect(new CallRedaction(plain).facts(clean)).toBe(clean);
    expect(new CallRedaction(knowing).facts(object())).toEqual({ "[REDACTED:animal]": 1, path: "a" });
    expect(new CallRedaction(plain, [animal]).facts(object())).toEqual({ "[REDACTED:animal]": 1, path: "a" });
  }
});

test("a longer text that was clean is hidden where its name makes it a secret, and clean again elsewhere", () => {
  const value = ["k3J-x8Qz-v5Lm", "Wp0-r7Tb-n2Hc-y6Gd"].join("-");
  const redaction = new CallRedaction(createRedactor({ rules: withBar(builtInRules(), undefined) }));
  const hidden = "[REDACTED:named-secret]";
  expect(redaction.facts({ path: value, again: value, password: value, last: value, list: [value] })).toEqual({
    path: value,
    again: value,
    password: hidden,
    last: value,
    list: [value],
  });
  const path = `src/${"x".repeat(40)}/a.txt`;
  const knowing = new CallRedaction(
    createRedactor({ known: [{ rule: "animal", value: "zebra-1234-zebra-1234-zebra" }] }),
  );
  for (let time = 0; time < 3; time += 1) {
    expect(knowing.facts({ path, secret_of: "zebra-1234-zebra-1234-zebra", args: { path } })).toEqual({
      path,
      secret_of: "[REDACTED:animal]",
      args: { path },
    });
  }
});
