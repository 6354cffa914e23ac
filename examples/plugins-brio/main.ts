/**
 * A registry as Brio builds it: some of the kernel's tools with limits, calls out of a model's text in one order, and
 * the text that tells a model what there is. Exits non-zero if it is not so.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, ToolRegistryBuilder } from "handrail";

const place = mkdtempSync(join(tmpdir(), "handrail-brio-"));
const workspace = join(place, "workspace");
for (const directory of [workspace, join(place, "operator")]) mkdirSync(directory, { mode: 0o700 });

const registry = new ToolRegistryBuilder()
  .withDoneTool()
  .withReadTool(1_000_000)
  .withListTool(3)
  .withWriteTool()
  .withShellTool(["ls", "cat", "npm ci"])
  .build();
console.log(registry.help_text());

{
  await using kernel = await createKernel({
    stateDirectory: join(place, "state"),
    configDirectory: join(place, "operator"),
    registry,
  });
  await using _session = await kernel.openSession({ workspace, onDone: (summary) => console.log("done:", summary) });

  const results = await registry.execute_all([
    { name: "write_file", args: { path: "notes.md", content: "one\n" } },
    { name: "read_file", args: { path: "notes.md" } },
    { name: "shell", args: { command: "cat notes.md" } },
    { name: "shell", args: { command: "rm notes.md" } },
    { name: "done", args: { summary: "never reached" } },
  ]);
  assert.deepEqual(
    results.map(({ success }) => success),
    [true, true, true, false],
  );
  console.log("stopped at:", results.at(-1)?.output);

  const [last] = await registry.execute_all([{ name: "done", args: { summary: "the notes are written" } }]);
  assert.equal(last?.success, true);
}
rmSync(place, { recursive: true });
