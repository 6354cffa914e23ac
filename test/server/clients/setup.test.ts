// Clients set up and taken back: their own files say what they must, keep what was in them, and become as they were.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import type { ClientPlace } from "../../../src/server/clients/client.ts";
import { CLIENTS } from "../../../src/server/clients/known-clients.ts";
import { readRecord } from "../../../src/server/clients/record.ts";
import { clientNamed, setUpClient, unsetClient } from "../../../src/server/clients/setup.ts";
import { clientState } from "../../../src/server/clients/state.ts";
import { freshPlace } from "../../support/place.ts";

const LAUNCH = ["/opt/handrail/handrail"] as const;

function setting() {
  const { workspace, home, config } = freshPlace();
  const place: ClientPlace = { workspace, home, environment: {}, launch: LAUNCH, options: [] };
  let nowMs = 1000;
  const wish = (name: string, isDry = false) => ({
    operatorPath: config,
    client: clientNamed(name),
    place,
    isDry,
    nowMs: nowMs++,
  });
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  return { workspace, home, config, place, wish, put };
}

const NAMES = CLIENTS.map(({ name }) => name);

describe.each(NAMES)("%s", (name) => {
  test("is set up once, found so, and taken back without a trace", async () => {
    const { place, wish, config } = setting();
    const files = clientNamed(name).files(place);
    const first = await setUpClient(wish(name));
    expect(first.map(({ before }) => before)).toEqual(files.map(() => undefined));
    for (const { path, after } of first) expect(readFileSync(path, "utf8")).toBe(after);
    const again = await setUpClient(wish(name));
    expect(again.map(({ before, after }) => before === after)).toEqual(files.map(() => true));
    const [record] = await readRecord(config);
    if (record === undefined) throw new Error("no record");
    expect(await clientState(record, {}, place.home)).toMatchObject({ client: name, missing: [], ungoverned: [] });
    await unsetClient(wish(name));
    for (const { path } of files) expect(existsSync(path)).toBe(false);
    expect(await readRecord(config)).toEqual([]);
    await expect(unsetClient(wish(name))).rejects.toThrow("was not set up");
  });

  test("a dry run writes nothing, and says what setting up writes", async () => {
    const { wish, workspace, home, config } = setting();
    const dry = await setUpClient(wish(name, true));
    expect([readdirSync(workspace), readdirSync(home)]).toEqual([[], []]);
    expect(existsSync(join(config, "clients.json"))).toBe(false);
    const real = await setUpClient(wish(name));
    expect(real.map(({ path, after }) => [path, after])).toEqual(dry.map(({ path, after }) => [path, after]));
  });

  test("a key that goes missing is found", async () => {
    const { place, wish, config } = setting();
    await setUpClient(wish(name));
    const [file] = clientNamed(name).files(place);
    if (file === undefined) throw new Error("no file");
    writeFileSync(file.path, file.format === "toml" ? "" : "{}");
    const [record] = await readRecord(config);
    if (record === undefined) throw new Error("no record");
    const state = await clientState(record, {}, place.home);
    expect(state?.missing[0]).toContain(file.path);
  });
});

test("comments, order, indentation and line ends stay, and come back byte for byte", async () => {
  const { workspace, home, wish, put } = setting();
  const mcp = '{\r\n\t// ours\r\n\t"mcpServers": {\r\n\t\t"other": { "command": "x" },\r\n\t},\r\n}\r\n';
  const settings = '{\n    "permissions": {\n        "deny": ["Bash", "Task"]\n    },\n    "z": 1, "a": 2\n}\n';
  const codex =
    '# mine\nmodel = "x" # keep\n\n[features]\nshell_tool = true\n\n[projects."/a"]\ntrust_level = "trusted"\n';
  const paths = [join(workspace, ".mcp.json"), join(workspace, ".claude", "settings.local.json")] as const;
  const toml = join(home, ".codex", "config.toml");
  put(paths[0], mcp);
  put(paths[1], settings);
  put(toml, codex);
  await setUpClient(wish("claude-code"));
  await setUpClient(wish("codex"));
  const changed = readFileSync(paths[0], "utf8");
  expect(changed).toContain("\t// ours\r\n");
  expect(changed.replaceAll("\r\n", "")).not.toContain("\n");
  expect(parseJsonc(changed).mcpServers).toMatchObject({
    other: { command: "x" },
    handrail: { type: "stdio", command: LAUNCH[0], args: ["mcp", "--workspace", workspace] },
  });
  const denied = parseJsonc(readFileSync(paths[1], "utf8")).permissions.deny;
  expect(denied.slice(0, 2)).toEqual(["Bash", "Task"]);
  expect(denied.filter((tool: string) => tool === "Bash")).toHaveLength(1);
  expect(denied).toContain("WebFetch");
  const tuned = readFileSync(toml, "utf8");
  expect(tuned).toContain('model = "x" # keep\n');
  expect(parseToml(tuned)).toMatchObject({ sandbox_mode: "read-only", features: { shell_tool: false } });
  await unsetClient(wish("claude-code"));
  await unsetClient(wish("codex"));
  expect(readFileSync(toml, "utf8")).toBe(codex);
  expect(parseJsonc(readFileSync(paths[1], "utf8"))).toEqual(parseJsonc(settings));
  expect(readFileSync(paths[0], "utf8")).toContain("\t// ours\r\n");
  expect(parseJsonc(readFileSync(paths[0], "utf8"), [], { allowTrailingComma: true })).toEqual({
    mcpServers: { other: { command: "x" } },
  });
});

