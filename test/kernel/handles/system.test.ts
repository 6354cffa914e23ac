// System tools through the whole pipeline: for whom, after what, on what, and how it is recorded.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { INITIAL_MARK } from "../../../src/flow/flow.ts";
import { commandOf } from "../../../src/model/place/command.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { isSystemTool, SYSTEM_TOOLS, type SystemSettings } from "../../../src/model/work/system.ts";
import { systemTools } from "../../../src/tools/system/system-tools.ts";
import { approve, pending } from "../../support/asking.ts";
import { systemSettingsOf } from "../../support/machine-place.ts";
import { memoryKernel, testTool } from "../../support/memory-kernel.ts";
import { systemKernel } from "../../support/system-kernel.ts";

const CALLS: Readonly<Record<(typeof SYSTEM_TOOLS)[number], JsonObject>> = {
  install_package: { manager: "apt", package: "curl", version: "7.88.1-10+deb12u5" },
  verify_binary: { binary_name: "pg_dump" },
  system_ctl: { service: "docker", action: "restart" },
  migrate_config: { target_version: 3 },
};

const SRE = { preset: "open", settings: { armed: true }, session: { role: "sre" } } as const;

function denial({ outcome }: CallResponse): readonly string[] {
  if (outcome.kind !== "denied") return [outcome.kind];
  return [outcome.denial.layer, outcome.denial.reason, outcome.denial.ruleId];
}

