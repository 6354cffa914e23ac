// Tests, linters and installations in the pipeline: the command that the project names is what leases, policy and
// evidence see, and what runs.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Tool, ToolContext } from "../../../src/model/tool/tool.ts";
import type { ExecOutcome, ExecRequest } from "../../../src/model/work/exec.ts";
import type { Toolchain } from "../../../src/model/work/toolchain.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { toolchainTools } from "../../../src/tools/toolchain/toolchain-tools.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";

const NOTHING = { head: "", tail: "", omittedBytes: 0, totalBytes: 0 };
const FINE: ExecOutcome = {
  exitCode: 0,
  stdout: { ...NOTHING, head: "# pass 2\n# fail 0\n", totalBytes: 18 },
  stderr: NOTHING,
  durationMs: 12.3,
  enforced: { backend: "bwrap", namespaces: [], memory: "cgroup", processes: "cgroup", network: "none", userId: 1 },
};

interface Watched {
  readonly kernel: MemoryKernel;
  /** What the tools asked to run. */
  readonly requests: readonly ExecRequest[];
  readonly put: (name: string, text: string) => void;
  readonly ask: (tool: string, args?: object) => Promise<string>;
}

/** A kernel whose runs are written down, and end well. */
async function watched(options: MemoryKernelOptions = {}, before?: (root: string) => void): Promise<Watched> {
  const requests: ExecRequest[] = [];
  let root = "";
  const exec = {
    run: async (request: ExecRequest) => {
      requests.push(request);
      return FINE;
    },
  };
  const tools = toolchainTools.map((tool): Tool => {
    const execute = (args: unknown, context: ToolContext) => {
      before?.(root);
      return tool.execute(
        args,
        new Proxy(context, { get: (held, name) => (name === "exec" ? exec : Reflect.get(held, name)) }),
      );
    };
    return { ...tool, execute };
  });
  const kernel = await memoryKernel({ tools, ...options });
  root = kernel.root;
  return {
    kernel,
    requests,
    put: (name, text) => writeFileSync(join(root, name), text),
    async ask(tool, args = {}) {
      const { outcome } = await kernel.call(tool, { ...args });
      if (outcome.kind === "denied")
        return `${outcome.denial.reason} ${outcome.denial.ruleId.replace(/^LEASE:.*/, "LEASE")}`;
      return outcome.kind === "error" ? `${outcome.code}: ${outcome.message}` : "ran";
    },
  };
}

const PACKAGE = JSON.stringify({ scripts: { test: "node --test", lint: "node lint.js" } });
/** Lock files that name nothing, each with the manifest that belongs to it. */
const NPM_LOCK = JSON.stringify({ lockfileVersion: 3, packages: { "": {} } });
const LOCKED = {
  npm: ["package.json", "{}", NPM_LOCK],
  poetry: ["pyproject.toml", "", "[metadata]\n"],
  cargo: ["Cargo.toml", "", "version = 4\n"],
} as const;
const withPackage = async (options: MemoryKernelOptions = {}, before?: (root: string) => void): Promise<Watched> => {
  const place = await watched(options, before);
  place.put("package.json", PACKAGE);
  place.put("package-lock.json", NPM_LOCK);
  return place;
};

test("a developer tests and lints; the result counts, and evidence names the command", async () => {
  const { kernel, requests } = await withPackage();
  const { outcome } = await kernel.call("run_test", { target: "test" });
  expect(outcome).toMatchObject({
    kind: "success",
    data: {
      command: "npm test -- test",
      source: "package.json",
      passed: true,
      tests: { passed: 2, failed: 0 },
      exit_code: 0,
      stdout: "# pass 2\n# fail 0",
      stderr: "",
      duration_ms: 12,
    },
  });
  expect(requests).toEqual([
    {
      command: { argv: ["npm", "test", "--", "test"] },
      environment: { CI: "1", NO_COLOR: "1" },
      timeoutMs: 0,
      keptBytesMax: expect.any(Number),
    },
  ]);
  const recorded = JSON.stringify(kernel.ledger.events);
  expect(recorded).toContain('"line":"npm test -- test"');
});

