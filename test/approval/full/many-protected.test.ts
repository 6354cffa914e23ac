// More protected names than a command could be given mounts, and a command that writes all of them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readApprovalDocument } from "../../../src/model/approval/approval-document.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { askingKernel, pending, refuse } from "../../support/asking.ts";

test("4,200 protected names are asked about once, none that is refused lands, and the next command runs", async () => {
  const kernel = await askingKernel({ tools: [shell] });
  const at = (path: string) => join(kernel.root, path);
  const run = (command: string) => kernel.call("shell", { command });
  const names = Array.from({ length: 4200 }, (_, index) => `.cursor/rules/${index}`);
  mkdirSync(at(".cursor/rules"), { recursive: true });
  for (const name of names) writeFileSync(at(name), "mine");
  writeFileSync(at("write.py"), "import os\nfor f in os.scandir('.cursor/rules'): open(f.path, 'a').write('evil')\n");
  const asked = run("python3 write.py; echo own > own.txt");
  const { ref, document } = await pending(kernel);
  expect(readApprovalDocument(ref, document ?? "")?.summary).toContain("4200 protected files");
  await refuse(kernel, ref);
  expect((await asked).outcome).toMatchObject({
    data: { files: { created: 1, changed: 0 }, not_kept_count: 4200, not_kept: { length: 100 } },
  });
  expect(names.filter((name) => readFileSync(at(name), "utf8") !== "mine")).toEqual([]);
  expect((await run("cat own.txt")).outcome).toMatchObject({ data: { stdout: "own\n" } });
});
