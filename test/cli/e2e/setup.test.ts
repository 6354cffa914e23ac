// `handrail setup`, `unsetup` and `doctor` on the files of clients, as a person uses them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataIn, handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

test("a client is shown, set up, verified and taken back", async () => {
  const place = freshPlace();
  const run = (...words: readonly string[]) => handrail(place, words, { directory: place.workspace });
  place.put("workspace/.mcp.json", '{\n  "mcpServers": {}\n}\n');
  const dry = await run("setup", "claude-code", "--dry-run");
  expect(dry.stdout).toContain('\n+    "handrail": {\n');
  expect(dry.stdout).toContain("nothing was written");
  expect(readFileSync(join(place.workspace, ".mcp.json"), "utf8")).toBe('{\n  "mcpServers": {}\n}\n');

  const { stdout } = await run("setup", "claude-code", "--json");
  expect(dataIn(stdout)).toMatchObject({
    client: "claude-code",
    workspace: place.workspace,
    dry_run: false,
    files: [{ change: "changed", backup: expect.any(String) }, { change: "made" }],
  });
  expect((await run("setup", "claude-code")).stdout).toContain("nothing is left to change");
  expect((await run("setup")).stdout).toMatch(/^claude-code +Claude Code +set up in .*\ncodex +Codex +not set up$/m);

  const finding = async () => {
    const { stdout: said } = await run("doctor", "--json");
    const findings =
      dataIn<readonly { readonly check: string; readonly status: string; readonly fix?: string }[]>(said);
    return findings.find(({ check }) => check === "client claude-code");
  };
  expect(await finding()).toMatchObject({ status: "ok" });
  writeFileSync(join(place.workspace, ".mcp.json"), '{"mcpServers": {}}');
  expect(await finding()).toMatchObject({
    status: "failed",
    fix: expect.stringContaining("handrail setup claude-code"),
  });

  const taken = await run("unsetup", "claude-code");
  expect(taken.stdout).toContain("kept  ");
  expect(existsSync(join(place.workspace, ".claude/settings.local.json"))).toBe(false);
});

test("a way round that is left is said", async () => {
  const place = freshPlace();
  const { stdout } = await handrail(place, ["setup", "cursor", "--workspace", place.workspace]);
  expect(stdout).toContain("a way round is left: the editor's own agent");
});

test("a client joins a kernel by an address and a file with the token, never by the token itself", async () => {
  const place = freshPlace();
  const run = (...words: readonly string[]) =>
    handrail(place, ["setup", "gemini", "--connect", "unix:/run/k.sock", ...words]);
  expect((await run()).stderr).toContain("--session @FILE");
  expect((await run("--session", "ses_secret")).stderr).toContain("--session @FILE");
  expect((await run("--session", "@token", "--state", "s")).code).toBe(64);
  expect((await run("--session", "@/t", "--dry-run")).stdout).toContain('+        "@/t"');
});

test("an unknown client and a file that is no JSON are wrong usage, and say what to do", async () => {
  const place = freshPlace();
  const unknown = await handrail(place, ["setup", "emacs"]);
  expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringContaining("use one of claude-code, codex")]);
  place.put("workspace/.mcp.json", "{");
  const broken = await handrail(place, ["setup", "claude-code", "--workspace", place.workspace]);
  expect([broken.code, broken.stderr]).toEqual([64, expect.stringMatching(/\.mcp\.json.*not JSON at line 1/)]);
});