test("what became of the files that a command changed and what it tried to reach are in every tool's result", async () => {
  const network = {
    ...{ allowed: 1, refused: 2, failed: 0, bytesOut: 10, bytesIn: 20 },
    problems: [{ host: "evil.example", port: 443, reason: "denied" }],
  };
  const outcome: ExecOutcome = {
    ...FINE,
    landed: { created: 2, changed: 1, removed: 0, notKept: [{ path: ".vscode", reason: "not_allowed" }] },
    network,
  };
  const said = {
    files: { created: 2, changed: 1, removed: 0 },
    not_kept: [{ path: ".vscode", reason: "not_allowed" }],
    network: { allowed: 1, refused: 2, failed: 0, bytes_out: 10, bytes_in: 20, problems: network.problems },
  };
  const further = { "package.json": { text: PACKAGE }, "package-lock.json": { text: NPM_LOCK } };
  const toolchain = (): Toolchain => ({ files: { "package.json": { text: PACKAGE } }, chosen: {}, further });
  const context = { toolchain, exec: { run: async () => outcome } } as unknown as ToolContext;
  for (const tool of toolchainTools as readonly Tool[]) {
    const result = await tool.execute(tool.name === "install_dependencies" ? { manager: "npm" } : {}, context);
    expect([tool.name, result]).toMatchObject([tool.name, { data: said }]);
    expect(Object.keys(tool.outputSchema?.["properties"] ?? {})).toEqual(expect.arrayContaining(Object.keys(said)));
  }
  expect(await shell.execute({ command: "true" }, context)).toMatchObject({ data: said });
  const quiet = await (toolchainTools as readonly Tool[])[0]?.execute(
    {},
    { ...context, exec: { run: async () => FINE } },
  );
  expect(Object.keys((quiet as { data: object }).data).filter((name) => name in said)).toEqual([]);
});

test("whoever may not run tests or install does not", async () => {
  const { kernel, ask, requests } = await withPackage({ session: { role: "product_owner" } });
  expect(await ask("run_test")).toMatch(/^permission_denied /);
  expect(await ask("install_dependencies", { manager: "npm" })).toMatch(/^permission_denied /);
  const reader = await withPackage({ preset: "reader" });
  expect(await reader.ask("run_test")).toMatch(/_denied /);
  expect([requests, reader.requests]).toEqual([[], []]);
  expect(kernel.internalErrors).toEqual([]);
});

test.each([
  ["npm", "package-lock.json"],
  ["poetry", "poetry.lock"],
  ["cargo", "Cargo.lock"],
] as const)("%s installs without a person, unless packages may run their scripts", async (manager, lockFile) => {
  const [manifest, described, lock] = LOCKED[manager];
  const asked = async (options: MemoryKernelOptions) => {
    const { put, ask, requests } = await watched(options);
    put(manifest, described);
    put(lockFile, lock);
    return [await ask("install_dependencies", { manager }), requests.length];
  };
  const scripts = { install: { scripts: true, registries: {} } };
  const whatAsks = manager === "cargo" ? ["ran", 1] : ["tool_approval_required dev.install-scripts", 0];
  expect([await asked({}), await asked({ toolchain: scripts })]).toEqual([["ran", 1], whatAsks]);
});

test("a lease for commands holds for the command that the project names", async () => {
  const scope = { commands: [["npm"]] };
  const { put, ask } = await withPackage({ scope });
  expect(await ask("run_test")).toBe("ran");
  put("package.json", JSON.stringify({ packageManager: "yarn@4", scripts: { test: "x" } }));
  expect(await ask("run_test")).toBe("lease_scope LEASE");
  put("package.json", "{}");
  expect(await ask("run_test")).toBe("lease_scope LEASE");
});

test("a policy about commands holds for the command that the project names", async () => {
  const policies = `@id("no.yarn")
@message("no yarn here; use npm")
forbid (principal, action, resource is Handrail::Command) when { resource.name == "yarn" };`;
  const { put, ask } = await withPackage({ policies });
  expect(await ask("run_test")).toBe("ran");
  put("package.json", JSON.stringify({ packageManager: "yarn@4", scripts: { test: "x" } }));
  expect(await ask("run_test")).toBe("run_test_denied no.yarn");
});

test("the files that name the command, and the target, are judged like every file", async () => {
  const { ask } = await withPackage();
  expect(await ask("run_test", { target: "../x" })).toBe("workspace_path_traversal INV-0007");
  expect(await ask("run_test", { target: "secrets/x" })).toBe("workspace_blocked_zone ZONE:secret");
  expect(await ask("run_test", { target: "node_modules/x" })).toBe("workspace_blocked_zone ZONE:managed");
  expect(await ask("run_test", { target: "--help" })).toBe("tool_input_invalid SCHEMA:run_test");
  const narrow = await withPackage({ scope: { readPaths: [["src/**"]] } });
  expect(await narrow.ask("run_test")).toBe("lease_scope LEASE");
});

