/** Attacks on documents of calls: secrets in arguments, names, results and failures, whole and in pieces. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRedactor } from "../../../../../src/redact/redact.ts";
import { NO_RULES } from "../../../../../src/redact/rule-set.ts";
import { answering } from "../../../../support/answering-tool.ts";
import { documentOf } from "../../../../support/kept-documents.ts";
import { type MemoryKernel, memoryKernel } from "../../../../support/memory-kernel.ts";

/** Put together here, so that this file holds no secret. */
const AWS = ["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("");
const CODE_HOST = ["ghp", "_", "x7Kq2LmN9pRs4TvW8yZa3BcD6eFgH1jK5MnP"].join("");
const NEEDLES = [AWS, CODE_HOST, Buffer.from(CODE_HOST).toString("base64").replace(/=+$/, "").slice(0, -1)];

const SETTINGS = { settings: { documents: "all" } } as const;
const RESULT = {
  plain: `key ${AWS}`,
  [AWS]: "as a name",
  nested: [{ token: CODE_HOST }, [`x${CODE_HOST}`]],
  password: "correct-horse-Battery-7",
  again: "correct-horse-Battery-7 once more",
};

async function tour(kernel: MemoryKernel): Promise<void> {
  writeFileSync(join(kernel.root, "a.txt"), `token: ${CODE_HOST}\n`);
  const base64 = Buffer.from(CODE_HOST).toString("base64");
  await kernel.call("answering", {});
  await kernel.call("read_file", { path: "a.txt" });
  await kernel.call("write_file", { path: "b.txt", content: `aws ${AWS}` });
  await kernel.call("write_file", { path: `${AWS}.txt`, content: "text" });
  await kernel.call("read_file", { path: `missing ${AWS}` });
  await kernel.call("put_content", { content: base64, encoding: "base64" });
  await kernel.call("edit_file", { path: "a.txt", edits: [{ operation: "replace", spec: "token", content: AWS }] });
  await kernel.call("count_matches", { path: "a.txt", regex: AWS }, { requestId: `r ${CODE_HOST}` });
}

/** The texts of all documents that entries name. */
async function textsOf(kernel: MemoryKernel): Promise<readonly string[]> {
  const hashes = kernel.ledger.events
    .filter(({ type }) => type === "tool_call_written" || type === "tool_output_written")
    .flatMap(({ payload: { call, input, output } }) => [call, input, output].filter((hash) => hash !== undefined));
  return Promise.all(hashes.map(async (hash) => (await documentOf(kernel, hash)).text));
}

const found = (texts: readonly string[], needles: readonly string[]) =>
  needles.filter((needle) => texts.some((text) => text.includes(needle)));

test("no document holds a secret of arguments, names, results, failures or ids", async () => {
  const kernel = await memoryKernel({ ...SETTINGS, tools: [answering(() => RESULT)] });
  await tour(kernel);
  const texts = await textsOf(kernel);
  expect(texts.length).toBeGreaterThan(12);
  expect(found(texts, [...NEEDLES, "correct-horse-Battery-7"])).toEqual([]);
  expect(texts.join("").match(/\[REDACTED:/g)?.length).toBeGreaterThan(8);
});

test("control: without rules the documents hold them all", async () => {
  const redactor = createRedactor({ rules: NO_RULES });
  const kernel = await memoryKernel({ ...SETTINGS, redactor, tools: [answering(() => RESULT)] });
  await tour(kernel);
  const texts = await textsOf(kernel);
  expect(found(texts, [...NEEDLES, "correct-horse-Battery-7"])).toEqual([...NEEDLES, "correct-horse-Battery-7"]);
});

test("a secret in pieces is never put together: members stay apart, in whatever order they are written", async () => {
  const [head, tail] = [AWS.slice(0, 9), AWS.slice(9)];
  const kernel = await memoryKernel({
    ...SETTINGS,
    tools: [answering(() => ({ b: tail, a: head, list: [head, tail], text: `${head}\n${tail}` }))],
  });
  await kernel.call("answering", {});
  const texts = await textsOf(kernel);
  expect(found(texts, [head, tail])).toEqual([head, tail]);
  expect(found(texts, [AWS])).toEqual([]);
});

test("a result is kept as it was answered, also where a later call finds that a part of it is secret", async () => {
  const kernel = await memoryKernel(SETTINGS);
  writeFileSync(join(kernel.root, "a.txt"), `first ${AWS} last`);
  const { outcome } = await kernel.call("read_file", { path: "a.txt" });
  const { output } = kernel.ledger.of("tool_output_written").at(-1)?.payload ?? {};
  expect((await documentOf(kernel, output)).value["data"]).toEqual(outcome.kind === "success" ? outcome.data : {});
});
