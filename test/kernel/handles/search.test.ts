/** Searching and deleting through the whole pipeline: role, lease, policy and zones decide file by file. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { countMatches } from "../../../src/tools/search/search-tools.ts";
import { DELETES_ANYTHING } from "../../support/deleting.ts";
import { type MemoryKernel, memoryKernel } from "../../support/memory-kernel.ts";

const FILES = [
  "README.md",
  "docs/a.md",
  "docs/deep/b.md",
  "docs/.env",
  "plans/p.txt",
  "src/a.ts",
  "src/deep/b.ts",
  "AGENTS.md",
];

function put(kernel: MemoryKernel, path: string): void {
  mkdirSync(dirname(join(kernel.root, path)), { recursive: true });
  writeFileSync(join(kernel.root, path), "needle\n");
}

async function kernelWithFiles(options: Parameters<typeof memoryKernel>[0] = {}): Promise<MemoryKernel> {
  const kernel = await memoryKernel(options);
  for (const path of FILES) put(kernel, path);
  return kernel;
}

function dataOf({ outcome }: CallResponse): JsonObject {
  if (outcome.kind !== "success") throw new Error(`the call did not succeed: ${JSON.stringify(outcome)}`);
  return outcome.data;
}

/** Paths that a search of `path` finds, or the rule that denies it. */
async function found(kernel: MemoryKernel, path: string): Promise<readonly string[] | string> {
  const { outcome } = await kernel.call("search_file", { path, regex: "needle" });
  if (outcome.kind === "denied") return outcome.denial.ruleId;
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  return (outcome.data["results"] as unknown as readonly { readonly path: string }[]).map((result) => result.path);
}

describe("search_file", () => {
  test("answers with lines, positions and what was left out", async () => {
    const kernel = await kernelWithFiles();
    expect(dataOf(await kernel.call("search_file", { path: "src", regex: "^ne+dle$", context: 1 }))).toEqual({
      path: "src",
      results: [
        { path: "src/a.ts", line: 1, column: 1, text: "needle", before: [], after: [] },
        { path: "src/deep/b.ts", line: 1, column: 1, text: "needle", before: [], after: [] },
      ],
      files_searched: 2,
      skipped: { binary: 0, too_large: 0, unreadable: 0, vanished: 0 },
      truncated: false,
    });
    const cut = await kernel.call("search_file", { path: ".", regex: "needle", max_results: 2 });
    expect(cut.outcome).toMatchObject({ kind: "success", truncated: true, data: { truncated: true } });
  });

  test.each(["dev", "reader"])("under the preset %s everything but secret files is found", async (preset) => {
    const kernel = await kernelWithFiles({ preset });
    expect(await found(kernel, ".")).toEqual(FILES.filter((path) => path !== "docs/.env").sort());
  });

  test("the product owner finds documents alone", async () => {
    const kernel = await kernelWithFiles({ session: { role: "product_owner" } });
    expect(await found(kernel, ".")).toBe("base.product-owner-reads-documents");
    expect(await found(kernel, "src")).toBe("base.product-owner-reads-documents");
    expect(await found(kernel, "docs")).toEqual(["docs/a.md", "docs/deep/b.md"]);
    expect(await found(kernel, "README.md")).toEqual(["README.md"]);
  });

  test("the lease decides for each file", async () => {
    const kernel = await kernelWithFiles({ scope: { readPaths: [["src", "src/*.ts", "docs/**"]] } });
    expect(await found(kernel, "src")).toEqual(["src/a.ts"]);
    expect(await found(kernel, ".")).toBe("LEASE:lea_test");
    const other = await kernelWithFiles({ scope: { tools: [["read_file"]] } });
    expect(await found(other, "src")).toBe("LEASE:lea_test");
  });

  test("a policy that looks at paths is asked about each file, and one that would ask a person leaves it out", async () => {
    const policies = `@id("own.no-deep") @message("not these") forbid (principal, action, resource is Handrail::File)
      when { resource.path like "*/deep/*" };
      @id("own.ask-plans") @ask("plans") permit (principal, action in Handrail::Action::"read", resource is Handrail::File)
      when { resource.path like "plans/*" };`;
    const kernel = await kernelWithFiles({ policies });
    expect(await found(kernel, ".")).toEqual(["AGENTS.md", "README.md", "docs/a.md", "src/a.ts"]);
  });

  test("finds what could be read by name, and nothing else", async () => {
    const pattern = fc.constantFrom(
      "**",
      "*.md",
      "src",
      "src/**",
      "**/*.ts",
      "docs/*",
      "docs/deep/**",
      "plans",
      "**/b.*",
      "{src,docs}/**",
    );
    const readable = fc.array(pattern, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        readable,
        fc.constantFrom("dev", "sre", "product_owner"),
        fc.constantFrom("docs", "src"),
        async (globs, role, path) => {
          const kernel = await kernelWithFiles({ scope: { readPaths: [[path, ...globs]] }, session: { role } });
          const byName: string[] = [];
          for (const file of FILES.filter((one) => one.startsWith(`${path}/`))) {
            if ((await kernel.call("read_file", { path: file })).outcome.kind === "success") byName.push(file);
          }
          const bySearch = await found(kernel, path);
          expect(typeof bySearch === "string" ? [] : bySearch).toEqual(byName.sort());
        },
      ),
      { numRuns: 20 },
    );
  });

  test("mistakes in the arguments are told at once", async () => {
    const kernel = await kernelWithFiles();
    const refused = async (args: JsonObject) => {
      const { outcome } = await kernel.call("search_file", { path: ".", ...args });
      return outcome.kind === "denied"
        ? outcome.denial.violations?.map(({ field, rule }) => `${field} ${rule}`)
        : outcome.kind;
    };
    expect(await refused({ regex: "" })).toEqual(["regex required"]);
    expect(await refused({ regex: "x".repeat(1001) })).toEqual(["regex max_length"]);
    expect(await refused({ regex: "x".repeat(1000) })).toBe("success");
    expect(await refused({ regex: "x".repeat(1001), literal: true })).toBe("success");
    expect(await refused({ regex: "x", max_results: 1001 })).toEqual(["max_results max_value"]);
    expect(await refused({ regex: "x", context: 11 })).toEqual(["context max_value"]);
    expect(await refused({ regex: "x", glob: "" })).toEqual(["glob required"]);
    const bad = await kernel.call("search_file", { path: ".", regex: "a(" });
    expect(bad.outcome).toMatchObject({ kind: "error", code: "REGEX_INVALID" });
  });

  test("a tool that searches where its analysis did not say is refused", async () => {
    const astray: Tool = {
      ...(countMatches as Tool),
      name: "astray",
      analyse: () => [{ resource: { kind: "file", path: "docs" }, effect: "read" }],
    };
    const policies = `@id("own.all") @waives("*") permit (principal, action == Handrail::Action::"astray", resource);`;
    const kernel = await kernelWithFiles({ tools: [astray], policies });
    const call = (path: string) => kernel.call("astray", { path, regex: "needle" });
    expect((await call("docs")).outcome.kind).toBe("success");
    expect((await call("src")).outcome).toMatchObject({ kind: "denied", denial: { ruleId: "ANALYSE:astray" } });
  });
});

