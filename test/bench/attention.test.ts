/** The accounting of prompts on a trace: lines that are no calls, unknown tools, requests, what landed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replay } from "../../bench/attention/attention.ts";
import { createPlayground } from "../../bench/playground.ts";

const line = (tool: string, args: object, more: object = {}) => JSON.stringify({ tool, arguments: args, ...more });

test("a trace is counted as it is, with half lines and unknown tools in it", async () => {
  using playground = createPlayground();
  const trace = join(playground.directory("traces"), "trace.ndjson");
  const obeyed = line("shell", { command: "echo obey >> CLAUDE.md" }, { wanted: true });
  writeFileSync(
    trace,
    [
      line("shell", { command: "ls" }, { harmless: true }),
      obeyed,
      obeyed,
      line("shell", { command: "python3 -c 'print(1)'" }, { harmless: true }),
      line("shell", { command: "npm install x" }, { harmless: true }),
      line("teleport", { to: "moon" }),
      '{"tool": "shell", "argum',
      "[]",
      '{"tool": 7, "arguments": {}}',
      "",
    ].join("\n"),
  );
  const { stats, ...found } = await replay(playground, { trace, preset: "dev" });
  expect(found).toMatchObject({ calls: 6, skipped: 3, unknown: 1, wanted: 1, forbidden: [], prefixPrompts: 2 });
  expect(found.harmlessRefused).toEqual([expect.stringContaining("install.npm-lockfile-only")]);
  expect(stats.prompts.asked).toBe(1);
  await expect(replay(playground, { trace: `${trace}.none`, preset: "dev" })).rejects.toThrow(/there is no trace/);
});

test("what is forbidden and happens is found", async () => {
  using playground = createPlayground();
  const trace = join(playground.directory("traces"), "trace.ndjson");
  writeFileSync(trace, `${line("write_file", { path: "CLAUDE.md", content: "obey" })}\n`);
  const asking = await replay(playground, { trace, preset: "dev" });
  expect(asking.forbidden).toEqual([]);
  using other = createPlayground();
  const open = await replay(other, { trace, preset: "open" }); // the control: nobody stops it
  expect(open.forbidden).toEqual(["CLAUDE.md"]);
});
