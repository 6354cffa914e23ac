/**
 * Execution as agents meet it: the bundled service is tested, linted and worked on by real processes of the product, as
 * root and as an ordinary user, and all of it is in the ledger.
 */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { SANDBOX_USER_ID } from "../../../../src/sandbox/identity/identity.ts";
import { dataIn, environmentOf, handrail, launchOf, oneJsonLine, until } from "../../../support/command-line.ts";
import { commandOf } from "../../../support/mcp-result.ts";
import { givenTo, ORDINARY_USER_ID } from "../../../support/other-user.ts";
import { makePlace, type Place } from "../../../support/place.ts";
import { processesNaming } from "../../../support/sandbox-place.ts";

/** Each test starts the product several times, beside another test that may do so too. */
const TEST_MS_MAX = 300_000;

const own = process.geteuid?.() ?? 0;
/** As whom the kernel runs, and as whom its commands count on the machine. */
const USERS =
  own === 0
    ? [
        { name: "root", kernel: 0, commands: SANDBOX_USER_ID },
        { name: "an ordinary user", kernel: ORDINARY_USER_ID, commands: ORDINARY_USER_ID },
      ]
    : [{ name: "an ordinary user", kernel: own, commands: own }];

/** A result of a tool, from either front door. */
interface Result {
  readonly status: string;
  readonly data: JsonObject & { readonly stdout: string; readonly stderr: string };
  readonly error?: { readonly code: string; readonly rule_id?: string };
  readonly metadata: { readonly ledger_sequence: number; readonly rules: readonly string[] };
}

/** A place with the service in it, closed to everybody but its owner. */
function servicePlace(kernel: number): Place {
  const place = makePlace();
  cpSync("examples/service", place.workspace, { recursive: true });
  for (const name of readdirSync(place.workspace, { recursive: true, encoding: "utf8" })) {
    const path = join(place.workspace, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600);
  }
  return kernel === own ? place : givenTo(place, kernel);
}

/** A session over MCP. */
async function connected(place: Place, ...more: readonly string[]) {
  const { command, args, environment } = launchOf(place, ["mcp", "--workspace", place.workspace, ...more]);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: environmentOf(place, environment), stderr: "ignore" }),
  );
  const call = async (name: string, args: object, options: Parameters<Client["callTool"]>[1] = {}): Promise<Result> => {
    const result = await client.callTool({ name, arguments: { ...args } }, { timeout: 120_000, ...options });
    return commandOf(result) as unknown as Result;
  };
  return { client, call };
}

/** An entry of the ledger. */
interface Entry {
  readonly sequence: number;
  readonly eventType: string;
  readonly intent: boolean;
  readonly closes: number;
  readonly payload: JsonObject;
}

/** The ledger as the place's owner is shown it; its chain is intact. */
async function ledgerOf(place: Place): Promise<readonly Entry[]> {
  const verified = await handrail(place, ["ledger", "verify"]);
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
  const { stdout } = await handrail(place, ["ledger", "tail", "-n", "1000", "--json"]);
  return dataIn<Entry[]>(stdout);
}

function entry(ledger: readonly Entry[], sequence: number): Entry {
  const found = ledger.find((one) => one.sequence === sequence);
  if (found === undefined) throw new Error(`the ledger shows no entry ${sequence}`);
  return found;
}

/** What stands in the ledger of a call that ran commands, in its intent and in its outcome. */
function recorded(ledger: readonly Entry[], { metadata }: Result): JsonObject {
  const outcome = entry(ledger, metadata.ledger_sequence);
  const intent = entry(ledger, outcome.closes);
  expect([intent.eventType, intent.intent, outcome.eventType]).toEqual(["tool_selected", true, "tool_executed"]);
  expect([intent.payload["rules"], outcome.payload["rules"]]).toEqual([metadata.rules, metadata.rules]);
  expect(outcome.payload["accesses"]).toEqual(intent.payload["accesses"]);
  return outcome.payload;
}

/** What every outcome of a command says of how it was contained. */
const contained = (userId: number) => ({
  backend: "bwrap",
  namespaces: ["user", "mount", "pid", "network", "ipc", "uts", "cgroup"],
  seccomp: expect.stringMatching(/^[0-9a-f]{64}$/),
  memory: expect.stringMatching(/^(cgroup|watch)$/),
  network: "none",
  userId,
});

/** How a command ended. What it used is counted where the machine has control groups for the kernel. */
function ended({ sandbox }: JsonObject, exitCode: number) {
  const usage = { processorMs: expect.any(Number), memoryBytesMax: expect.any(Number) };
  const sizes = { stdoutBytes: expect.any(Number), stderrBytes: expect.any(Number) };
  return {
    exitCode,
    durationMs: expect.any(Number),
    ...sizes,
    ...((sandbox as JsonObject)["memory"] === "cgroup" && usage),
  };
}