describe("count_matches", () => {
  test("counts as an edit does", async () => {
    const kernel = await kernelWithFiles();
    writeFileSync(join(kernel.root, "src/a.ts"), "aaaa needle\n");
    const counted = dataOf(await kernel.call("count_matches", { path: "src/a.ts", regex: "aa", literal: true }));
    expect(counted).toMatchObject({ total: 2, files: [{ path: "src/a.ts", count: 2 }] });
    const edits = [{ operation: "replace", spec: "aa", content: "b", count: counted["total"] ?? 0 }];
    expect(dataOf(await kernel.call("edit_file", { path: "src/a.ts", edits }))).toMatchObject({ replacements: 2 });
    expect(kernel.textOf("src/a.ts")).toBe("bb needle\n");
  });
});

describe("delete_file", () => {
  const deleted = async (kernel: MemoryKernel, path: string) => {
    const { outcome } = await kernel.call("delete_file", { path });
    return outcome.kind === "denied" ? outcome.denial.ruleId : outcome.kind === "success" ? outcome.data : outcome.kind;
  };

  test("deletes a file of the service under `dev`, with an intent before and an outcome after", async () => {
    const kernel = await kernelWithFiles({ policies: DELETES_ANYTHING });
    expect(await deleted(kernel, "src/a.ts")).toEqual({ path: "src/a.ts", size_bytes: 7 });
    expect(existsSync(join(kernel.root, "src/a.ts"))).toBe(false);
    expect(kernel.ledger.types()).toEqual(["tool_selected", "tool_executed"]);
  });

  test("not what is protected, secret, managed, in another zone, or under another preset or role", async () => {
    const kernel = await kernelWithFiles({ policies: DELETES_ANYTHING });
    put(kernel, ".git/config");
    put(kernel, "contracts/api.yaml");
    expect(await deleted(kernel, "AGENTS.md")).toBe("dev.write-protected");
    expect(await deleted(kernel, "docs/.env")).toBe("ZONE:secret");
    expect(await deleted(kernel, ".git/config")).toBe("ZONE:managed");
    expect(await deleted(kernel, "contracts/api.yaml")).toBe("ZONE:shared");
    expect(await deleted(await kernelWithFiles({ preset: "reader" }), "src/a.ts")).toBe("DEFAULT_DENY");
    expect(await deleted(await kernelWithFiles({ session: { role: "product_owner" } }), "docs/a.md")).toBe(
      "base.product-owner-changes-nothing",
    );
    expect(await deleted(await kernelWithFiles({ scope: { writePaths: [["docs/**"]] } }), "src/a.ts")).toBe(
      "LEASE:lea_test",
    );
  });
});
