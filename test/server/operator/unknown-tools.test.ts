// Misspelt tools in the operator's settings are told, because they switch nothing off.
import { expect, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";
import { BUILT_IN_TOOLS } from "../../../src/server/operator/built-in-tools.ts";
import { warningOfUnknownTools } from "../../../src/server/operator/unknown-tools.ts";

test("a name that no tool has is told with its file, names of tools are not", async () => {
  const warning = async (names: string) =>
    warningOfUnknownTools(
      { path: "/c", settings: await parseSettings(`tools: { disabled: [${names}] }\n`, "x") },
      BUILT_IN_TOOLS,
    );
  expect(await warning("wirte_file, read_file")).toMatch(
    /^\/c\/handrail\.yaml: `tools\.disabled` names `wirte_file`, which/,
  );
  expect(await warning("write_file, shell")).toBeUndefined();
});

test("a rate for a tool that does not exist is told too", async () => {
  const text = "limits: { rate: { tools: { shel: { calls_per_minute: 1 }, shell: { calls_per_minute: 1 } } } }\n";
  const warning = warningOfUnknownTools({ path: "/c", settings: await parseSettings(text, "x") }, BUILT_IN_TOOLS);
  expect(warning).toMatch(
    /`limits\.rate\.tools` names `shel`, which no tool is called; nothing is slowed down by that/,
  );
});
