// The bundled service is tested and linted by its own tools in the real sandbox: what passes, what fails, and what is
// missing.
import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";
import type { Tool, ToolContext } from "../../../src/model/tool/tool.ts";
import type { ExecRequest } from "../../../src/model/work/exec.ts";
import type { ChosenToolchain } from "../../../src/model/work/toolchain.ts";
import { openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { projectFiles } from "../../../src/sandbox/files/project-files.ts";
import { SANDBOX_USER_ID } from "../../../src/sandbox/identity/identity.ts";
import { runLint, runTest } from "../../../src/tools/toolchain/check-tools.ts";
import { newSandboxPlace, type SandboxPlace } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
  cpSync("examples/service", place.root, { recursive: true });
  for (const entry of readdirSync(place.root, { recursive: true, encoding: "utf8" }))
    ownedBySandbox(join(place.root, entry));
});
afterEach(() => place.close());

function ownedBySandbox(path: string): void {
  chmodSync(path, 0o755);
  if (process.geteuid?.() === 0) chownSync(path, SANDBOX_USER_ID, SANDBOX_USER_ID);
}

const shown = (text: string) => ({ head: text, tail: "", omittedBytes: 0, totalBytes: text.length });

/** The tool with the real sandbox behind it, and nothing between them that could help. */
async function run(tool: Tool<never>, args: object, chosen: ChosenToolchain = {}): Promise<unknown> {
  const workspace = {
    serviceRoot: place.root,
    projectRoot: place.root,
    sharedPaths: [],
    zones: compileZones(BUILT_IN_ZONE_RULES, ""),
  };
  const roots = openWorkspaceRoots(workspace);
  const toolchain = { files: projectFiles(workspace, roots), chosen };
  roots.close();
  const exec = {
    async run({ command, environment = {} }: ExecRequest) {
      const { stdout, stderr, end } = await place.run("shell" in command ? command.shell : command.argv, {
        environment,
      });
      return { ...end, stdout: shown(stdout), stderr: shown(stderr) };
    },
  };
  const context = { toolchain: () => toolchain, exec } as unknown as ToolContext;
  try {
    return await tool.execute(tool.parameters.parse(args), context);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { code: error.code, message: error.message, suggestion: error.suggestion };
  }
}

function change(name: string, from: string, to: string): void {
  const path = join(place.root, name);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

test("the service passes its tests and its linter", async () => {
  expect(await run(runTest as Tool<never>, {})).toMatchObject({
    data: { command: "npm test", source: "package.json", passed: true, exit_code: 0, tests: { failed: 0 } },
  });
  expect(await run(runLint as Tool<never>, {})).toMatchObject({
    data: { command: "npm run lint", source: "package.json", passed: true, exit_code: 0 },
  });
});

test("one file of tests is run alone", async () => {
  const result = await run(runTest as Tool<never>, { target: "test/order.test.js" });
  expect(result).toMatchObject({
    data: { command: "npm test -- test/order.test.js", passed: true, tests: { passed: 2, failed: 0 } },
  });
});

test("a test that fails is a result that shows the failure", async () => {
  change("src/order.js", "0.95", "0.9");
  const result = (await run(runTest as Tool<never>, { truncation_strategy: "ERRORS:60" })) as {
    data: { stdout: string };
  };
  expect(result).toMatchObject({ data: { passed: false, exit_code: 1, tests: { failed: 1 } } });
  expect(result.data.stdout).toContain("a large order gets five percent off");
  expect(result.data.stdout.split("\n").length).toBeLessThan(90);
});

test("what the linter finds is a result", async () => {
  change("src/order.js", "const sum", "var sum");
  const result = (await run(runLint as Tool<never>, {})) as { data: { stdout: string; stderr: string } };
  expect(result).toMatchObject({ data: { passed: false, exit_code: 1 } });
  expect(result.data.stdout + result.data.stderr).toContain("src/order.js:3");
});

test("a program that is not there is named, with where it was looked for", async () => {
  expect(await run(runTest as Tool<never>, {}, { test: ["no-such-runner", "--all"] })).toEqual({
    code: "NOT_SUPPORTED",
    message: expect.stringMatching(
      /^the program `no-such-runner` is not installed where commands look for programs: .*\/usr\/bin/,
    ),
    suggestion: expect.stringContaining("sandbox.toolchains"),
  });
});

test("a target reaches a project's script as one word, and never its shell", async () => {
  const show = `node -e "console.log(JSON.stringify(process.argv.slice(1)))" --`;
  writeFileSync(join(place.root, "package.json"), JSON.stringify({ name: "x", scripts: { test: show } }));
  for (const wanted of ["a b", "(a)", "[id]", "{a,b}", "*", "~", "a#b", "@a", "a=b", "é", "a:b%c"]) {
    const result = (await run(runTest as Tool<never>, { target: wanted })) as { data: { stdout: string } };
    const shownTarget = /^[\p{L}\p{N}_.]/u.test(wanted) ? wanted : `./${wanted}`;
    expect(result.data.stdout.split("\n").at(-1)).toBe(JSON.stringify([shownTarget]));
  }
  // The control: what the schema refuses would reach a shell where a script hands it on without quotes.
  writeFileSync(
    join(place.root, "package.json"),
    JSON.stringify({ name: "x", scripts: { test: "f() { eval echo $1; }; f" } }),
  );
  expect((await place.run(["npm", "test", "--", "$(id -u)"])).stdout).toContain("1000");
  expect(runTest.parameters.safeParse({ target: "$(id -u)" }).success).toBe(false);
});

test("the operator's own command runs in the workspace", async () => {
  writeFileSync(join(place.root, "check.sh"), '#!/bin/sh\necho "checked $1 in $PWD"\n');
  ownedBySandbox(join(place.root, "check.sh"));
  expect(await run(runTest as Tool<never>, { target: "src" }, { test: ["./check.sh"] })).toMatchObject({
    data: { command: "./check.sh src", source: "handrail.yaml", passed: true, stdout: "checked src in /workspace" },
  });
});