function data({ outcome }: CallResponse): JsonObject {
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

function messageOf({ outcome }: CallResponse): string {
  if (outcome.kind === "success") return "";
  return outcome.kind === "denied"
    ? outcome.denial.message
    : `${outcome.code}: ${outcome.message}; ${outcome.suggestion}`;
}

describe.each(SYSTEM_TOOLS)("%s", (tool) => {
  test.each(["dev", "release_manager", "product_owner", "auditor"])(
    "is refused to the role %s, and that is critical",
    async (role) => {
      const kernel = await systemKernel({ session: { role } });
      expect(denial(await kernel.call(tool, CALLS[tool]))).toEqual(["scope", "permission_denied", `RBAC:${tool}`]);
      expect(kernel.ledger.of("tool_execution_denied").map(({ payload }) => payload["severity"])).toEqual(["critical"]);
      expect(kernel.place.log()).toBe("");
    },
  );

  test("needs arming, and then asks a person; each refusal and what is done is critical", async () => {
    const unarmed = await systemKernel({ preset: "dev", settings: { armed: false } });
    expect(denial(await unarmed.call(tool, CALLS[tool]))).toEqual([
      "gates",
      "tool_requires_arming",
      expect.any(String),
    ]);
    const unasked = await systemKernel({ preset: "dev" });
    expect(denial(await unasked.call(tool, CALLS[tool]))).toEqual([
      "approval",
      "tool_approval_required",
      expect.any(String),
    ]);
    const all = [...unarmed.ledger.events, ...unasked.ledger.events].filter(
      ({ type }) => type === "tool_execution_denied",
    );
    expect(all.map(({ payload }) => payload["severity"])).toEqual(["critical", "critical"]);
    expect(unarmed.place.log() + unasked.place.log()).toBe("");
  });

  test("is not there without the operator's word, and says which; that is critical too", async () => {
    const kernel = await memoryKernel({ session: { role: "sre" } });
    const answer = await kernel.call(tool, CALLS[tool]);
    expect(denial(answer)).toEqual(["gates", "tool_not_allowed", "SYSTEM:off"]);
    expect(messageOf(answer)).toContain("`system` in handrail.yaml");
    expect(kernel.ledger.of("tool_execution_denied")[0]?.payload).toMatchObject({ tool, severity: "critical" });
  });
});

test("without anything listed there is nothing but looking; every name is known", () => {
  expect(systemTools(systemSettingsOf({})).map(({ name }) => name)).toEqual(["verify_binary"]);
  expect(SYSTEM_TOOLS.every(isSystemTool)).toBe(true);
  expect(isSystemTool("read_file")).toBe(false);
});

test("what changes the machine stands in the ledger before it happens and after, as critical, with the command and who it ran as", async () => {
  const kernel = await systemKernel();
  const order: string[] = [];
  kernel.ledger.before = ({ type }) => void order.push(`${type} ${kernel.place.log() === "" ? "before" : "after"}`);
  expect(data(await kernel.call("system_ctl", CALLS.system_ctl))).toMatchObject({ ok: true, exit_code: 0 });
  expect(order.filter((line) => line.startsWith("tool_"))).toEqual(["tool_selected before", "tool_executed after"]);
  const [intent, outcome] = [kernel.ledger.of("tool_selected")[0], kernel.ledger.of("tool_executed")[0]];
  const program = kernel.system.services?.program;
  expect(intent).toMatchObject({ durability: "durable", intent: true });
  expect(intent?.payload).toMatchObject({
    severity: "critical",
    role: "sre",
    accesses: [
      { kind: "command", effect: "system", line: `${program} restart --no-pager --no-ask-password -- docker` },
    ],
  });
  expect(outcome?.payload).toMatchObject({
    success: true,
    severity: "critical",
    sandbox: { backend: "none", network: "host", userId: process.geteuid?.() },
    commands: [{ exitCode: 0 }],
  });
});

test("a person who approves sees the command and the package; then it runs once", async () => {
  const kernel = await systemKernel({ preset: "dev", approvers: true });
  const running = kernel.call("install_package", CALLS.install_package);
  const { ref, document } = await pending(kernel);
  const shown = JSON.stringify(document);
  expect(shown).toContain("curl=7.88.1-10+deb12u5");
  expect(shown).toContain("changes the machine itself");
  await approve(kernel, ref);
  expect(data(await running)).toMatchObject({ installed: true });
});

test("what a program prints is redacted and bounded", async () => {
  const kernel = await systemKernel();
  const secret = `ghp_${"a1B2".repeat(9)}`;
  kernel.place.program("systemctl", `echo "token ${secret}"; head -c 200000 /dev/zero | tr '\\0' x`);
  const result = data(await kernel.call("system_ctl", { service: "docker", action: "status" }));
  expect(result["stdout"]).not.toContain(secret.slice(4));
  expect(String(result["stdout"]).length).toBeLessThan(101_000);
  expect(result["omitted_bytes"]).toBeGreaterThan(90_000);
});

test("a service that is down is a result; one that is not listed is refused, whatever it is called", async () => {
  const kernel = await systemKernel();
  kernel.place.program("systemctl", "echo inactive; exit 3");
  expect(data(await kernel.call("system_ctl", { service: "app@1.service", action: "status" }))).toMatchObject({
    ok: false,
    exit_code: 3,
  });
  for (const service of [
    "nginx",
    "/etc/systemd/system/docker.service",
    "../docker",
    "-H=evil",
    "--help",
    "docker.service",
    "docker nginx",
    "*",
    "",
  ]) {
    const answer = await kernel.call("system_ctl", { service, action: "status" });
    expect([service, ...denial(answer)]).toEqual([service, "call", "tool_input_invalid", "SCHEMA:system_ctl"]);
    expect(messageOf(answer)).toContain("services that the operator lists");
  }
  for (const action of ["stop", "start", "mask", "--force"])
    expect(denial(await kernel.call("system_ctl", { service: "docker", action }))).toMatchObject({
      1: "tool_input_invalid",
    });
});

describe("install_package", () => {
  const calls: readonly (readonly [string, string, string, readonly string[]])[] = [
    ["apt", "g++:amd64", "4:12.2.0-3", ["apt-get", "install", "--yes", "--no-remove", "--no-install-recommends"]],
    [
      "cargo",
      "ripgrep",
      "14.1.0",
      ["cargo", "install", "--locked", "--root=/opt/tools", "--version==14.1.0", "--", "ripgrep"],
    ],
    [
      "npm-g",
      "@scope/tool",
      "1.2.3-rc.1",
      ["npm", "install", "--global", "--ignore-scripts", "--no-audit", "--no-fund", "--", "@scope/tool@1.2.3-rc.1"],
    ],
  ];
  test.each(calls)("%s installs %s in the very version", async (manager, name, version, words) => {
    const kernel = await systemKernel();
    expect(data(await kernel.call("install_package", { manager, package: name, version }))).toMatchObject({
      installed: true,
    });
    const called = kernel.place.log().trimEnd().split("\n");
    expect(called.slice(0, words.length)).toEqual(words);
    if (manager === "apt") expect(called.slice(-2)).toEqual(["--", `${name}=${version}`]);
    expect(kernel.ledger.of("tool_selected")[0]?.payload).toMatchObject({
      accesses: [
        { kind: "package", manager, name, version, effect: "network" },
        { kind: "command", effect: "system" },
      ],
    });
  });

  test.each([
    ["npm", "`install_dependencies` with the manager `npm`"],
    ["yarn", "`install_dependencies` with the manager `npm`"],
    ["pip", "`install_dependencies` with the manager `poetry`"],
    ["poetry", "`install_dependencies` with the manager `poetry`"],
    ["brew", "must be one of `apt`, `cargo`, `npm-g`"],
    ["constructor", "must be one of"],
  ])("%s is refused with what to use", async (manager, use) => {
    const kernel = await systemKernel();
    const answer = await kernel.call("install_package", { manager, package: "left-pad", version: "1.3.0" });
    expect(denial(answer)).toEqual(["call", "tool_input_invalid", "SCHEMA:install_package"]);
    expect(messageOf(answer)).toContain(use);
  });

  const HOSTILE: readonly (readonly [string, string, string])[] = [
    ...[
      "-o=Dir::Bin::dpkg=/tmp/x",
      "--allow-downgrades",
      "./evil.deb",
      "/tmp/evil.deb",
      "curl-",
      "curl=1",
      "a b",
      "curl;id",
      "CURL",
      "curl/stable",
      "^curl$",
      "..",
      "",
    ].map((name) => ["apt", name, "1.0"] as const),
    ...["1.0;id", "1.0-", "1.0+", "-1", "latest", "*", "1.0 2.0", "$(id)", "1.0\n", ""].map(
      (version) => ["apt", "curl", version] as const,
    ),
    ...["--git=https://evil", "-x", "a@1", "a/b", "../a", "https://evil", ""].map(
      (name) => ["cargo", name, "1.0.0"] as const,
    ),
    ...["^1.0.0", "1", ">=1.0.0", "1.0.0 --git x", "latest", "*", "01.0.0"].map(
      (version) => ["cargo", "ripgrep", version] as const,
    ),
    ...[
      "git+https://evil/x",
      "file:../x",
      "../x",
      "./x",
      "-g",
      "x@npm:y",
      "@a",
      "@a/../b",
      "http://evil/x.tgz",
      "alias@npm:evil",
    ].map((name) => ["npm-g", name, "1.0.0"] as const),
    ...["latest", "^1.0.0", "1.x", "npm:evil@1.0.0", "git+ssh://x", "1.0.0 evil"].map(
      (version) => ["npm-g", "typescript", version] as const,
    ),
  ];
  test("nothing but a plain name and an exact version reaches a program", async () => {
    const kernel = await systemKernel();
    for (const [manager, name, version] of HOSTILE) {
      const answer = await kernel.call("install_package", { manager, package: name, version });
      expect([manager, name, version, ...denial(answer)]).toEqual([
        manager,
        name,
        version,
        "call",
        "tool_input_invalid",
        "SCHEMA:install_package",
      ]);
    }
    expect(kernel.place.log()).toBe("");
  });

  test("a package that cannot be installed is a result; one that takes too long is of unknown outcome", async () => {
    const kernel = await systemKernel();
    kernel.place.program("apt-get", "echo 'E: Version was not found' >&2; exit 100");
    expect(data(await kernel.call("install_package", CALLS.install_package))).toMatchObject({
      installed: false,
      exit_code: 100,
      stderr: "E: Version was not found\n",
    });
    kernel.place.program("cargo", "sleep 30");
    const { cargo } = kernel.system.packages;
    const slow = await systemKernel({
      system: { ...kernel.system, packages: { ...(cargo && { cargo: { ...cargo, timeoutMs: 300 } }) } },
    });
    const answer = await slow.call("install_package", { manager: "cargo", package: "ripgrep", version: "14.1.0" });
    expect(messageOf(answer)).toContain("OUTCOME_UNKNOWN: the command took too long");
  });

  test("after secret content was seen no name of a package leaves", async () => {
    const kernel = await systemKernel();
    await kernel.marks.raiseMark(
      kernel.session,
      { initial: INITIAL_MARK, seen: { trustLevel: "user", dataClass: "secret" } },
      kernel.time.nowMs,
    );
    expect(denial(await kernel.call("install_package", CALLS.install_package))).toEqual([
      "flow",
      "flow_secret_egress",
      "FC-2",
    ]);
    // the control: what stays here may go on
    expect(data(await kernel.call("system_ctl", CALLS.system_ctl))).toMatchObject({ ok: true });
  });
});

describe("verify_binary", () => {
  test("runs what the operator lists and compares what it says; anything else is looked at and not run", async () => {
    const kernel = await systemKernel();
    const path = kernel.system.binaries["pg_dump"]?.program as string;
    const verify = async (args: JsonObject) =>
      data(await kernel.call("verify_binary", { binary_name: "pg_dump", ...args }));
    expect(await verify({ version: "15.6", path })).toMatchObject({ found: true, verified: true, differs: [] });
    for (const version of ["15", "5.6", "15.60", "16"])
      expect(await verify({ version })).toMatchObject({ verified: false, differs: ["version"] });
    expect(await verify({ path: "/usr/bin/pg_dump", sha256: "0".repeat(64) })).toMatchObject({
      verified: false,
      differs: ["path", "sha256"],
    });
    const { sha256 } = await verify({});
    expect(await verify({ sha256: String(sha256) })).toMatchObject({ verified: true });
    kernel.place.program("looked", "touch $LOG.looked");
    expect(data(await kernel.call("verify_binary", { binary_name: "looked" }))).toMatchObject({
      found: true,
      verified: true,
    });
    expect(existsSync(`${kernel.place.base}/log.looked`)).toBe(false);
    expect(existsSync(`${kernel.place.base}/log.ran`)).toBe(true);
    expect(data(await kernel.call("verify_binary", { binary_name: "none" }))).toEqual({
      found: false,
      verified: false,
    });
    expect(messageOf(await kernel.call("verify_binary", { binary_name: "looked", version: "1" }))).toContain(
      "NOT_SUPPORTED",
    );
  });

  test.each(["../sh", "/bin/sh", "-x", "a b", "", "sh;id", "."])("%j is no name", async (name) => {
    const kernel = await systemKernel();
    expect(denial(await kernel.call("verify_binary", { binary_name: name }))).toMatchObject({
      1: "tool_input_invalid",
    });
  });

  test("one that fails, or that others could change, is not verified", async () => {
    const kernel = await systemKernel();
    kernel.place.program("pg_dump", "exit 1");
    expect(data(await kernel.call("verify_binary", { binary_name: "pg_dump" }))).toMatchObject({
      found: true,
      verified: false,
    });
    kernel.place.program("open", "exit 0", 0o757);
    expect(data(await kernel.call("verify_binary", { binary_name: "open" }))).toMatchObject({
      verified: false,
      problem: "can be written by others",
    });
  });
});

test("what the operator takes away meanwhile does not run any more", async () => {
  const { system, place } = await systemKernel();
  const now = { settings: system as SystemSettings | undefined };
  const kernel = await memoryKernel({ ...SRE, tools: systemTools(system), settingsOfSystem: () => now.settings });
  expect(data(await kernel.call("system_ctl", CALLS.system_ctl))).toMatchObject({ ok: true }); // the control
  const before = place.log();
  now.settings = systemSettingsOf({ path: system.path });
  expect(messageOf(await kernel.call("system_ctl", CALLS.system_ctl))).toContain("NOT_SUPPORTED: ");
  now.settings = undefined;
  expect(messageOf(await kernel.call("system_ctl", CALLS.system_ctl))).toContain("`system` in handrail.yaml");
  expect(place.log()).toBe(before);
});

test("a tool that does not declare itself as one of the machine's has no machine, and one that does runs what it named", async () => {
  const { system, place } = await systemKernel();
  const program = system.services?.program ?? "";
  const probe = (effect: "exec" | "system", line: readonly [string, ...string[]]) =>
    testTool(
      "probe",
      async (_args, { machine }) => {
        await machine.run({ argv: [program, "restart"], asRoot: false, timeoutMs: 5000 });
        return { kind: "data", data: {} };
      },
      { effect },
      () => [{ resource: commandOf(line), effect: "system" }],
    );
  const call = async (tool: Tool) => {
    const kernel = await memoryKernel({ ...SRE, tools: [tool], settingsOfSystem: () => system });
    const answer = await kernel.call("probe", { path: "x" });
    return [...denial(answer), messageOf(answer)];
  };
  expect(await call(probe("exec", [program, "restart"]))).toEqual([
    "error",
    expect.stringContaining("declares the effect class `system`"),
  ]);
  expect(await call(probe("system", [program, "status"]))).toEqual([
    "scope",
    "permission_denied",
    "ANALYSE:probe",
    expect.any(String),
  ]);
  expect(place.log()).toBe("");
  expect(await call(probe("system", [program, "restart"]))).toEqual(["success", ""]); // the control
  expect(place.log()).toBe("systemctl\nrestart\n");
});
