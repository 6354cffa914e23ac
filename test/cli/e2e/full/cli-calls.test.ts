/** `handrail call` and what decides it: exit codes, the one line it prints, switches, settings, presets and grants. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { handrail, linesOf, oneJsonLine, type RunOptions } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { connectRpc, startRpc } from "../../../support/rpc-client.ts";

let place: Place;
beforeEach(() => {
  place = freshPlace();
  place.put("workspace/a.txt", "a\n");
});

interface Result {
  readonly status: string;
  readonly error?: {
    readonly code: string;
    readonly layer?: string;
    readonly rule_id?: string;
    readonly message: string;
  };
}

/** Calls a tool in the place's workspace; the exit code and what the one line says. */
async function call(tool: string, args: object, more: readonly string[] = [], options: RunOptions = {}) {
  const { code, stdout, stderr } = await handrail(
    place,
    ["call", tool, "--json", JSON.stringify(args), ...more],
    options,
  );
  return { code, result: oneJsonLine<Result>(stdout), stderr };
}

/** Exit code, code, layer and rule of a call that does not succeed. */
async function refusal(tool: string, args: object, more: readonly string[] = [], options: RunOptions = {}) {
  const { code, result } = await call(tool, args, more, options);
  return [code, result.error?.code, result.error?.layer, result.error?.rule_id];
}

const READ = { path: "a.txt" };
const write = (path: string) => ({ path, content: "x" });

describe("exit codes", () => {
  test("0 for a success, with exactly one line of JSON and nothing on standard error", async () => {
    const { code, result, stderr } = await call("read_file", READ);
    expect([code, stderr, result]).toEqual([
      0,
      "",
      expect.objectContaining({ status: "success", data: expect.objectContaining({ content: "a\n" }) }),
    ]);
    const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
    expect(types).toEqual([
      "kernel_started",
      "lease_created",
      "session_created",
      "policy_loaded",
      "mark_raised",
      "tool_executed",
      "session_revoked",
      "lease_released",
      "kernel_stopped",
    ]);
  });

  test("64 for arguments that do not fit, by words as in JSON", async () => {
    expect(await refusal("read_file", {})).toEqual([64, "TOOL_INPUT_INVALID", "call", "SCHEMA:read_file"]);
    expect((await handrail(freshPlace(), ["call", "read_file"])).code).toBe(64);
  });

  test("2 for a denial, 3 for a tool's error", async () => {
    expect(await refusal("read_file", { path: "../a.txt" })).toEqual([
      2,
      "WORKSPACE_PATH_TRAVERSAL",
      "workspace",
      "INV-0007",
    ]);
    expect(await refusal("read_file", { path: "none" })).toEqual([3, "FILE_NOT_FOUND", undefined, undefined]);
  });

  test("64 for a mistake on the command line, with one line that says what to do; with --json on standard output, too", async () => {
    const mistakes: [string[], RegExp][] = [
      [
        ["call", "read_file", "--json", "{"],
        /^handrail: --json cannot be used: not valid JSON at line 1, column 2, where it ends too early$/,
      ],
      [["call", "read_file", "--json", "[1]"], /^handrail: --json must be a JSON object, such as /],
      [["call", "read_file", "--workspace", "nowhere"], /^handrail: the workspace `nowhere` does not exist; /],
      [
        ["call", "read_file", "--preset", "yolo"],
        /^handrail: there is no preset `yolo`; use one of reader, dev, autonomous, meao, brio, open$/,
      ],
      [["call", "read_file", "--role", "king"], /^handrail: the role `king` is not defined; /],
      [["sessions", "create", "--lifetime", "soon"], /^handrail: `soon` is not a duration; /],
      [["ledger", "tail", "-n", "0"], /^handrail: --count must be a whole number from 1, not `0`$/],
      [["frobnicate"], /^handrail: unknown command `frobnicate`; `handrail --help` lists the commands$/],
    ];
    const finished = await Promise.all(mistakes.map(([args]) => handrail(place, args)));
    for (const [index, { code, stdout, stderr }] of finished.entries()) {
      const [args = [], message = ""] = mistakes[index] ?? [];
      const said = stderr.replace(/^handrail: |\n$/g, "");
      const line = { status: "error", error: { code: "USAGE", message: said } };
      expect([code, stdout === "" ? "" : oneJsonLine(stdout)]).toEqual([64, args.includes("--json") ? line : ""]);
      expect(stderr.trimEnd()).toMatch(message);
    }
  });

  test("arguments from standard input that are not UTF-8 are refused, not repaired", async () => {
    const input = Buffer.from(JSON.stringify(write("caf\xe9.txt")), "latin1");
    const { code, stdout, stderr } = await handrail(place, ["call", "write_file", "--json", "-"], { input });
    const said = expect.stringContaining("standard input is not UTF-8");
    expect([code, oneJsonLine(stdout), stderr]).toEqual([
      64,
      { status: "error", error: { code: "USAGE", message: said } },
      said,
    ]);
    expect(readdirSync(place.workspace).filter((name) => name.startsWith("caf"))).toEqual([]);
  });

  test("arguments come from standard input too", async () => {
    const { code, stdout } = await handrail(place, ["call", "write_file", "--json", "-"], {
      input: JSON.stringify(write("b.txt")),
    });
    expect([code, oneJsonLine<Result>(stdout).status, existsSync(join(place.workspace, "b.txt"))]).toEqual([
      0,
      "success",
      true,
    ]);
  });
});

