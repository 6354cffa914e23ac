/**
 * A workspace's `.flow/config.json`: it takes away, and never gives; no agent writes it; one that is not valid closes
 * the workspace and says where. Whole kernels, with a real sandbox.
 */
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { ownFilesFindings } from "../../../../../src/server/doctor/doctor-workspace.ts";
import { createKernel, type KernelSession } from "../../../../../src/server/doors/library.ts";
import { plainGit } from "../../../../support/git-place.ts";
import { freshPlace, type Place } from "../../../../support/place.ts";

const FILE = ".flow/config.json";
/** The file as Flow's own documentation shows it. */
const SHOWN = {
  scope: {
    service_isolation: "STRICT",
    shared_paths: ["shared_contracts/", "docs/policies/"],
    block_patterns: [".env", "secrets/"],
  },
  tools: { allow_legacy_run_command: false, whitelisted_binaries: ["pytest", "npm", "cargo"] },
  secrets: { redact_patterns: ["sk-...", "ghp-..."] },
};

/** A project with a service in it, whose `.flow/config.json` is `config`. */
function project(config: JsonObject | string | undefined): Place {
  const place = freshPlace();
  place.put("workspace/service/a.ts", "text\n");
  place.put("workspace/service/private/a.ts", "hidden\n");
  for (const name of ["shared_contracts", "contracts", "docs/policies", "other"])
    place.put(`workspace/${name}/a.md`, `${name}\n`);
  if (config !== undefined)
    place.put(`workspace/service/${FILE}`, typeof config === "string" ? config : JSON.stringify(config));
  return place;
}

interface Opened {
  readonly session: KernelSession;
  readonly told: readonly string[];
  /** How a call ends: `ok`, or why not. */
  readonly ends: (tool: string, args: JsonObject) => Promise<string>;
  readonly answer: (tool: string, args: JsonObject) => Promise<string>;
}

async function open(place: Place, isolation?: "SHARED", directory = "service"): Promise<Opened> {
  const service = join(place.workspace, directory);
  const grant = { path: service, project_root: place.workspace, ...(isolation && { isolation }) };
  place.put("config/handrail.yaml", JSON.stringify({ workspaces: [grant], alert: { freeze: false } }));
  const told: string[] = [];
  const kernel = await createKernel({
    environment: { PATH: process.env["PATH"] },
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: (message) => void told.push(message),
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: service });
  const call = async (tool: string, args: JsonObject) => (await session.call(tool, args)).response.outcome;
  return {
    session,
    told,
    async ends(tool, args) {
      const outcome = await call(tool, args);
      if (outcome.kind === "success") return "ok";
      return outcome.kind === "denied" ? `${outcome.denial.reason} ${outcome.denial.ruleId}` : outcome.code;
    },
    answer: async (tool, args) => JSON.stringify(await call(tool, args)),
  };
}

