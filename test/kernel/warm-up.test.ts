/**
 * A kernel that was made ready answers the first usual calls without the policy engine, and has done nothing but get
 * ready.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { presentCedar, releaseCedar } from "../../src/policy/compile/cedar.ts";
import { memoryKernel } from "../support/memory-kernel.ts";

afterEach(() => void releaseCedar());

const CALLS: readonly (readonly [string, JsonObject])[] = [
  ["list_files", { path: "." }],
  ["read_file", { path: "src/a.ts" }],
  ["search_file", { path: "src", regex: "on." }],
  ["edit_file", { path: "src/a.ts", edits: [{ operation: "replace", spec: "one", content: "two" }] }],
  ["write_file", { path: "src/b.ts", content: "new" }],
];

/** A kernel with an engine of its own: kernels of the same policies share what it remembers. */
async function withFile(own = "") {
  const kernel = await memoryKernel({ policies: `// ${own}\n` });
  mkdirSync(join(kernel.root, "src"));
  writeFileSync(join(kernel.root, "src/a.ts"), "one");
  return kernel;
}

test.each(CALLS)("%s needs no engine once the kernel is ready, and one without", async (tool, args) => {
  const ready = await withFile(`${tool}, ready`);
  await ready.door.warmUp(ready.token);
  releaseCedar();
  expect((await ready.call(tool, args)).outcome.kind).toBe("success");
  expect(presentCedar()).toBeUndefined();
  const cold = await withFile(`${tool}, cold`);
  releaseCedar();
  expect((await cold.call(tool, args)).outcome.kind).toBe("success");
  expect(presentCedar()).toBeDefined();
});

test("getting ready records nothing and touches no file", async () => {
  const kernel = await withFile();
  await kernel.door.warmUp(kernel.token);
  expect(kernel.ledger.events).toEqual([]);
  expect(readdirSync(kernel.root, { recursive: true }).sort()).toEqual(["src", "src/a.ts"]);
});

test("what is forbidden stays so", async () => {
  const kernel = await memoryKernel({
    policies:
      '@id("op.no")\n@message("no")\nforbid (principal, action, resource is Handrail::File) when { resource.path like "src/*" };\n',
  });
  await kernel.door.warmUp(kernel.token);
  const { outcome } = await kernel.call("read_file", { path: "src/a.ts" });
  expect(outcome.kind === "denied" && outcome.denial.ruleId).toBe("op.no");
});

test("with a token of nobody it gets ready for anybody", async () => {
  const kernel = await withFile();
  await expect(kernel.door.warmUp("hrs_nobody")).resolves.toBeUndefined();
});