describe("the master gate", () => {
  const GATE = [2, "TOOLS_DISABLED", "gates", "GATE:master"];
  const withGate = (value: string) => ({ environment: { TOOLS_ENABLE: value } });

  test("TOOLS_ENABLE=0 closes it; 1 and empty leave it to the settings", async () => {
    expect(await refusal("read_file", READ, [], withGate("0"))).toEqual(GATE);
    expect((await call("read_file", READ, [], withGate("1"))).code).toBe(0);
    expect((await call("read_file", READ, [], withGate(""))).code).toBe(0);
  });

  test("TOOLS_ENABLE=1 does not open what the operator closed; other values are refused", async () => {
    place.put("config/handrail.yaml", "tools: { enabled: false }\n");
    expect(await refusal("read_file", READ, [], withGate("1"))).toEqual(GATE);
    const { code, stderr } = await handrail(place, ["call", "read_file"], withGate("yes"));
    expect([code, stderr]).toEqual([1, "handrail: TOOLS_ENABLE is `yes`; set it to 0 or 1, or leave it out\n"]);
  });

  test("a tool that the operator switched off is refused, the others work", async () => {
    place.put("config/handrail.yaml", "tools: { disabled: [write_file] }\n");
    expect(await refusal("write_file", write("b"))).toEqual([2, "TOOL_NOT_ALLOWED", "gates", "GATE:write_file"]);
    expect((await call("read_file", READ)).code).toBe(0);
  });
});

describe("the operator's settings", () => {
  test.each([
    ["an unknown key", "presset: dev\n", /presset/],
    ["an unknown key further in", "tools: { enable: true }\n", /tools: .*enable/],
    ["a value of the wrong type", "alert: { violations_per_minute: many }\n", /alert\.violations_per_minute/],
    ["a key given twice", "preset: dev\npreset: open\n", /not valid YAML/],
    ["an unknown preset", "preset: yolo\n", /preset/],
  ])("%s is refused with its name", async (_, text, named) => {
    place.put("config/handrail.yaml", text);
    const { code, stdout, stderr } = await handrail(place, ["call", "read_file", "--json", "{}"]);
    const [said, ...places] = linesOf(stderr);
    expect([code, linesOf(stdout).length, said]).toEqual([1, 1, expect.stringMatching(named)]);
    // what stands where is said of what can be parsed
    expect(places).toEqual(said?.includes("not valid YAML") ? [] : [expect.stringMatching(/handrail\.yaml:1:\d+: /)]);
  });

  test.each([
    ["the directory", "config"],
    ["the settings", "config/handrail.yaml"],
    ["the policy directory", "config/policy"],
    ["a policy file", "config/policy/own.cedar"],
  ])("%s that others can write is refused with what to do", async (_, path) => {
    place.put("config/handrail.yaml", "preset: dev\n");
    place.put("config/policy/own.cedar", "// nothing yet\n");
    chmodSync(join(place.base, path), 0o777);
    const { code, stderr } = await handrail(place, ["call", "read_file", "--json", "{}"]);
    expect([code, stderr]).toEqual([
      1,
      `handrail: \`${join(place.base, path)}\` can be written by others; run \`chmod go-w ${join(place.base, path)}\`\n`,
    ]);
  });

  test("a link does not hide that its target can be written by others", async () => {
    place.put("outside/open.yaml", "preset: open\n");
    chmodSync(join(place.outside, "open.yaml"), 0o666);
    symlinkSync(join(place.outside, "open.yaml"), join(place.config, "handrail.yaml"));
    const { code, stderr } = await handrail(place, ["call", "read_file", "--json", "{}"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("can be written by others")]);
  });

  test("a state directory that others can enter is refused", async () => {
    mkdirSync(place.state);
    writeFileSync(join(place.state, "something"), "");
    chmodSync(place.state, 0o755);
    const { code, stderr } = await handrail(place, ["call", "read_file", "--json", "{}"]);
    expect([code, stderr]).toEqual([
      1,
      `handrail: the state directory \`${place.state}\` is open to other users; run \`chmod 700 ${place.state}\`\n`,
    ]);
  });

  test("alert.violations_per_minute is the limit in force", async () => {
    place.put("config/handrail.yaml", "alert: { violations_per_minute: 1 }\n");
    const client = await connectRpc(place);
    for (const path of ["../a", "../b"]) await client.call("read_file", { path });
    const alarms = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "alert_mode");
    expect(alarms.map(({ payload }) => payload)).toEqual([
      { violations_per_minute: 1, severity: "critical", review: "required", frozen: true },
    ]);
  });

  test("the operator's own directory and the state are out of reach when they lie in the workspace", async () => {
    const inside = ["--state", join(place.workspace, "kept/state"), "--config", join(place.workspace, "kept/config")];
    place.put("workspace/kept/config/handrail.yaml", "preset: dev\n");
    const secret = [2, "WORKSPACE_BLOCKED_ZONE", "workspace", "ZONE:secret"];
    expect(await refusal("read_file", { path: "kept/config/handrail.yaml" }, inside)).toEqual(secret);
    expect(await refusal("write_file", write("kept/config/policy/own.cedar"), inside)).toEqual(secret);
    expect(await refusal("read_file", { path: "kept/state/ledger.db" }, inside)).toEqual(secret);
  });
});

