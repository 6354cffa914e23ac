// What docs/guide/gates.md shows is what is read.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseMode, parseSkill } from "../../src/config/files/profiles.ts";
import { parseToolPolicy, parseToolSpec } from "../../src/config/files/tool-rules.ts";
import { compileInputSchema } from "../../src/kernel/index.ts";

const guide = readFileSync(new URL("../../docs/guide/gates.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/```(?:yaml|json)\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

test("the examples of the guide are valid", async () => {
  const [mode = "", skill = "", spec = "", policy = ""] = blocks;
  expect(blocks).toHaveLength(4);
  const review = await parseMode({ name: "modes/review.yaml", text: mode });
  expect([review.tools.size, review.tools.get("write_file")?.requiresApproval]).toEqual([4, true]);
  const notes = await parseSkill({ name: "skills/release-notes.yaml", text: skill }, compileInputSchema);
  const problem = (path: string) => notes.tools.get("write_file")?.problemOf({ path, content: "" })?.kind;
  expect([problem("docs/releases/1.2.md"), problem("docs/releases/1.2.txt")]).toEqual([undefined, "failed"]);
  const { requiresApproval, requiresArming } = await parseToolSpec(
    { name: "tools/a.json", text: spec },
    compileInputSchema,
  );
  expect([requiresApproval, requiresArming]).toEqual([true, true]);
  expect(["read_file", "delete_file"].map(parseToolPolicy({ name: "policy.json", text: policy }).allows)).toEqual([
    true,
    false,
  ]);
});
