/** A value that is found once is hidden everywhere in the answer, and what is certain for the rest of the session. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FoundValues, SessionSecrets } from "../../../src/kernel/redaction/found-values.ts";
import type { Finding } from "../../../src/redact/redact.ts";
import { memoryKernel, testTool } from "../../support/memory-kernel.ts";

/** Put together here, so that this file holds no secret. */
const PASSWORD = ["hunt", "er22x7"].join("");
const TOKEN = ["sk_li", "ve_Zq3vK8mN1xR5", "tY7wB2cD4fG6"].join("");
const base64 = (text: string) => Buffer.from(`x ${text}`).toString("base64");

async function read(kernel: Awaited<ReturnType<typeof memoryKernel>>, path: string, more = {}) {
  const { outcome } = await kernel.call("read_file", { path, ...more });
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  return String(outcome.data["content"]);
}

test("a password that its name gives away is hidden in the rest of the file, too, before and behind", async () => {
  const kernel = await memoryKernel({});
  const rest = `connects with ${PASSWORD} and ${encodeURIComponent(PASSWORD)}\n`;
  writeFileSync(join(kernel.root, "with.txt"), `${rest}DB_PASSWORD=${PASSWORD}\n${rest}`);
  writeFileSync(join(kernel.root, "without.txt"), rest);
  const shown = await read(kernel, "with.txt");
  expect(shown).not.toContain(PASSWORD);
  expect(shown.match(/\[REDACTED:/g)).toHaveLength(5);
  // The control: without its name nobody knows it, and it is not remembered, because it is only likely.
  expect(await read(kernel, "without.txt")).toBe(rest);
});

test("so it is between members of one answer, and what was found is counted", async () => {
  const tool = testTool("reach", () => ({
    kind: "data",
    data: { log: `tried ${PASSWORD}`, config: `password: "${PASSWORD}"`, list: [PASSWORD, { [`${PASSWORD}-1`]: 1 }] },
  }));
  const kernel = await memoryKernel({ tools: [tool] });
  const { outcome } = await kernel.call("reach", { path: "a" });
  expect(outcome.kind).toBe("success");
  expect(JSON.stringify(outcome)).not.toContain(PASSWORD);
  const [event] = kernel.ledger.of("secret_redacted");
  expect(event?.payload["counts"]).toEqual({ "named-secret": 1, "repeated-secret": 3 });
});

test("a token that is certain stays hidden for its session in other forms, and for no other session", async () => {
  const kernel = await memoryKernel({});
  // the password of an address: nothing in it tells what it is
  const password = ["q7Zm2Xw9", "Lk4Vt8Rb", "3Ny6Hc1J", "d5Gf0Sp"].join("");
  const encoded = Buffer.from(password).toString("hex");
  writeFileSync(join(kernel.root, "token.txt"), `postgres://app:${password}@db.example/x\n`);
  writeFileSync(join(kernel.root, "other.txt"), `${encoded}\n`);
  const before = await read(kernel, "other.txt");
  expect(before).toContain(encoded); // the control
  expect(await read(kernel, "token.txt")).not.toContain(password);
  expect(await read(kernel, "other.txt")).toMatch(/^\[REDACTED:[a-z0-9-]+\]\n$/);
  const stranger = await memoryKernel({});
  writeFileSync(join(stranger.root, "other.txt"), before);
  expect(await read(stranger, "other.txt")).toBe(before);
});

test("what is remembered is bounded: values of an answer, of a session, and sessions", () => {
  const known = new SessionSecrets();
  const value = (index: number) => `${TOKEN}${index}`;
  for (let index = 0; index < 40; index += 1) known.remember("ses_a", [{ rule: "r", value: value(index) }]);
  expect(known.of("ses_a")).toHaveLength(17);
  known.remember("ses_b", [{ rule: "r", value: "short1" }]);
  expect(known.of("ses_b")).toEqual([{ rule: "session-token", value: "ses_b" }]);
  for (let index = 0; index < 300; index += 1) known.remember(`ses_${index}`, [{ rule: "r", value: value(index) }]);
  expect([known.of("ses_a").length, known.of("ses_299").length]).toEqual([1, 2]);

  const values = new FoundValues();
  const text = Array.from({ length: 100 }, (_, index) => `${base64(String(index))}${index}x`).join("\n");
  let at = 0;
  const findings = text.split("\n").map((line): Finding => {
    const finding: Finding = { rule: "r", kind: "probable", start: at, end: at + line.length };
    at += line.length + 1;
    return finding;
  });
  values.take(text, findings);
  expect(values.all).toHaveLength(32);
  const plain = new FoundValues();
  plain.take("production 12345678 ab1", [
    { rule: "r", kind: "probable", start: 0, end: 10 },
    { rule: "r", kind: "probable", start: 11, end: 19 },
    { rule: "r", kind: "definite", start: 20, end: 23 },
  ]);
  expect(plain.all).toEqual([]);
});