describe("the workspace's own handrail.yaml", () => {
  test("narrows: further secret files, read-only files, switched-off tools", async () => {
    place.put(
      "workspace/handrail.yaml",
      "files: { secret: ['*.pem'], read_only: [docs] }\ntools: { disabled: [edit_file] }\n",
    );
    place.put("workspace/key.pem", "key\n");
    expect(await refusal("read_file", { path: "key.pem" })).toEqual([
      2,
      "WORKSPACE_BLOCKED_ZONE",
      "workspace",
      "ZONE:secret",
    ]);
    expect(await refusal("write_file", write("docs/a"))).toEqual([
      2,
      "WORKSPACE_READ_ONLY",
      "workspace",
      "ZONE:read_only",
    ]);
    const edit = { path: "a.txt", edits: [{ operation: "delete", spec: "a" }] };
    expect(await refusal("edit_file", edit)).toEqual([2, "TOOL_NOT_ALLOWED", "scope", "WORKSPACE:edit_file"]);
    expect((await call("read_file", READ)).code).toBe(0);
  });

  test.each(["dev", "open"])("cannot be changed by what it narrows, under preset %s", async (preset) => {
    const text = "files: { read_only: [docs] }\n";
    place.put("workspace/handrail.yaml", text);
    const readOnly = [2, "WORKSPACE_READ_ONLY", "workspace", "ZONE:shared"];
    expect(await refusal("write_file", { path: "handrail.yaml", content: "" }, ["--preset", preset])).toEqual(readOnly);
    const edits = [{ operation: "delete", spec: "files" }];
    expect(await refusal("edit_file", { path: "handrail.yaml", edits }, ["--preset", preset])).toEqual(readOnly);
    const restricted = [2, "WORKSPACE_READ_ONLY", "workspace", "ZONE:read_only"];
    expect(await refusal("write_file", write("docs/a"), ["--preset", preset])).toEqual(restricted);
    expect(readFileSync(join(place.workspace, "handrail.yaml"), "utf8")).toBe(text);
    expect((await call("read_file", { path: "handrail.yaml" }, ["--preset", preset])).code).toBe(0);
  });

  test.each([
    ["a key that would widen", "preset: open\n"],
    ["a grant", "workspaces: [{ path: /, roles: [sre] }]\n"],
    ["a switch that would open", "tools: { enabled: true }\n"],
    ["text that is no YAML", "files: [\n"],
  ])("%s closes the workspace with a denial that says why", async (_, text) => {
    place.put("workspace/handrail.yaml", text);
    const { code, result } = await call("read_file", READ);
    expect([code, result.error]).toEqual([
      2,
      expect.objectContaining({
        code: "TOOL_POLICY_INVALID",
        layer: "gates",
        rule_id: "CONFIG:workspace_invalid",
        message: expect.stringContaining("handrail.yaml"),
      }),
    ]);
  });
});

