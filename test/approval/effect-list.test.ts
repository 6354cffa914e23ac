// What a command has changed is more than a request shows: the request sums it up and stays small, and a list of all of
// it is kept beside it, redacted like the request.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readApprovalDocument } from "../../src/model/approval/approval-document.ts";
import { type ListedEffect, listedLines, listRecords, UnreadableList } from "../../src/model/approval/effect-list.ts";
import { promptLines } from "../../src/model/approval/prompt-lines.ts";
import { contentStoreFull } from "../../src/model/work/content-failures.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import { approvalForm } from "../../src/transports/mcp/approval/approval-form.ts";
import { approve, askingKernel, pending, refuse } from "../support/asking.ts";
import { NOTHING_IS_LOST } from "../support/memory-kernel.ts";

const ASKS = `${NOTHING_IS_LOST}
@id("data.asks")
@ask("data is looked at")
permit (principal, action == Handrail::Action::"commit", resource is Handrail::File)
when { resource.path like "data/*" };
`;

async function place() {
  const kernel = await askingKernel({ tools: [shell], policies: ASKS });
  mkdirSync(join(kernel.root, "data"));
  const write = (path: string, text: string | Uint8Array) => writeFileSync(join(kernel.root, path), text);
  const asked = async (command: string) => {
    const response = kernel.call("shell", { command });
    const { ref, document } = await pending(kernel);
    const request = readApprovalDocument(ref, document);
    if (request === undefined) throw new Error("the request cannot be read");
    return { response, ref, document, request };
  };
  const listed = async ({ hash, bytes }: { readonly hash: string; readonly bytes: number }) => {
    const found = new Map<string, { readonly effect: ListedEffect; lines: string }>();
    let last: { lines: string } = { lines: "" };
    for await (const record of listRecords(kernel.content.read(hash, { offset: 0, length: bytes })))
      if ("lines" in record) last.lines += record.lines;
      else {
        const one = { effect: record, lines: "" };
        last = one;
        found.set(record.path, one);
      }
    return found;
  };
  return { kernel, write, asked, listed };
}

const NOWHERE = { hash: "", bytes: 0 };
const KEY = `AKIA${"QWERTYUIOPASDFGH"}`;

test("many files: the request is small and says where all is, and the list has each with its diff", async () => {
  const { kernel, write, asked, listed } = await place();
  write("data/gone", "was here\n");
  const { response, ref, document, request } = await asked(
    "mv data/gone /tmp/; seq 1 4000 > /tmp/n; split -l 20 -a 2 /tmp/n data/f; echo go > data/zz; chmod 755 data/zz; ln -s f data/zl",
  );
  expect(document.length).toBeLessThan(32_000);
  const { effects, changes } = request.details;
  expect(effects).toMatchObject({
    count: 203,
    created: 202,
    deleted: 1,
    asking: [{ ruleId: "data.asks", effects: 203 }],
  });
  // the most important first: what becomes a program, and what goes
  expect(changes.slice(0, 2).map(({ path }) => path)).toEqual(["data/zz", "data/gone"]);
  const lines = promptLines(request, ref).map(({ text }) => text);
  expect(lines).toContainEqual(expect.stringContaining(`handrail approvals show ${ref.slice(7, 19)} --full`));
  expect(approvalForm({ ref, request })).toBeDefined();
  const list = await listed(effects?.list ?? NOWHERE);
  expect([...list.keys()].slice(0, 2)).toEqual(["data/zz", "data/gone"]);
  expect(list.size).toBe(203);
  expect(list.get("data/gone")).toMatchObject({
    effect: { kind: "delete", bytes_before: 9 },
    lines: "@@ -1 +0,0 @@\n-was here\n",
  });
  expect(list.get("data/zl")?.lines).toBe("@@ -0,0 +1 @@\n+a symbolic link to f\n");
  expect(list.get("data/fab")?.lines).toContain("+40\n");
  await approve(kernel, ref);
  expect((await response).outcome).toMatchObject({ kind: "success", data: { files: { created: 202, removed: 1 } } });
});

test("large files: what differs is listed in whole lines, and no secret stands in it, wherever it was cut", async () => {
  const { kernel, write, asked, listed } = await place();
  const line = "0123456789 abcdefghij 0123456789 abcdefghij 0123456789 abcde\n";
  const many = line.repeat(6_000);
  write("data/large", `${many}old\n${many}`);
  write("data/other", `first\n${many}${many}`);
  write("data/bytes", Buffer.alloc(600_000));
  write("new-line", `aws_access_key_id = ${KEY}\u001b[31mred\n`);
  const { response, ref, request } = await asked(
    "sed -i 's/^old$/new/' data/large; cat new-line >> data/other; echo >> data/bytes; head -c 300000 /dev/zero | tr '\\0' x > data/one; seq 1 3000 > data/seq",
  );
  const list = await listed(request.details.effects?.list ?? NOWHERE);
  expect(list.get("data/large")?.lines).toMatch(/^@@ bytes (\d+),\d+ -> \1,\d+ @@\n-old\n\+new\n$/);
  const other = list.get("data/other");
  expect(other?.lines).toMatch(/^@@ bytes .* @@\n\+aws_access_key_id = \[REDACTED:[a-z-]+\]/);
  expect(list.get("data/bytes")?.effect).toMatchObject({ kind: "modify", content: "no_text" });
  expect(list.get("data/one")?.lines.replaceAll(/[^x]/g, "")).toHaveLength(300_000);
  expect(list.get("data/one")?.lines.split("\n")[1]).toMatch(/^\+x+ …$/);
  expect(
    list
      .get("data/seq")
      ?.lines.split("\n")
      .filter((one) => one.startsWith("+")),
  ).toHaveLength(3_000);
  expect(JSON.stringify([...list])).not.toContain(KEY);
  const shown = listedLines({ lines: other?.lines ?? "" }).map(({ text }) => text);
  expect(shown.join("\n")).toContain("⟨U+001B⟩");
  await refuse(kernel, ref);
  await response;
});

test("that no list could be kept is said, and people are asked all the same", async () => {
  const { kernel, asked } = await place();
  vi.spyOn(kernel.content, "stage").mockRejectedValue(contentStoreFull());
  const { response, ref, request } = await asked("seq 1 3000 > data/seq");
  expect(request.details.effects).toMatchObject({ count: 1, unlisted: expect.stringContaining("no room") });
  const lines = promptLines(request, ref).map(({ text }) => text);
  expect(lines).toContainEqual(expect.stringContaining("no list of all could be kept"));
  await approve(kernel, ref);
  expect((await response).outcome).toMatchObject({ kind: "success", data: { files: { created: 1 } } });
});

test("a request that shows everything has no list", async () => {
  const { kernel, asked } = await place();
  const { response, ref, request } = await asked("echo one > data/one");
  expect(request.details).not.toHaveProperty("effects");
  await refuse(kernel, ref);
  await response;
});

test.each<[string, string]>([
  ["no JSON", "{\n"],
  ["another record", '{"path":"a"}\n'],
  ["a list that was cut", '{"lines":"+'],
])("%s is never shown as a list", async (_, text) => {
  const reading = async () => {
    async function* chunks() {
      yield Buffer.from(text);
    }
    for await (const _record of listRecords(chunks())) throw new Error("it was read");
  };
  await expect(reading()).rejects.toBeInstanceOf(UnreadableList);
});