test("what was analysed is what runs, also when the project's files change meanwhile", async () => {
  const { ask, requests } = await withPackage({}, (root) =>
    writeFileSync(join(root, "package.json"), '{"scripts":{}}'),
  );
  expect(await ask("run_test")).toBe("ran");
  expect(requests).toMatchObject([{ command: { argv: ["npm", "test"] } }]);
});

test("links, secret files and files that are too large name no command", async () => {
  const { kernel, put, ask } = await watched();
  put("real.json", PACKAGE);
  symlinkSync("real.json", join(kernel.root, "package.json"));
  expect(await ask("run_test")).toMatch(/^NOT_SUPPORTED: nothing in the workspace root says/);
  renameSync(join(kernel.root, "real.json"), join(kernel.root, "package.json"));
  expect(await ask("run_test")).toBe("ran");
  await kernel.rezone({ ownSecret: ["package.json"] });
  expect(await ask("run_test")).toMatch(/^NOT_SUPPORTED: nothing in the workspace root says/);
  const large = await watched();
  large.put("package.json", PACKAGE.padEnd(64 * 1024 + 1));
  expect(await large.ask("run_test")).toMatch(/^NOT_SUPPORTED: `package.json` is larger than 64 KiB/);
  const directory = await watched();
  mkdirSync(join(directory.kernel.root, "package.json"));
  expect(await directory.ask("run_test")).toMatch(/^NOT_SUPPORTED: nothing in the workspace root says/);
});

test("the operator's commands and times go before what files say", async () => {
  const { ask, requests } = await withPackage({ toolchain: { lint: ["./ci/lint", "-q"], timeoutMs: 600_000 } });
  expect([await ask("run_lint", { target: "src" }), await ask("run_test")]).toEqual(["ran", "ran"]);
  expect(requests.map(({ command, timeoutMs }) => ({ command, timeoutMs }))).toEqual([
    { command: { argv: ["./ci/lint", "-q", "src"] }, timeoutMs: 600_000 },
    { command: { argv: ["npm", "test"] }, timeoutMs: 600_000 },
  ]);
});

/** A permit that asks nobody, so that an installation goes on. */
const INSTALLS = `@id("test.install")
@message("goes")
@waives("*")
permit (principal, action == Handrail::Action::"install_dependencies", resource);`;

