/** What other systems' configurations become: their own examples, what is left out, and what must not get through. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importBrio } from "../../../src/server/imports/brio.ts";
import { importFlow } from "../../../src/server/imports/flow.ts";
import { importConfiguration } from "../../../src/server/imports/import.ts";
import { handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const BRIO = `[agents.tools]
enable_write = true
enable_shell = false

[agents.tools.shell]
allowlist = ["ls", "cat", "grep", "cargo", "rustc", "npm ci"]
blocklist = ["rm", "sudo", "mkfs"]

[agents.smart]
enable_write = true
enable_shell = true
shell_allowlist = ["cargo", "python", "node"]

[agents.reviewer]
enable_write = false
`;

const FLOW = `{
  "scope": {
     "service_isolation": "STRICT",
     "shared_paths": ["shared_contracts/", "docs/policies/"],
     "block_patterns": [".env", "secrets/"]
  },
  "tools": {
     "allow_legacy_run_command": false,
     "whitelisted_binaries": ["pytest", "npm", "cargo"]
  },
  "secrets": {
     "redact_patterns": ["sk-...", "ghp-..."]
  }
}
`;

const textOf = ({ files }: ReturnType<typeof importBrio>, path: string) =>
  files.find((file) => file.path === path)?.text;

test("Brio: agents become modes, lists of programs policies that only forbid", () => {
  const imported = importBrio(BRIO, "brio.toml");
  expect(imported.files.map(({ path }) => path)).toEqual([
    "modes/smart.yaml",
    "modes/reviewer.yaml",
    "policy/imported-brio.cedar",
  ]);
  expect(textOf(imported, "modes/smart.yaml")).toContain("shell, write_file]");
  expect(textOf(imported, "modes/reviewer.yaml")).toContain("tools: [done, list_files, read_file]");
  const policy = textOf(imported, "policy/imported-brio.cedar") ?? "";
  expect(policy).not.toMatch(/^permit/m);
  expect(policy).toContain('resource.line == "npm ci" || resource.line like "npm ci *"');
  expect(policy).toContain('when { principal.mode == "smart" }\nunless { ["cargo", "node", "python"]');
  expect(imported.left).toEqual([]);
});

test("Flow: scope becomes zones, patterns rules of redaction, and the old command is never made", () => {
  const imported = importFlow(FLOW.replace('run_command": false', 'run_command": true'), "config.json");
  expect(textOf(imported, "handrail.yaml")).toContain("secret:\n    - .env\n    - secrets/**");
  expect(textOf(imported, "handrail.yaml")).toContain("expression: sk-[A-Za-z0-9_-]{16,256}");
  expect(textOf(imported, "policy/imported-flow.cedar")).toContain(
    '["cargo", "npm", "pytest"].contains(resource.binary)',
  );
  expect(imported.left).toEqual([
    { where: "tools.allow_legacy_run_command", why: "`run_command` does not exist here, and is never made" },
  ]);
});

test("unknown keys are listed, and nothing is dropped without a word", () => {
  const brio = importBrio(`${BRIO}\n[agents.smart.more]\nx = 1\n[agents."Bad Name"]\n`, "brio.toml");
  expect(brio.left.map(({ where }) => where)).toEqual(["agents.smart.more", "agents.Bad Name"]);
  const flow = importFlow('{"scope":{"more":1},"other":{},"secrets":{"redact_patterns":["[a-z]+"]}}', "config.json");
  expect(flow.left.map(({ where }) => where).sort()).toEqual(["other", "scope.more", "secrets.redact_patterns[0]"]);
});

test.each([
  ["text that ends its quotes", '"); permit(principal, action, resource); //'],
  ["a line of its own", "ls\npermit(principal, action, resource);"],
  ["a wildcard", "*"],
  ["an escape", "ls\\u{22}"],
])("an entry with %s does not reach a policy; a plain one does", (_, entry) => {
  const imported = importBrio(`[agents.tools.shell]\nallowlist = ["ls", ${JSON.stringify(entry)}]\n`, "brio.toml");
  const policy = textOf(imported, "policy/imported-brio.cedar") ?? "";
  expect(policy).toContain('["ls"].contains(resource.binary)');
  expect(policy).not.toMatch(/permit/);
  expect(imported.left).toEqual([expect.objectContaining({ where: "agents.tools.shell.allowlist[1]" })]);
});

test.each([
  ["brio", "[agents.tools\n", /line 1, column \d+/],
  ["brio", "[agents.tools]\nenable_write = 3\n", /enable_write/],
  ["flow", '{"scope": ', /not valid JSON/],
  ["flow", '{"scope": {"service_isolation": "LOOSE"}}', /service_isolation/],
  ["serverd", '{"schema": "unknown"}', /config\.json/],
])("%s: what is malformed is located (%j)", async (system, text, words) => {
  const place = freshPlace();
  const file = place.put("config.json", text);
  await expect(importConfiguration(system, file)).rejects.toThrow(words);
});

test("a file that is too large is not read", async () => {
  const place = freshPlace();
  await expect(importConfiguration("brio", place.put("brio.toml", "#".repeat(1_048_577)))).rejects.toThrow("more than");
});

test("what is written is the operator's, is valid policy, and is never written over", async () => {
  const place = freshPlace();
  const brio = place.put("brio.toml", BRIO);
  const shown = await handrail(place, ["import", "brio", brio]);
  expect([shown.code, existsSync(join(place.config, "policy"))]).toEqual([0, false]);
  expect(shown.stdout).toContain("nothing was written; --write writes it to");
  const written = await handrail(place, ["import", "brio", brio, "--write", "--json"]);
  expect(JSON.parse(written.stdout)).toMatchObject({ status: "success", data: { written: true } });
  expect(statSync(join(place.config, "modes/smart.yaml")).mode & 0o077).toBe(0);
  const again = await handrail(place, ["import", "brio", brio, "--write"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("never overwritten")]);
  expect((await handrail(place, ["import", "flow", place.put("flow/config.json", FLOW), "--write"])).code).toBe(0);
  expect((await handrail(place, ["policy", "check"])).code).toBe(0);
  expect(readFileSync(join(place.config, "handrail.yaml"), "utf8")).toContain("redaction:");
  const call = (command: string) =>
    handrail(place, ["call", "shell", `command=${command}`, "--workspace", place.workspace]);
  expect((await call("cargo --version")).stderr).not.toContain("imported.");
  expect((await call("python3 --version")).stderr).toContain("imported.");
  place.put("workspace/secrets/key.txt", "x");
  const read = await handrail(place, ["call", "read_file", "path=secrets/key.txt", "--workspace", place.workspace]);
  expect(read.code).toBe(2);
});
