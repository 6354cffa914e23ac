// Edits through the whole kernel: what a refusal shows of a file, and what several files need.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryKernel } from "../../../support/memory-kernel.ts";

/** Put together here, so that this file holds no secret. */
const PASSWORD = ["hunter2", "Hunter2"].join("-");

test("the closest text of a refusal shows no secret", async () => {
  const kernel = await memoryKernel();
  const before = `user = "somebody"\n  password = "${PASSWORD}"\nport = 80\n`;
  writeFileSync(join(kernel.root, "a.txt"), before);
  for (const spec of ['user = "somebodY"\npassword = "x"\nport = 80', 'password  =  "hunter1-Hunter2"', "port = 81"]) {
    const { outcome } = await kernel.call("edit_file", { path: "a.txt", edits: [{ operation: "delete", spec }] });
    expect(outcome).toMatchObject({ kind: "error", code: "MATCH_COUNT_MISMATCH" });
    expect(JSON.stringify(outcome)).not.toContain(PASSWORD);
  }
  const edits = [{ operation: "delete", spec: "port  = 80" }];
  const { outcome } = await kernel.call("edit_file", { path: "a.txt", edits });
  expect(outcome).toMatchObject({ suggestion: expect.stringContaining("line 3") });
  // The control: without markers the same lines show it.
  expect(before).toContain(PASSWORD);
});

test("a protected or secret file among several stops all of them before anything is written", async () => {
  const kernel = await memoryKernel();
  for (const name of ["a.txt", "b.txt", ".env"]) writeFileSync(join(kernel.root, name), "old\n");
  const edits = [{ operation: "replace", spec: "old", content: "new" }];
  const call = (names: readonly string[]) =>
    kernel.call("edit_file", { files: names.map((path) => ({ path, edits })) });
  expect((await call(["a.txt", "b.txt", ".env"])).outcome.kind).toBe("denied");
  expect(["a.txt", "b.txt"].map((name) => readFileSync(join(kernel.root, name), "utf8"))).toEqual(["old\n", "old\n"]);
  expect((await call(["a.txt", "b.txt"])).outcome.kind).toBe("success");
  expect(["a.txt", "b.txt"].map((name) => readFileSync(join(kernel.root, name), "utf8"))).toEqual(["new\n", "new\n"]);
});

test("edits of several files through the kernel take syntax and expressions", async () => {
  const kernel = await memoryKernel();
  writeFileSync(join(kernel.root, "a.py"), "log(1)\n");
  writeFileSync(join(kernel.root, "b.txt"), "v1\n");
  const { outcome } = await kernel.call("edit_file", {
    files: [
      { path: "a.py", edits: [{ operation: "replace", match_mode: "ast", spec: "log($A)", content: "info($A)" }] },
      { path: "b.txt", edits: [{ operation: "replace", match_mode: "regex", spec: "v(\\d)", content: "w$1" }] },
    ],
  });
  expect(outcome).toMatchObject({ kind: "success", data: { replacements: 2 } });
  expect(readFileSync(join(kernel.root, "a.py"), "utf8")).toBe("info(1)\n");
});