describe("it takes away", () => {
  test("files by `block_patterns`: no tool reads, lists, finds or shows them", async () => {
    const place = project({ scope: { block_patterns: ["private", "*.draft"] } });
    place.put("workspace/service/x.draft", "hidden\n");
    const { ends, answer } = await open(place);
    expect(await ends("read_file", { path: "private/a.ts" })).toBe("workspace_blocked_zone ZONE:secret");
    expect(await ends("write_file", { path: "x.draft", content: "" })).toBe("workspace_blocked_zone ZONE:secret");
    expect(await answer("list_files", { recursive: true })).not.toMatch(/private|draft/);
    expect(await answer("search_file", { path: ".", regex: "hidden", recursive: true })).not.toMatch(/a\.ts|draft/);
    expect(await answer("shell", { command: "ls -R; cat private/a.ts x.draft" })).not.toMatch(/hidden|draft"/);
    // The control: without the file all of them are there.
    const plain = await open(project(undefined));
    expect(await plain.ends("read_file", { path: "private/a.ts" })).toBe("ok");
  });

  test("programs that `whitelisted_binaries` does not list, whatever runs them", async () => {
    const { ends, session } = await open(project({ tools: { whitelisted_binaries: ["ls", "grep"] } }));
    const refused = "command_not_listed WORKSPACE:.flow/config.json";
    expect(await ends("shell", { command: "ls" })).toBe("ok");
    for (const command of ["cat a.ts", "ls; cat a.ts", "ls | sh", "$(echo cat) a.ts", "./ls", "env ls", "sudo ls"])
      expect([command, await ends("shell", { command })]).toEqual([command, refused]);
    const { response } = await session.call("shell", { command: "cat a.ts" });
    expect(response.outcome).toMatchObject({
      denial: {
        message:
          "`cat` is not among `tools.whitelisted_binaries` of the workspace's `.flow/config.json`; use a program that it lists",
        command: ["cat", "a.ts"],
      },
    });
    // The control: without the file it runs.
    expect(await (await open(project(undefined))).ends("shell", { command: "cat a.ts" })).toBe("ok");
  });

  test("shared directories that `shared_paths` does not name", async () => {
    const read = (place: Place, { ends }: Opened, name: string) =>
      ends("read_file", { path: join(place.workspace, name, "a.md") });
    const place = project({ scope: { shared_paths: ["shared_contracts/"] } });
    const opened = await open(place);
    const outside = "workspace_path_escape WORKSPACE:scope";
    expect(await read(place, opened, "shared_contracts")).toBe("ok");
    expect(await read(place, opened, "contracts")).toBe(outside);
    // The control: without the file both are read.
    const plain = project(undefined);
    const without = await open(plain);
    expect([await read(plain, without, "shared_contracts"), await read(plain, without, "contracts")]).toEqual([
      "ok",
      "ok",
    ]);
  });

  test("secrets by `redact_patterns`, where `...` stands for the rest of a token", async () => {
    const place = project({ secrets: { redact_patterns: ["acme-...", "Tr0ub4dor&3"] } });
    place.put("workspace/service/leak.txt", "a acme-q7Zk2Xw9Vb4Ns8Ld b\nc Tr0ub4dor&3 d\nacme-docs\n");
    const { answer } = await open(place);
    for (const shown of [
      await answer("read_file", { path: "leak.txt" }),
      await answer("search_file", { path: "leak.txt", literal: true, regex: " b" }),
      await answer("shell", { command: "cat leak.txt" }),
    ]) {
      expect(shown).not.toMatch(/q7Zk2Xw9Vb4Ns8Ld/);
      expect(shown).toMatch(/\[REDACTED:workspace-1\]/);
    }
    expect(await answer("read_file", { path: "leak.txt" })).toMatch(/\[REDACTED:workspace-2\] d\\nacme-docs/);
    // The control: without the patterns it is shown.
    const plain = project(undefined);
    plain.put("workspace/service/leak.txt", "a acme-q7Zk2Xw9Vb4Ns8Ld b\n");
    expect(await (await open(plain)).answer("read_file", { path: "leak.txt" })).toMatch(/q7Zk2Xw9Vb4Ns8Ld/);
  });

  test("shared places from searches, by `STRICT`, whatever the operator said of the isolation", async () => {
    const found = async (config: JsonObject | undefined) =>
      (await open(project(config), "SHARED")).answer("search_file", { path: ".", regex: "contracts", recursive: true });
    expect(await found(undefined)).toMatch(/shared_contracts\/a\.md/);
    expect(await found({ scope: { service_isolation: "STRICT" } })).not.toMatch(/shared_contracts\/a\.md/);
  });

  test("and as Flow's own documentation shows it, it is read without a word", async () => {
    const { ends, told } = await open(project(SHOWN));
    expect(await ends("read_file", { path: "a.ts" })).toBe("ok");
    expect(await ends("shell", { command: "ls" })).toBe("command_not_listed WORKSPACE:.flow/config.json");
    expect(told).toEqual([]);
  });
});

describe("it never gives", () => {
  test.each([
    ["a directory that the operator does not share", { scope: { shared_paths: ["other"] } }, "other"],
    [
      "a directory beside what is shared",
      { scope: { shared_paths: ["docs/policies/", "contracts"] } },
      "docs/policies",
    ],
  ])("%s", async (_what, config, name) => {
    const place = project(config);
    const { ends } = await open(place);
    expect(await ends("read_file", { path: join(place.workspace, name, "a.md") })).toBe(
      "workspace_path_escape WORKSPACE:scope",
    );
  });

  test("trusted by the operator it shares what it names, read only", async () => {
    const place = project({ scope: { shared_paths: ["other"] } });
    const service = join(place.workspace, "service");
    place.put(
      "config/handrail.yaml",
      JSON.stringify({ workspaces: [{ path: service, project_root: place.workspace }] }),
    );
    const kernel = await createKernel({
      environment: { PATH: process.env["PATH"] },
      stateDirectory: place.state,
      configDirectory: place.config,
    });
    onTestFinished(() => kernel.close());
    const { TrustDesk } = await import("../../../../../src/server/workspace/trust.ts");
    const { systemRandom } = await import("../../../../../src/base/ids.ts");
    const ledger = { record: async () => 1 };
    const clock = { nowMs: () => Date.now(), monotonicMs: () => 0 };
    const desk = new TrustDesk({ operatorPath: place.config, ledger, clock, random: systemRandom });
    expect(await desk.trust(service, "ada")).toMatchObject({ widens: ["scope.shared_paths"], state: "trusted" });
    const { ends } = await open(place);
    const path = join(place.workspace, "other", "a.md");
    expect(await ends("read_file", { path })).toBe("ok");
    expect(await ends("write_file", { path, content: "" })).toBe("workspace_read_only ZONE:shared");
    // a changed file is untrusted again
    place.put(`workspace/service/${FILE}`, JSON.stringify({ scope: { shared_paths: ["other", "contracts"] } }));
    expect(await desk.list()).toMatchObject([{ state: "changed" }]);
  });

  test("an empty list of patterns opens no built-in zone, and `*` no program that is refused", async () => {
    const config = { scope: { block_patterns: [] }, tools: { whitelisted_binaries: ["*"] } };
    const place = project(config);
    place.put("workspace/service/.env", "KEY=1\n");
    const { ends } = await open(place);
    expect(await ends("read_file", { path: ".env" })).toBe("workspace_blocked_zone ZONE:secret");
    expect(await ends("shell", { command: "npm install left-pad" })).toMatch(/^shell_exec_denied install\./);
    expect(await ends("shell", { command: "ls" })).toBe("ok");
  });

  test("what is shared stays read only in the service itself, whatever `shared_paths` leaves out", async () => {
    const place = project(undefined);
    place.put("workspace/shared/a.md", "shared\n");
    place.put(`workspace/${FILE}`, JSON.stringify({ scope: { shared_paths: [] } }));
    const { ends } = await open(place, undefined, "");
    expect(await ends("write_file", { path: "shared/a.md", content: "" })).toBe("workspace_read_only ZONE:shared");
  });

  test("`SHARED` and `allow_legacy_run_command` have no effect, and the second is told", async () => {
    const place = project({ scope: { service_isolation: "SHARED" }, tools: { allow_legacy_run_command: true } });
    const { ends, answer, told } = await open(place);
    expect(await answer("search_file", { path: ".", regex: "contracts", recursive: true })).not.toMatch(/a\.md/);
    expect(await ends("run_command", { command: "ls" })).toMatch(/^tool_spec_missing|^tool_not_allowed/);
    expect(told.join("\n")).toContain("tools.allow_legacy_run_command: there is no `run_command`");
    const findings = await ownFilesFindings(join(place.workspace, "service"));
    expect(findings).toMatchObject([
      { status: "advisory", detail: expect.stringContaining("allow_legacy_run_command") },
    ]);
  });

  test("a key that nobody knows is told with its place, once", async () => {
    const { ends, told } = await open(project('{\n  "scope": {\n    "colour": 1\n  },\n  "version": 2\n}\n'));
    for (const path of ["a.ts", "a.ts"]) expect(await ends("read_file", { path })).toBe("ok");
    expect(told).toEqual([
      expect.stringMatching(/line 3, column 5: `scope\.colour` has no meaning here; line 5, column 3: `version` has/),
    ]);
  });
});

describe("one that is not valid closes the workspace, and says where", () => {
  test.each([
    ["{", "line 1, column 2: not valid JSON"],
    ['{\n  "scope": {\n    "block_patterns": [".env",]\n  }\n}', "line 3, column 31: not valid JSON"],
    ['{"scope": {"shared_paths": ["/"]}}', "line 1, column 29: scope.shared_paths.0: must be relative to the project"],
    ['{"scope": {"shared_paths": ["."]}}', "scope.shared_paths.0: must name a directory below the project root"],
    ['{"scope": {"shared_paths": ["../other"]}}', "scope.shared_paths.0: must not leave the project"],
    ['{"scope": {"shared_paths": ["**"]}}', "scope.shared_paths.0: must be a directory of the project"],
    ['{"scope": {"block_patterns": ".env"}}', "line 1, column 12: scope.block_patterns: invalid input"],
    ['{"tools": {"whitelisted_binaries": ["npm install"]}}', "must be the name of one program"],
    ['{"tools": {"allow_legacy_run_command": "yes"}}', "tools.allow_legacy_run_command: invalid input"],
    ['{"secrets": {"redact_patterns": ["..."]}}', "secrets.redact_patterns.0: must begin with ASCII text"],
    ['{"secrets": {"redact_patterns": ["a..."]}}', "or it would hide ordinary text"],
    ['{"secrets": {"redact_patterns": ["the"]}}', "must have 6 characters at least"],
    ['{"scope": {"service_isolation": "LOOSE"}}', "scope.service_isolation: invalid option"],
    ['{"scope": {}, "scope": {}}', "an object names a member twice"],
    ['{"__proto__": {"scope": {}}}', "the member name `__proto__` is not allowed"],
    [`${"[".repeat(300)}${"]".repeat(300)}`, "nested more than"],
    ["[]", "file: invalid input"],
    ["", "line 1, column 1: not valid JSON"],
  ])("%j: %s", async (text, problem) => {
    const place = project(text);
    const { answer } = await open(place);
    const shown = await answer("read_file", { path: "a.ts" });
    expect(shown).toContain('"kind":"denied"');
    expect(shown).toContain(problem);
  });

  test("so does one that is too large, and one that is a link or lies behind one", async () => {
    const large = project(`{"scope": {}, "more": "${"x".repeat(70_000)}"}`);
    expect(await (await open(large)).answer("read_file", { path: "a.ts" })).toMatch(/of at most \d+ KiB/);
    const linked = project({});
    const service = join(linked.workspace, "service");
    linked.put("outside/config.json", JSON.stringify({ secret: "text of somebody else's" }));
    renameSync(join(service, FILE), join(service, "config.json"));
    symlinkSync(join(linked.outside, "config.json"), join(service, FILE));
    const shown = await (await open(linked)).answer("read_file", { path: "a.ts" });
    expect(shown).toContain("regular file and no link");
    expect(shown).not.toContain("somebody");
    const behind = project(undefined);
    behind.put("outside/config.json", JSON.stringify({ scope: { shared_paths: ["/"] } }));
    symlinkSync(behind.outside, join(behind.workspace, "service", ".flow"));
    expect(await (await open(behind)).answer("read_file", { path: "a.ts" })).toContain("a directory and no link");
  });

  test("and it is open again as soon as the file is valid", async () => {
    const place = project("{");
    const { ends } = await open(place);
    expect(await ends("read_file", { path: "a.ts" })).not.toBe("ok");
    place.put(`workspace/service/${FILE}`, "{}");
    expect(await ends("read_file", { path: "a.ts" })).toBe("ok");
  });
});

describe("no agent writes it", () => {
  const WIDER = JSON.stringify({ tools: { whitelisted_binaries: ["*"] } });

  test.each([FILE, ".FLOW/config.json", "sub/.flow/config.json", "./.flow//config.json"])(
    "by a file tool: %s",
    async (path) => {
      const place = project({ tools: { whitelisted_binaries: ["ls"] } });
      const { ends } = await open(place);
      for (const [tool, args] of [
        ["write_file", { path, content: WIDER }],
        ["edit_file", { path, edits: [{ operation: "replace", spec: "ls", content: "*" }] }],
        ["delete_file", { path }],
      ] as const)
        expect([tool, await ends(tool, args)]).toEqual([tool, "workspace_read_only ZONE:shared"]);
    },
  );

  test("by a command: in its view it may, and nothing of it lands", async () => {
    const place = project({ scope: { block_patterns: ["private"] } });
    const { ends } = await open(place);
    const file = join(place.workspace, "service", FILE);
    const before = readFileSync(file, "utf8");
    for (const command of [
      `echo '${WIDER}' > ${FILE}`,
      `rm -f ${FILE}`,
      `mv .flow flow; mkdir .flow; echo '${WIDER}' > ${FILE}`,
      `rm -rf .flow; ln -s /tmp .flow`,
      `ln -f a.ts ${FILE}`,
    ]) {
      await ends("shell", { command });
      expect([command, readFileSync(file, "utf8")]).toEqual([command, before]);
    }
    // The control: another file of the directory lands.
    await ends("shell", { command: "echo x > .flow/notes.txt" });
    expect(readFileSync(join(place.workspace, "service", ".flow/notes.txt"), "utf8")).toBe("x\n");
  });

  test("where there is none, neither makes one", async () => {
    const place = project(undefined);
    const { ends } = await open(place);
    expect(await ends("write_file", { path: FILE, content: WIDER })).toBe("workspace_read_only ZONE:shared");
    await ends("shell", { command: `mkdir -p .flow && echo '${WIDER}' > ${FILE}` });
    expect(() => readFileSync(join(place.workspace, "service", FILE))).toThrow(/ENOENT/);
  });

  test("by a checkout of another branch", async () => {
    const place = freshPlace();
    const service = join(place.workspace, "service");
    mkdirSync(service);
    const git = plainGit(service);
    git.git("init", "--quiet", "--initial-branch=main");
    git.commit("narrow", { "a.ts": "text\n", [FILE]: JSON.stringify({ scope: { block_patterns: ["private"] } }) });
    git.git("checkout", "--quiet", "-b", "wide");
    git.commit("wide", { [FILE]: WIDER, "b.ts": "new\n" });
    git.git("checkout", "--quiet", "main");
    git.git("checkout", "--quiet", "-b", "work");
    const { ends } = await open(place);
    const before = readFileSync(join(service, FILE), "utf8");
    expect(await ends("git_checkout", { branch: "wide" })).toBe("PERMISSION_DENIED");
    expect(await ends("git", { operation: "CHECKOUT", args: ["wide", "--", FILE] })).not.toBe("ok");
    expect(readFileSync(join(service, FILE), "utf8")).toBe(before);
    // The control: a branch that leaves the file alone is checked out, and plain git would have changed it.
    git.git("branch", "same", "work");
    expect(await ends("git_checkout", { branch: "same" })).toBe("ok");
    git.git("checkout", "--quiet", "wide");
    expect(readFileSync(join(service, FILE), "utf8")).toBe(WIDER);
  });

  test("a file beside it that people change takes effect with the next call", async () => {
    const place = project({});
    const { ends } = await open(place);
    expect(await ends("read_file", { path: "private/a.ts" })).toBe("ok");
    writeFileSync(join(place.workspace, "service", FILE), JSON.stringify({ scope: { block_patterns: ["private"] } }));
    await expect
      .poll(() => ends("read_file", { path: "private/a.ts" }), { timeout: 30_000 })
      .toBe("workspace_blocked_zone ZONE:secret");
  });
});