describe("presets and roles", () => {
  test("reader reads and does not write", async () => {
    expect((await call("read_file", READ, ["--preset", "reader"])).code).toBe(0);
    expect(await refusal("write_file", write("b"), ["--preset", "reader"])).toEqual([
      2,
      "FILE_WRITE_DENIED",
      "policy",
      "DEFAULT_DENY",
    ]);
  });

  test("dev asks before files that people's tools obey, open asks nothing, and neither opens a secret zone", async () => {
    expect(await refusal("write_file", write("CLAUDE.md"))).toEqual([
      2,
      "TOOL_APPROVAL_REQUIRED",
      "approval",
      "dev.write-protected",
    ]);
    expect((await call("write_file", write("CLAUDE.md"), ["--preset", "open"])).code).toBe(0);
    expect(await refusal("read_file", { path: ".env" }, ["--preset", "open"])).toEqual([
      2,
      "WORKSPACE_BLOCKED_ZONE",
      "workspace",
      "ZONE:secret",
    ]);
  });

  test("a client gets a role only where the operator granted it", async () => {
    const refused = startRpc(place, ["--role", "sre"]);
    expect(await refused.ended).toBe("64");
    expect(refused.stderr()).toMatch(
      /^handrail: the role `sre` is not granted to clients of `\S+`; the operator grants it under workspaces\[\]\.roles/,
    );
    place.put(
      "config/handrail.yaml",
      `workspaces: [{ path: ${place.workspace}, roles: [dev, sre], preset: reader }]\n`,
    );
    const granted = await connectRpc(place, ["--role", "sre"]);
    expect((await granted.call("read_file", READ)).isError).toBe(false);
    expect(factsOf(await granted.call("write_file", write("b"))).error).toMatchObject({
      rule_id: "DEFAULT_DENY",
    });
  });

  describe("of a client", () => {
    /** What a client is told that asks for more than it may have, or `served`. */
    async function asked(...args: string[]): Promise<string> {
      const client = startRpc(place, args);
      client.process.stdin.end();
      return (await client.ended) === "0" ? "served" : client.stderr();
    }
    const settle = (text: string) => void place.put("config/handrail.yaml", text);

    test("are its own choice where the operator said nothing", async () => {
      expect(await asked("--preset", "open")).toBe("served");
      settle("alert: { violations_per_minute: 9 }\n");
      expect(await asked("--preset", "open")).toBe("served");
    });

    test.each([
      ["a preset for all", () => "preset: autonomous\n", "autonomous"],
      [
        "a preset for the workspace",
        () => `preset: open\nworkspaces: [{ path: ${place.workspace}, preset: autonomous }]\n`,
        "autonomous",
      ],
      ["a grant without a preset", () => `workspaces: [{ path: ${place.workspace} }]\n`, "dev"],
    ])("only narrow %s", async (_, text, limit) => {
      settle(text());
      expect(await Promise.all([asked("--preset", "reader"), asked("--preset", limit), asked()])).toEqual([
        "served",
        "served",
        "served",
      ]);
      expect(await asked("--preset", "open")).toContain(
        `the preset \`open\` allows more than \`${limit}\`, which the operator chose`,
      );
    });

    test("take a project root only from a grant, or above the workspace", async () => {
      const ungranted = await Promise.all(
        [place.base, "/", place.outside].map((project) => asked("--project", project)),
      );
      expect(ungranted).toEqual([
        "served",
        expect.stringContaining("`/` is refused as a workspace"),
        expect.stringContaining("must be a directory that holds"),
      ]);
      settle(`workspaces: [{ path: ${place.workspace}, project_root: ${place.base} }]\n`);
      const above = await Promise.all(
        [place.base, join(place.base, "..")].map((project) => asked("--project", project)),
      );
      expect(above).toEqual(["served", expect.stringContaining("is refused as a workspace")]);
      settle(`workspaces: [{ path: ${place.workspace} }]\n`);
      expect(await asked("--project", place.base)).toContain("is not granted to clients");
    });
  });

  test("the product owner reads documents and nothing else", async () => {
    place.put("workspace/README.md", "# a\n");
    place.put("config/handrail.yaml", `workspaces: [{ path: ${place.workspace}, roles: [product_owner] }]\n`);
    const role = ["--role", "product_owner"];
    expect((await call("read_file", { path: "README.md" }, role)).code).toBe(0);
    expect(await refusal("read_file", READ, role)).toEqual([
      2,
      "PERMISSION_DENIED",
      "policy",
      "base.product-owner-reads-documents",
    ]);
    expect((await refusal("write_file", write("docs/a.md"), role)).slice(0, 2)).toEqual([2, "PERMISSION_DENIED"]);
  });
});
