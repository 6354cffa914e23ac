// Files of clients that must not be changed, or change by themselves: each stays as it is, and the refusal names it.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ChangedMeanwhile, readConfigFile, replaceConfigFile } from "../../../../src/server/clients/config-file.ts";
import { readRecord } from "../../../../src/server/clients/record.ts";
import { clientNamed, setUpClient, unsetClient } from "../../../../src/server/clients/setup.ts";
import { ORDINARY_USER_ID } from "../../../support/other-user.ts";
import { freshPlace } from "../../../support/place.ts";

function setting() {
  const { workspace, home, config } = freshPlace();
  const place = { workspace, home, environment: {}, launch: ["/opt/handrail"], options: [] } as const;
  const wish = (name: string) => ({ operatorPath: config, client: clientNamed(name), place, isDry: false, nowMs: 1 });
  const put = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  return { workspace, home, config, wish, put };
}

const SETTINGS = ".claude/settings.local.json";

test.each([
  ["text that is no JSON", '{"permissions": {]', /not JSON at line 1, column 18/],
  ["text that ends too early", '{"permissions": {\n', /not JSON at line 2/],
  ["a list", "[]", /no object/],
  ["an object where a list must be", '{"permissions": {"deny": {}}}', /`permissions.deny` is no list/],
  ["a text where an object must be", '{"permissions": "all"}', /`permissions` is no object/],
  ["a name that stands twice", '{"permissions": {"deny": []}, "permissions": {"deny": []}}', /stands in it twice/],
])("%s stays as it is, and so do the other files", async (_, text, said) => {
  const { workspace, config, wish, put } = setting();
  const path = join(workspace, SETTINGS);
  put(path, text);
  await expect(setUpClient(wish("claude-code"))).rejects.toThrow(said);
  await expect(setUpClient(wish("claude-code"))).rejects.toThrow(`\`${path}\``);
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(existsSync(join(workspace, ".mcp.json"))).toBe(false);
  expect(await readRecord(config)).toEqual([]);
});

