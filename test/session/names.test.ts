// What becomes of the name that an MCP client gives itself.
import { expect, test } from "vitest";
import { clientAgent } from "../../src/session/names.ts";

test.each([
  ["claude-code", "claude-code"],
  ["Claude Code", "claude-code"],
  ["  Visual Studio Code – Insiders ", "visual-studio-code-insiders"],
  ["ｅditor", "editor"],
  ["a/b#7\u001b[2J", "a-b-7-2j"],
  ["x".repeat(100), "x".repeat(64)],
  ["cli", "client-cli"],
  ["MCP", "client-mcp"],
  ["\u202e---", undefined],
])("%j is the agent %j", (name, agent) => {
  expect(clientAgent(name)).toBe(agent);
});
