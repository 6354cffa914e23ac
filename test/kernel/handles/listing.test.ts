/** A listing names what the call could read, and nothing that zone, lease or policy closes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";

const forbid = (condition: string, id = "op.closed") =>
  `@id("${id}")\n@message("closed")\nforbid (principal, action, resource is Handrail::File) when { ${condition} };\n`;

async function kernelWith(options: MemoryKernelOptions): Promise<MemoryKernel> {
  const kernel = await memoryKernel(options);
  for (const directory of [".git", "private", "private/deep", "src"]) mkdirSync(join(kernel.root, directory));
  for (const name of ["a.md", "payroll.csv", "private/b.txt", "private/deep/c.txt", "src/payroll.ts", "src/d.ts"]) {
    writeFileSync(join(kernel.root, name), "x");
  }
  return kernel;
}

async function listed({ call }: MemoryKernel, path = "."): Promise<readonly string[]> {
  const { outcome } = await call("list_files", { path, recursive: true });
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  return (outcome.data["entries"] as readonly { readonly path: string }[]).map((entry) => entry.path);
}

const ALL = [
  "a.md",
  "payroll.csv",
  "private",
  "private/b.txt",
  "private/deep",
  "private/deep/c.txt",
  "src",
  "src/d.ts",
  "src/payroll.ts",
];

test("without a rule about paths everything is named, a managed directory too, and policy is asked once", async () => {
  const kernel = await kernelWith({});
  const engine = await kernel.policy.current();
  let asked = 0;
  kernel.policy.current = async () => ({
    ...engine,
    looksAtPath: (request) => engine.looksAtPath(request),
    evaluate: (request) => {
      asked += 1;
      return engine.evaluate(request);
    },
  });
  expect(await listed(kernel)).toEqual([".git", ...ALL]);
  expect(asked).toBe(2); // for the call, and for all of its files
});

test.each([
  ["a file by its name", 'resource.name like "payroll*"', ALL.filter((path) => !path.includes("payroll"))],
  ["a directory and what is in it", 'resource.path like "private*"', ALL.filter((path) => !path.startsWith("private"))],
  ["what is in a directory", 'resource.path like "private/*"', ALL.filter((path) => !path.startsWith("private/"))],
] as const)("what a policy forbids is not named: %s", async (_, condition, expected) => {
  const kernel = await kernelWith({ policies: forbid(condition) });
  expect(await listed(kernel)).toEqual([".git", ...expected]);
});

test("what needs approval by a rule is not named among the others", async () => {
  const policies = `@id("op.ask")\n@message("m")\n@ask("look at it first")
permit (principal, action == Handrail::Action::"list_files", resource is Handrail::File) when { resource.name like "payroll*" };\n`;
  const kernel = await kernelWith({ policies });
  mkdirSync(join(kernel.root, "payroll-2"));
  const { outcome } = await kernel.call("list_files", { path: "payroll-2" });
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required", ruleId: "op.ask" } });
  expect(await listed(kernel)).toEqual([".git", ...ALL.filter((path) => !path.includes("payroll"))]);
});

test("a rule about another tool does not change what is named", async () => {
  const policies =
    '@id("op.write")\n@message("m")\nforbid (principal, action == Handrail::Action::"write_file", resource is Handrail::File) when { resource.name like "payroll*" };\n';
  expect(await listed(await kernelWith({ policies }))).toEqual([".git", ...ALL]);
});