test("a comment that would be lost, and nesting without end, leave the file as it is", async () => {
  const { home, workspace, wish, put } = setting();
  const codex = join(home, ".codex", "config.toml");
  const theirs = '[mcp_servers.handrail]\ncommand = "x"\n[mcp_servers.handrail.env]\nA = "1"\n\n# tail\n[z]\nq = 1\n';
  put(codex, theirs);
  await expect(setUpClient(wish("codex"))).rejects.toThrow(/would lose the comment `# tail`/);
  expect(readFileSync(codex, "utf8")).toBe(theirs);
  const deep = `{"a": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  put(join(workspace, ".gemini", "settings.json"), deep);
  await expect(setUpClient(wish("gemini"))).rejects.toThrow(/nested too deeply/);
  // the control: without the comment, the same file is changed
  put(codex, theirs.replace("# tail", ""));
  await setUpClient(wish("codex"));
  expect(readFileSync(codex, "utf8")).toContain("read-only");
});

test("clients that are set up at once are all remembered, and can all be taken back", async () => {
  const { config, wish } = setting();
  const names = ["claude-code", "gemini", "cursor", "codex", "zed"];
  await Promise.all(names.map((name) => setUpClient(wish(name))));
  expect((await readRecord(config)).map(({ client }) => client).sort()).toEqual([...names].sort());
  await Promise.all(names.map((name) => unsetClient(wish(name))));
  expect(await readRecord(config)).toEqual([]);
});

test("a file keeps its owner when the administrator sets its client up", async () => {
  if (process.getuid?.() !== 0) return; // only root changes another user's file
  const { workspace, wish, put } = setting();
  const path = join(workspace, SETTINGS);
  put(path, "{}");
  chownSync(path, ORDINARY_USER_ID, ORDINARY_USER_ID);
  await setUpClient(wish("claude-code"));
  const { uid, gid } = statSync(path);
  expect([uid, gid]).toEqual([ORDINARY_USER_ID, ORDINARY_USER_ID]);
  expect(JSON.parse(readFileSync(path, "utf8"))).toHaveProperty("permissions");
});

test("the copy that is named is the one of what was replaced, also after another try", async () => {
  const { workspace, config, wish, put } = setting();
  const path = join(workspace, ".mcp.json");
  put(path, '{"mcpServers": {"mine": {"command": "x"}}}');
  const [change] = await setUpClient(wish("claude-code"));
  expect(readFileSync(change?.backup ?? "", "utf8")).toBe(change?.before);
  expect(change?.backup).toContain(config);
});

test("TOML that is none, and text that is not UTF-8, are refused", async () => {
  const { home, workspace, wish, put } = setting();
  put(join(home, ".codex", "config.toml"), "model = \n");
  await expect(setUpClient(wish("codex"))).rejects.toThrow(/not TOML at line 1/);
  put(join(workspace, ".gemini", "settings.json"), Uint8Array.of(0x7b, 0xff, 0x7d));
  await expect(setUpClient(wish("gemini"))).rejects.toThrow(/not UTF-8/);
});

test("a file that is read only is refused, also for the administrator", async () => {
  const { workspace, wish, put } = setting();
  const path = join(workspace, SETTINGS);
  put(path, "{}");
  chmodSync(path, 0o444);
  await expect(setUpClient(wish("claude-code"))).rejects.toThrow(/is read only/);
  expect(readFileSync(path, "utf8")).toBe("{}");
  // the control: once it can be written, it is
  chmodSync(path, 0o640);
  await setUpClient(wish("claude-code"));
  expect(JSON.parse(readFileSync(path, "utf8"))).toHaveProperty("permissions");
  expect(statSync(path).mode & 0o777).toBe(0o640);
});

test("a link stays a link, and what it names is changed", async () => {
  const { workspace, wish, put } = setting();
  const real = join(freshPlace().workspace, "dotfiles.json");
  put(real, "{}");
  mkdirSync(join(workspace, ".claude"));
  symlinkSync(real, join(workspace, SETTINGS));
  await setUpClient(wish("claude-code"));
  expect(JSON.parse(readFileSync(real, "utf8"))).toHaveProperty("permissions.deny");
  expect(readConfigFile(join(workspace, SETTINGS)).path).toBe(real);
});

test("a link to nothing, a directory and a FIFO are refused", async () => {
  const { workspace, wish } = setting();
  mkdirSync(join(workspace, ".claude"));
  symlinkSync(join(workspace, "nothing"), join(workspace, SETTINGS));
  await expect(setUpClient(wish("claude-code"))).rejects.toThrow(/link to nothing/);
  mkdirSync(join(workspace, ".gemini", "settings.json"), { recursive: true });
  await expect(setUpClient(wish("gemini"))).rejects.toThrow(/regular file/);
  execFileSync("mkfifo", [join(workspace, ".mcp.json")]);
  rmSync(join(workspace, SETTINGS));
  await expect(setUpClient(wish("claude-code"))).rejects.toThrow(/regular file/);
});

test("what a client writes between being read and being replaced is not lost", async () => {
  const { workspace, config, put } = setting();
  const path = join(workspace, "settings.json");
  put(path, "{}");
  const read = readConfigFile(path);
  writeFileSync(path, '{"theirs": 1}');
  const backup = join(config, "client-backups", "b");
  await expect(replaceConfigFile(read, '{"ours": 1}', backup)).rejects.toThrow(ChangedMeanwhile);
  expect(readFileSync(path, "utf8")).toBe('{"theirs": 1}');
  // the control: what was read anew is replaced
  await replaceConfigFile(readConfigFile(path), '{"ours": 1}', `${backup}-2`);
  expect(readFileSync(path, "utf8")).toBe('{"ours": 1}');
  expect(readFileSync(`${backup}-2`, "utf8")).toBe('{"theirs": 1}');
});

test("a person's own agent file is not overwritten, and not removed", async () => {
  const { workspace, wish, put } = setting();
  const path = join(workspace, ".github", "agents", "handrail.agent.md");
  put(path, "mine");
  await expect(setUpClient(wish("vscode"))).rejects.toThrow(/move it away/);
  expect(readFileSync(path, "utf8")).toBe("mine");
});

test("a record that was tampered with is refused, and no file is changed by it", async () => {
  const { workspace, config, wish } = setting();
  await setUpClient(wish("claude-code"));
  const before = readFileSync(join(workspace, ".mcp.json"), "utf8");
  writeFileSync(join(config, "clients.json"), '{"version": 1, "clients": [{"client": 1}]}');
  await expect(unsetClient(wish("claude-code"))).rejects.toThrow(/no record of clients/);
  chmodSync(join(config, "clients.json"), 0o666);
  await expect(unsetClient(wish("claude-code"))).rejects.toThrow(/not a file of this user alone/);
  expect(readFileSync(join(workspace, ".mcp.json"), "utf8")).toBe(before);
});