test("what stood there before is kept beside, and comes back", async () => {
  const { workspace, wish, put } = setting();
  const path = join(workspace, ".mcp.json");
  const own = '{"mcpServers": {"handrail": {"command": "mine"}}}';
  put(path, own);
  const [change] = await setUpClient(wish("claude-code"));
  expect(readFileSync(change?.backup ?? "", "utf8")).toBe(own);
  await setUpClient(wish("claude-code"));
  await unsetClient(wish("claude-code"));
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(own));
});

test("what a person changed after the set-up stays when it is taken back, and is named", async () => {
  const { workspace, wish } = setting();
  await setUpClient(wish("claude-code"));
  const path = join(workspace, ".mcp.json");
  const edited = { mcpServers: { handrail: { command: "mine" }, other: { command: "x" } } };
  writeFileSync(path, JSON.stringify(edited));
  const [change] = await unsetClient(wish("claude-code"));
  expect(change?.kept).toEqual(["mcpServers.handrail"]);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(edited);
});

test("servers beside this one are named, and so are other workspaces' set-ups apart", async () => {
  const { workspace, wish, put, config, home, place } = setting();
  put(join(workspace, ".mcp.json"), '{"mcpServers": {"other": {"command": "x"}}}');
  await setUpClient(wish("claude-code"));
  const second = freshPlace().workspace;
  await setUpClient({ ...wish("claude-code"), place: { ...place, workspace: second } });
  const records = await readRecord(config);
  expect(records.map((record) => record.workspace)).toEqual([workspace, second]);
  const states = await Promise.all(records.map((record) => clientState(record, {}, home)));
  expect(states.map((state) => state?.ungoverned)).toEqual([["other"], []]);
});

test.each([
  ["claude-code", ".claude.json", '{"mcpServers": {"files": {"command": "x"}}}'],
  ["gemini", ".gemini/settings.json", '{"mcpServers": {"files": {"command": "x"}}}'],
  ["cursor", ".cursor/mcp.json", '{"mcpServers": {"files": {"command": "x"}}}'],
  ["vscode", ".config/Code/User/mcp.json", '{"servers": {"files": {"command": "x"}}}'],
])("servers that %s has of its user in %s are named, too", async (client, file, text) => {
  const { wish, put, config, home } = setting();
  await setUpClient(wish(client));
  const ungoverned = async () => {
    const [record] = await readRecord(config);
    return record && (await clientState(record, {}, home))?.ungoverned;
  };
  expect(await ungoverned()).toEqual([]); // the control
  put(join(home, file), text);
  expect(await ungoverned()).toEqual([`files (${join(home, file)})`]);
});

test("a server of the same name that Claude Code prefers is named: it takes this one's place", async () => {
  const { workspace, wish, put, config, home } = setting();
  await setUpClient(wish("claude-code"));
  const own = { projects: { [workspace]: { mcpServers: { handrail: { command: "other" } } } } };
  put(join(home, ".claude.json"), JSON.stringify(own));
  const [record] = await readRecord(config);
  if (record === undefined) throw new Error("no record");
  const state = await clientState(record, {}, home);
  expect(state?.ungoverned).toEqual([`handrail (${join(home, ".claude.json")})`]);
});

test.each([
  ["codex", "a = 1\n\n# --- features ---\n\n[features]\nx = true\n\n# --- end ---\n\n[tui]\ny = 1\n"],
  ["codex", "# only a comment"],
  ["gemini", '// head\r\n{\r\n\t"tools": { /* x */ "exclude": ["a" /* a */, // b\r\n\t] },\r\n}\r\n// tail\r\n'],
])("what %s held comes back byte for byte, comments and all, where nobody changed it since", async (client, text) => {
  const { wish, put, place } = setting();
  const path = clientNamed(client).files(place)[0]?.path ?? "";
  put(path, text);
  await setUpClient(wish(client));
  await setUpClient(wish(client));
  const [change] = await unsetClient(wish(client));
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(readFileSync(change?.backup ?? "", "utf8")).not.toBe(text);
});

test("what was changed since stays when it is taken back, and so do the comments around", async () => {
  const { wish, put, place } = setting();
  const path = clientNamed("codex").files(place)[0]?.path ?? "";
  const text = "a = 1\n\n# --- features ---\n\n[features]\nx = true\n\n# --- end ---\n\n[tui]\ny = 1\n";
  put(path, text);
  await setUpClient(wish("codex"));
  writeFileSync(path, `${readFileSync(path, "utf8")}[projects."/x"]\ntrust_level = "trusted"\n`);
  await unsetClient(wish("codex"));
  expect(readFileSync(path, "utf8").replace(/\n+/g, "\n")).toBe(
    `${text}[projects."/x"]\ntrust_level = "trusted"\n`.replace(/\n+/g, "\n"),
  );
});

test("the directory that `CODEX_HOME` names is Codex's", () => {
  const { place } = setting();
  const [file] = clientNamed("codex").files({ ...place, environment: { CODEX_HOME: "/elsewhere" } });
  expect(file?.path).toBe("/elsewhere/config.toml");
});

test("a client joins the kernel of another user in place of one of its own", async () => {
  const { workspace, wish, place, config } = setting();
  const joining = ["--connect", "unix:/run/handrail/http.sock", "--session", "@/home/agent/token"];
  await setUpClient({ ...wish("gemini"), place: { ...place, joining } });
  const { mcpServers } = JSON.parse(readFileSync(join(workspace, ".gemini", "settings.json"), "utf8"));
  expect(mcpServers.handrail.args).toEqual(["mcp", ...joining]);
  const [record] = await readRecord(config);
  if (record === undefined) throw new Error("no record");
  expect(await clientState(record, {}, place.home)).toMatchObject({ missing: [] });
});

test("an unknown client is refused with those that there are", () => {
  expect(() => clientNamed("emacs")).toThrow(NAMES.join(", "));
});