test.each([
  [
    "npm",
    "package-lock.json",
    ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
    ["registry.npmjs.org:443"],
  ],
  [
    "npm",
    "npm-shrinkwrap.json",
    ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
    ["registry.npmjs.org:443"],
  ],
  [
    "poetry",
    "poetry.lock",
    ["poetry", "install", "--no-root", "--no-interaction"],
    ["pypi.org:443", "files.pythonhosted.org:443"],
  ],
  [
    "cargo",
    "Cargo.lock",
    ["cargo", "fetch", "--locked", "--manifest-path=/workspace/Cargo.toml"],
    ["index.crates.io:443", "static.crates.io:443"],
  ],
] as const)("%s installs what %s names, and nothing without it", async (manager, lockFile, argv, hosts) => {
  const { put, ask, requests } = await watched({ policies: INSTALLS });
  expect(await ask("install_dependencies", { manager })).toMatch(/^NOT_SUPPORTED: the workspace root has no `/);
  expect(requests).toEqual([]);
  const [manifest, described, lock] = LOCKED[manager];
  put(manifest, described);
  put(lockFile, lock);
  expect(await ask("install_dependencies", { manager })).toBe("ran");
  expect(requests).toMatchObject([{ command: { argv }, hosts }]);
});

test("the operator names registries and allows scripts; a lease for hosts holds for them", async () => {
  const toolchain = { install: { scripts: true, registries: { npm: ["npm.example.com:8443"] } } };
  const { ask, requests } = await withPackage({
    policies: INSTALLS,
    toolchain,
    scope: { hosts: [["npm.example.com"]] },
  });
  expect(await ask("install_dependencies", { manager: "npm" })).toBe("ran");
  expect(requests).toMatchObject([
    { command: { argv: ["npm", "ci", "--no-audit", "--no-fund"] }, hosts: ["npm.example.com:8443"] },
  ]);
  expect(await ask("install_dependencies", { manager: "cargo" })).toBe("lease_scope LEASE");
});

test("managers and packages of the agent's own choice are refused", async () => {
  const { ask } = await withPackage({ policies: INSTALLS });
  for (const args of [{ manager: "pip" }, { manager: "npm", package: "left-pad" }, { manager: "npm ci; id" }, {}]) {
    expect(await ask("install_dependencies", args)).toBe("tool_input_invalid SCHEMA:install_dependencies");
  }
});

test("what an installation goes by is a regular file that may be read, and large ones are read whole", async () => {
  const { kernel, put, ask, requests } = await watched({ policies: INSTALLS });
  const install = () => ask("install_dependencies", { manager: "npm" });
  const at = (name: string) => join(kernel.root, name);
  put("package.json", "{}");
  put("real.json", NPM_LOCK);
  symlinkSync("real.json", at("package-lock.json"));
  expect(await install()).toBe(
    "NOT_SUPPORTED: `package-lock.json` is a link or no regular file; nothing was installed",
  );
  rmSync(at("package-lock.json"));
  mkdirSync(at("package-lock.json"));
  expect(await install()).toBe(
    "NOT_SUPPORTED: `package-lock.json` is a link or no regular file; nothing was installed",
  );
  rmSync(at("package-lock.json"), { recursive: true });
  symlinkSync("missing.json", at("package-lock.json"));
  expect(await install()).toMatch(/^NOT_SUPPORTED: (?:the workspace root has no|`package-lock.json` is a link)/);
  rmSync(at("package-lock.json"));
  put("package-lock.json", NPM_LOCK.padEnd(1024 * 1024));
  symlinkSync("real.json", at(".npmrc"));
  expect(await install()).toBe("NOT_SUPPORTED: `.npmrc` is a link or no regular file; nothing was installed");
  rmSync(at(".npmrc"));
  expect(requests).toEqual([]);
  expect(await install()).toBe("ran");
  put("package-lock.json", NPM_LOCK.padEnd(8 * 1024 * 1024 + 1));
  expect(await install()).toBe("NOT_SUPPORTED: `package-lock.json` is larger than 8192 KiB; nothing was installed");
  await kernel.rezone({ ownSecret: ["package-lock.json"] });
  expect(await install()).toMatch(/^NOT_SUPPORTED: the workspace root has no/);
  expect(kernel.internalErrors).toEqual([]);
});

test("a shrinkwrap goes before a lock file, as it does for npm, and the other one is not seen", async () => {
  const { put, ask, requests } = await withPackage({ policies: INSTALLS });
  put("npm-shrinkwrap.json", NPM_LOCK);
  put("package-lock.json", "{");
  expect(await ask("install_dependencies", { manager: "npm" })).toBe("ran");
  expect(requests[0]?.selection?.files.map(({ path }) => path)).toEqual(["npm-shrinkwrap.json", "package.json"]);
});

test("packages of the workspace are named by the lock file, bounded, and read as leases let", async () => {
  const { kernel, put, ask, requests } = await watched({
    policies: INSTALLS,
    scope: { readPaths: [["*", "packages/a/**"]] },
  });
  put("package.json", "{}");
  const lockOf = (members: readonly string[]) =>
    JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries(["", ...members].map((path) => [path, {}])) });
  const install = () => ask("install_dependencies", { manager: "npm" });
  for (const name of ["a", "b"]) {
    mkdirSync(join(kernel.root, "packages", name), { recursive: true });
    put(`packages/${name}/package.json`, '{"name":"x","scripts":{"prepare":"sh evil.sh"}}');
  }
  put("package-lock.json", lockOf(["packages/a"]));
  expect(await install()).toBe("ran");
  expect(requests[0]?.selection?.files.at(-1)).toEqual({ path: "packages/a/package.json", text: '{"name":"x"}' });
  put("package-lock.json", lockOf(["packages/b"]));
  expect(await install()).toBe("lease_scope LEASE");
  put("package-lock.json", lockOf(["packages/a", "packages/missing"]));
  expect(await install()).toBe("NOT_SUPPORTED: `packages/missing/package.json` is missing; nothing was installed");
  put("package-lock.json", lockOf(Array.from({ length: 501 }, (_, index) => `packages/a/${index}`)));
  expect(await install()).toMatch(/^NOT_SUPPORTED: `package-lock.json` names more than \d+ packages of the workspace/);
  put("package-lock.json", lockOf(["x".repeat(5000), "a\u202e", ".git/x", ".env"]));
  expect(await install()).toMatch(/^NOT_SUPPORTED|_denied|INV|ZONE|LEASE/);
  expect([requests.length, kernel.internalErrors]).toEqual([1, []]);
});
