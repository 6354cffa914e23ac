/** How often people were asked, counted from a ledger: by rule, by tool, with what they said, and what was refused. */
import { expect, test } from "vitest";
import { withLedgerReader } from "../../../src/server/ledger/ledger-reader.ts";
import { promptStats } from "../../../src/server/policy/prompt-stats.ts";
import { secretPlace } from "../../support/secret-place.ts";

test("requests, answers and refusals are counted, each once", async () => {
  const { kernel, call } = await secretPlace({}, {}, { preset: "dev", approvals: { wait_seconds: 0 } });
  await call("write_file", { path: "a.txt", content: "a" });
  for (const path of ["CLAUDE.md", "AGENTS.md"]) await call("write_file", { path, content: "obey" });
  await call("write_file", { path: "CLAUDE.md", content: "obey" }); // the same request
  await call("read_file", { path: ".env" });
  await kernel.close();
  await withLedgerReader(kernel.stateDirectory, async (reader) => {
    const stats = await promptStats(reader);
    expect(stats).toMatchObject({
      calls: 5,
      refused_calls: 4,
      prompts: { asked: 2, approved: 0, refused: 0, unanswered: 2 },
      prompts_per_1000: 400,
      by_rule: [{ rule: "dev.write-protected", asked: 2, unanswered: 2 }],
    });
    expect(stats.by_tool.map(({ tool, calls, asked }) => [tool, calls, asked])).toEqual([
      ["write_file", 4, 2],
      ["read_file", 1, 0],
    ]);
    expect(stats.refusals).toEqual([
      { rule: "dev.write-protected", calls: 3 },
      { rule: "ZONE:secret", calls: 1 },
    ]);
    expect((await promptStats(reader, Date.now() + 60_000)).calls).toBe(0);
  });
});