describe.each(USERS)("as $name", ({ kernel, commands }) => {
  let place: Place;
  beforeAll(() => {
    place = servicePlace(kernel);
  });
  afterAll(() => place.remove());

  test(
    "the service's own tests and linter run, over MCP and from the command line, and what they say is a result",
    async () => {
      const { client, call } = await connected(place);
      onTestFinished(() => client.close());
      const change = (spec: string, content: string) =>
        call("edit_file", { path: "src/order.js", edits: [{ operation: "replace", spec, content }] });
      const shown: string[] = [];
      const passed = await call("run_test", {}, { onprogress: ({ message = "" }) => void shown.push(message) });
      expect(passed).toMatchObject({
        status: "success",
        data: { passed: true, exit_code: 0, tests: { passed: 2, failed: 0 } },
      });
      expect(shown.join("")).toContain("> node --test");
      const clean = await call("run_lint", {});
      expect(clean).toMatchObject({ status: "success", data: { passed: true, exit_code: 0, source: "package.json" } });
      await change("0.95", "0.9");
      const failed = await call("run_test", { target: "test/order.test.js" });
      expect(failed).toMatchObject({
        status: "success",
        data: { passed: false, exit_code: 1, tests: { passed: 1, failed: 1 } },
      });
      expect(failed.data.stdout).toContain("a large order gets five percent off");
      await change("const sum", "var sum");
      const found = await call("run_lint", {});
      expect(found).toMatchObject({ status: "success", data: { passed: false, exit_code: 1 } });
      expect(found.data.stdout).toContain("src/order.js:3: error: declare with const or let");
      await change("var sum", "const sum");
      await change("0.9", "0.95");
      await client.close();

      const line = async (tool: string) => {
        const { code, stdout } = await handrail(place, ["call", tool, "--json", "{}", "--workspace", place.workspace]);
        expect(code).toBe(0);
        return oneJsonLine<Result>(stdout);
      };
      const [tested, linted] = [await line("run_test"), await line("run_lint")];
      expect([tested.data["passed"], linted.data["passed"]]).toEqual([true, true]);

      const expected = [
        [passed, "npm test", 0],
        [clean, "npm run lint", 0],
        [failed, "npm test -- test/order.test.js", 1],
        [found, "npm run lint", 1],
        [tested, "npm test", 0],
        [linted, "npm run lint", 0],
      ] as const;
      const ledger = await ledgerOf(place);
      const shownAlone = await handrail(place, ["ledger", "show", String(failed.metadata.ledger_sequence), "--json"]);
      expect(dataIn(shownAlone.stdout)).toEqual(entry(ledger, failed.metadata.ledger_sequence));
      for (const [result, command, exitCode] of expected) {
        const payload = recorded(ledger, result);
        expect(payload).toMatchObject({
          success: true,
          role: "dev",
          preset: "dev",
          rules: expect.arrayContaining(["dev.test-and-lint"]),
          accesses: expect.arrayContaining([
            expect.objectContaining({ kind: "command", binary: "npm", line: command, effect: "exec" }),
            expect.objectContaining({ kind: "file", path: "package.json", effect: "read" }),
          ]),
          sandbox: contained(commands),
          commands: [ended(payload, exitCode)],
        });
      }
      // what was made belongs to whom the workspace does, and the workspace is as closed as it was
      const names = ["", ...readdirSync(place.workspace, { recursive: true, encoding: "utf8" })];
      expect(new Set(names.map((name) => lstatSync(join(place.workspace, name)).uid))).toEqual(new Set([kernel]));
      expect(statSync(place.workspace).mode & 0o777).toBe(0o700);
    },
    TEST_MS_MAX,
  );

  test(
    "a shell session: pipes, redirections, substitutions and daemons, each as it was parsed in the ledger",
    async () => {
      const { client, call } = await connected(place, "--preset", "open");
      onTestFinished(() => client.close());
      const mark = `3${process.pid}.${kernel}`;
      const piped = await call("shell", {
        command: "mkdir out && seq 1 9 | sort -r | head -n 2 >out/top.txt; cat <out/top.txt",
      });
      expect(piped).toMatchObject({ status: "success", data: { exit_code: 0, stdout: "9\n8\n", stderr: "" } });
      expect([
        readFileSync(join(place.workspace, "out/top.txt"), "utf8"),
        statSync(join(place.workspace, "out/top.txt")).uid,
      ]).toEqual(["9\n8\n", kernel]);
      const substituted = await call("shell", {
        command: 'echo "$(wc -l <out/top.txt) lines as $(id -u), pid $$"; exit 3',
      });
      expect(substituted.data).toMatchObject({
        exit_code: 3,
        stdout: expect.stringMatching(/^2 lines as 1000, pid [1-9]\d?\n$/),
      });
      const refusals: Result[] = [];
      for (const target of ["/etc/x", "../outside/x", ".env"]) {
        const refused = await call("shell", { command: `touch ran; echo x >${target}` });
        expect(refused).toMatchObject({ status: "error", error: { code: expect.stringMatching(/^WORKSPACE_/) } });
        refusals.push(refused);
      }
      expect(readdirSync(place.workspace)).not.toContain("ran");
      const daemon = await call("shell", { command: `setsid sleep ${mark} >/dev/null 2>&1 & echo started` });
      expect([daemon.data.stdout, daemon.data["exit_code"], processesNaming(mark)]).toEqual(["started\n", 0, []]);

      const ledger = await ledgerOf(place);
      for (const { metadata } of refusals) {
        const { eventType, closes, payload } = entry(ledger, metadata.ledger_sequence);
        expect([eventType, closes, payload["sandbox"], payload["commands"]]).toEqual([
          "tool_execution_denied",
          0,
          undefined,
          undefined,
        ]);
      }
      const accesses = recorded(ledger, piped)["accesses"] as readonly JsonObject[];
      expect(accesses.map(({ binary, path, effect }) => [binary ?? path, effect])).toEqual([
        ["mkdir", "exec"],
        ["seq", "exec"],
        ["sort", "exec"],
        ["head", "exec"],
        ["cat", "exec"],
        ["out/top.txt", "write"],
        ["out/top.txt", "read"],
      ]);
      const payload = recorded(ledger, substituted);
      expect(payload).toMatchObject({ sandbox: contained(commands), commands: [ended(payload, 3)] });
      expect((payload["accesses"] as readonly JsonObject[]).map(({ binary, path }) => binary ?? path)).toEqual(
        expect.arrayContaining(["echo", "wc", "id", "exit", "out/top.txt"]),
      );
    },
    TEST_MS_MAX,
  );

  test(
    "directories that a command closes, the workspace among them, keep nothing in them from being judged",
    async () => {
      mkdirSync(join(place.config, "policy"));
      onTestFinished(() => rmSync(join(place.config, "policy"), { recursive: true }));
      const isProtected = `action == Handrail::Action::"commit", resource is Handrail::File) when { resource.zone == "protected" };`;
      const closed = `@id("shop.closed") @message("stays") forbid (principal, ${isProtected}`;
      writeFileSync(join(place.config, "policy/closed.cedar"), closed);
      const owner = statSync(place.config).uid;
      for (const name of ["policy", "policy/closed.cedar"]) chownSync(join(place.config, name), owner, owner);
      const { client, call } = await connected(place, "--preset", "open");
      onTestFinished(() => client.close());
      const made = ["CLAUDE.md", "passed/AGENTS.md", "read/CLAUDE.md", "read/deep/AGENTS.md"];
      const command = `mkdir -p passed read/deep; for f in ${made.join(" ")}; do echo evil >$f; done; chmod 111 passed; chmod 444 read/deep read; chmod 311 .`;
      const { data } = await call("shell", { command });
      expect(data["not_kept"]).toEqual(made.map((path) => ({ path, reason: "not_allowed" })));
      expect(made.filter((path) => existsSync(join(place.workspace, path)))).toEqual([]);
      expect((await call("shell", { command: "ls README.md" })).data.stdout).toBe("README.md\n");
    },
    TEST_MS_MAX,
  );

  test(
    "output arrives while a command runs, and cancelling the call ends all of it",
    async () => {
      const { client, call } = await connected(place, "--preset", "open");
      onTestFinished(() => client.close());
      // The command goes on only once its output has been seen.
      let before = "";
      const streamed = await call(
        "shell",
        { command: "echo first; until ls | grep -qx go; do sleep 0.05; done; echo second", timeout_ms: 20_000 },
        {
          onprogress: ({ message = "" }) => {
            before += message;
            if (before.includes("first")) writeFileSync(join(place.workspace, "go"), "", { mode: 0o666 });
          },
        },
      );
      expect(streamed.data).toMatchObject({ exit_code: 0, stdout: "first\nsecond\n" });
      expect(before).toMatch(/^first\n/);

      const mark = `4${process.pid}.${kernel}`;
      const cancelled = new AbortController();
      const command = `trap '' TERM; setsid sleep ${mark} & (trap '' TERM; sleep ${mark}) & echo up; wait; sleep ${mark}`;
      const call2 = call("shell", { command }, { signal: cancelled.signal, onprogress: () => cancelled.abort() });
      await expect(call2).rejects.toThrow();
      await until(() => processesNaming(mark).length === 0);
      expect(existsSync(join(place.workspace, "go"))).toBe(true);
      await client.close();
      const ledger = await ledgerOf(place);
      const last = ledger.filter(({ eventType }) => eventType === "tool_executed").at(-1);
      expect(last?.payload).toMatchObject({
        tool: "shell",
        sandbox: contained(commands),
        commands: [{ endedBy: "cancelled" }],
      });
    },
    TEST_MS_MAX,
  );
});
