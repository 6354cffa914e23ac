/**
 * A kept answer under rules that have changed since: what was judged while the tool ran is no part of the call's
 * analysis.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/redact/redact.ts";
import { artifactTools } from "../../src/tools/artifact/artifact-tools.ts";
import { editTools } from "../../src/tools/edit/edit-tools.ts";
import { fileTools } from "../../src/tools/file/file-tools.ts";
import { searchTools } from "../../src/tools/search/search-tools.ts";
import { engineOf, type MemoryKernel, memoryKernel } from "../support/memory-kernel.ts";

const TOOLS = [...fileTools, ...editTools, ...searchTools, ...artifactTools];
const once = { dedupeKey: "once" };
const FORBID = `@id("op.no")\n@message("m")\nforbid (principal, action, resource is Handrail::File) when { resource.path like "data/*" };\n`;

/** A kernel whose workspace has `data/x.txt`, and `link.txt` that leads to it. */
async function kernelWithLink(): Promise<MemoryKernel> {
  const kernel = await memoryKernel();
  mkdirSync(join(kernel.root, "data"));
  writeFileSync(join(kernel.root, "data/x.txt"), "needle TOPSECRET\n");
  symlinkSync("data/x.txt", join(kernel.root, "link.txt"));
  return kernel;
}

/** What an operator does to close `data`. */
const CLOSED: readonly (readonly [string, (kernel: MemoryKernel) => unknown])[] = [
  ["a secret zone", (kernel) => kernel.rezone({ ownSecret: ["data/**"] })],
  ["a forbidding rule", (kernel) => (kernel.policy.current = () => engineOf("dev", FORBID, TOOLS))],
];
const READS: readonly (readonly [string, string, { readonly [name: string]: string | boolean }])[] = [
  ["a file behind a link", "read_file", { path: "link.txt" }],
  ["the files of a search", "search_file", { path: ".", regex: "needle", recursive: true }],
];

describe.each(CLOSED)("after %s", (_, close) => {
  test.each(READS)("a replay does not show %s", async (_name, tool, args) => {
    const kernel = await kernelWithLink();
    expect(JSON.stringify((await kernel.call(tool, args, once)).outcome)).toContain("TOPSECRET");
    // Control: while the rules stay, the key gets the kept answer, whatever the file holds by now.
    writeFileSync(join(kernel.root, "data/x.txt"), "needle CHANGED\n");
    expect(JSON.stringify((await kernel.call(tool, args, once)).outcome)).toContain("TOPSECRET");
    await close(kernel);
    const fresh = await kernel.call(tool, args, { dedupeKey: "fresh" });
    const again = await kernel.call(tool, args, once);
    expect(JSON.stringify(again)).not.toMatch(/TOPSECRET|CHANGED/);
    expect(again.outcome.kind).toBe(fresh.outcome.kind);
  });
});

test("a read that was made again under the new rules is kept anew", async () => {
  const kernel = await kernelWithLink();
  await kernel.call("read_file", { path: "link.txt" }, once);
  await kernel.rezone({ ownSecret: ["elsewhere/**"] });
  writeFileSync(join(kernel.root, "data/x.txt"), "second\n");
  expect(JSON.stringify((await kernel.call("read_file", { path: "link.txt" }, once)).outcome)).toContain("second");
  writeFileSync(join(kernel.root, "data/x.txt"), "third\n");
  expect(JSON.stringify((await kernel.call("read_file", { path: "link.txt" }, once)).outcome)).toContain("second");
});

test("an effect is neither answered nor made again, and the refusal says why", async () => {
  const kernel = await memoryKernel();
  const args = { path: "a.txt", content: "x", append: true };
  await kernel.call("write_file", args, once);
  await kernel.rezone({ ownSecret: ["elsewhere/**"] });
  const { outcome } = await kernel.call("write_file", args, once);
  expect(outcome).toMatchObject({ kind: "denied", denial: { layer: "policy", ruleId: "DEDUPE:rules_changed" } });
  expect(kernel.textOf("a.txt")).toBe("x");
  expect((await kernel.call("write_file", args, { dedupeKey: "another" })).outcome.kind).toBe("success");
});

test("a lease that was narrowed meanwhile counts as other rules", async () => {
  const kernel = await kernelWithLink();
  await kernel.call("search_file", { path: ".", regex: "needle", recursive: true }, once);
  await kernel.sessions.insertLease({
    ...kernel.lease,
    scope: { ...kernel.lease.scope, readPaths: [[".", "link.txt"]] },
  });
  const { outcome } = await kernel.call("search_file", { path: ".", regex: "needle", recursive: true }, once);
  expect(outcome.kind).toBe("success");
  expect(JSON.stringify(outcome)).not.toContain("TOPSECRET");
});

describe("after a redaction rule came", () => {
  const known = [{ rule: "env-key", value: "TOPSECRET" }];
  /** A kernel whose redactor learns of a secret when it is told to. */
  async function learning() {
    let redactor = createRedactor();
    const kernel = await memoryKernel({ brokenRedactor: async () => redactor });
    writeFileSync(join(kernel.root, "x.txt"), "needle TOPSECRET\n");
    const learn = () => {
      redactor = createRedactor({ known });
    };
    return { kernel, learn };
  }

  test("a replay does not show what it hides", async () => {
    const { kernel, learn } = await learning();
    const read = async (options: { dedupeKey: string }) =>
      JSON.stringify((await kernel.call("read_file", { path: "x.txt" }, options)).outcome);
    expect(await read(once)).toContain("TOPSECRET");
    writeFileSync(join(kernel.root, "x.txt"), "changed TOPSECRET\n");
    expect(await read(once)).toContain("needle TOPSECRET"); // control
    learn();
    expect(await read(once)).toContain("changed [REDACTED:env-key]");
    writeFileSync(join(kernel.root, "x.txt"), "third\n");
    expect(await read(once)).toContain("changed [REDACTED:env-key]");
  });

  test("an effect is neither answered nor made again", async () => {
    const { kernel, learn } = await learning();
    const append = () => kernel.call("write_file", { path: "x.txt", content: "x", append: true }, once);
    expect((await append()).outcome.kind).toBe("success");
    learn();
    expect((await append()).outcome).toMatchObject({ kind: "denied", denial: { ruleId: "DEDUPE:rules_changed" } });
    expect(kernel.textOf("x.txt")).toBe("needle TOPSECRET\nx");
  });
});

describe("content that a kept answer names", () => {
  /** Collects everything that nothing refers to, as old as it may be. */
  const collect = async ({ content, time }: MemoryKernel) =>
    (await content.maintenance()).collect(0, time.nowMs + 1, false);

  test("is kept from collection where it is the result of a recorded call", async () => {
    const kernel = await memoryKernel();
    for (let index = 0; index < 900; index += 1)
      writeFileSync(join(kernel.root, `${"n".repeat(200)}-${index}.txt`), "");
    const first = await kernel.call("list_files", { path: "." }, once);
    expect(first.outcome).toMatchObject({ kind: "success", stored: { sizeBytes: expect.any(Number) } });
    expect((await collect(kernel)).objects).toBe(0);
    expect((await kernel.call("list_files", { path: "." }, once)).outcome).toEqual(first.outcome);
  });

  test("and that was collected is not claimed to be stored", async () => {
    const kernel = await memoryKernel();
    const first = await kernel.call("put_content", { content: "text" }, once);
    expect((await kernel.call("put_content", { content: "text" }, once)).outcome).toEqual(first.outcome); // control
    expect((await collect(kernel)).objects).toBe(1);
    expect((await kernel.call("put_content", { content: "text" }, once)).outcome).toMatchObject({
      kind: "error",
      code: "CONTENT_NOT_FOUND",
    });
    expect((await kernel.call("put_content", { content: "text" }, { dedupeKey: "another" })).outcome.kind).toBe(
      "success",
    );
  });
});
