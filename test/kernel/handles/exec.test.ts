// Commands of tools through the whole pipeline: only what was analysed runs, in the scope of the call, redacted and
// recorded.
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../src/base/json.ts";
import { EXEC_KEPT_BYTES } from "../../../src/kernel/handles/exec-access.ts";
import { commandOf } from "../../../src/model/place/command.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import type { ExecOutcome, ExecRequest } from "../../../src/model/work/exec.ts";
import { type MemoryKernelOptions, memoryKernel, NOTHING_IS_LOST } from "../../support/memory-kernel.ts";

const SECRET = "ghp_016C7qIkFz2rGuYlvYLGXjPoBDPDYUpuIBQv";
const parameters = z.strictObject({ command: z.string() });

/** Runs its argument by the shell, after naming it; `run` may run something else instead. */
function runner(run?: (command: string) => ExecRequest): Tool {
  return {
    name: "runner",
    title: "Run",
    description: "runs a command",
    parameters,
    capability: {
      effect: "exec",
      risk: "low",
      approval: { level: "auto" },
      labels: { outputTrust: "verified" },
      sizesResult: true,
    },
    analyse: (args) => {
      const { command } = parameters.parse(args);
      return [{ resource: commandOf(["sh", "-c", command]), effect: "exec", shellText: command }];
    },
    async execute(args, { exec }) {
      const { command } = parameters.parse(args);
      const outcome = await exec.run(run?.(command) ?? { command: { shell: command } });
      return { kind: "data", data: { ...outcome } as unknown as JsonObject };
    },
  };
}

const PERMIT = `${NOTHING_IS_LOST}@id("test.run") @message("runs") permit (principal, action == Handrail::Action::"runner", resource);`;

/** Nobody is asked about protected files: they do not land. */
const CLOSED = {
  policies: `${PERMIT} @id("test.closed") @message("stays") forbid (principal, action == Handrail::Action::"commit", resource is Handrail::File) when { resource.zone == "protected" };`,
};

async function running(tool: Tool = runner(), options: Partial<MemoryKernelOptions> = {}) {
  const kernel = await memoryKernel({ tools: [tool], policies: PERMIT, ...options });
  const put = (path: string, text: string) => {
    mkdirSync(join(kernel.root, path, ".."), { recursive: true });
    writeFileSync(join(kernel.root, path), text);
  };
  const run = async (command: string) => {
    const { outcome } = await kernel.call("runner", { command });
    if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    return outcome.data as unknown as ExecOutcome;
  };
  return { kernel, put, run };
}

test("a directory that is not there is said, and no fault of the sandbox", async () => {
  const codeIn = async (workDir: string) => {
    const { kernel, put } = await running(runner((command) => ({ command: { shell: command }, workDir })));
    put("web/a.txt", "x");
    symlinkSync("web", join(kernel.root, "link"));
    const { outcome } = await kernel.call("runner", { command: "pwd" });
    return outcome.kind === "error" ? outcome.code : outcome.kind;
  };
  expect(
    await Promise.all(["none", "web/none", "web/a.txt", "web", "/workspace/web", "link", "."].map(codeIn)),
  ).toEqual([
    ...["FILE_NOT_FOUND", "FILE_NOT_FOUND", "NOT_A_DIRECTORY"],
    ...["success", "success", "success", "success"],
  ]);
});

test("the signal that ended a command has its name, those of limits and of the filter of system calls too", async () => {
  const { run } = await running();
  const signalOf = async (name: string) => (await run(`kill -${name} $$`)).signal;
  expect(await Promise.all(["KILL", "TERM", "XCPU", "XFSZ", "SYS"].map(signalOf))).toEqual([
    ...["SIGKILL", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS"],
  ]);
  expect(await run("exit 3")).not.toHaveProperty("signal");
});

test("the first commands of a kernel may come at once", async () => {
  const { run } = await running();
  const runs = await Promise.all(Array.from({ length: 6 }, (_, index) => run(`echo ${index}`)));
  expect(runs.map(({ exitCode, stdout }) => [exitCode, stdout.head])).toEqual(
    Array.from({ length: 6 }, (_, index) => [0, `${index}\n`]),
  );
});

test("a command sees the workspace and changes it, and what ran and what contained it is recorded", async () => {
  const { kernel, put, run } = await running();
  put("a.txt", "alpha\n");
  const { exitCode, stdout, stderr } = await run("cat a.txt; echo beta > b.txt; echo gone >&2; exit 3");
  expect({ exitCode, stdout: stdout.head, stderr: stderr.head }).toEqual({
    exitCode: 3,
    stdout: "alpha\n",
    stderr: "gone\n",
  });
  expect(readFileSync(join(kernel.root, "b.txt"), "utf8")).toBe("beta\n");
  const [executed] = kernel.ledger.of("tool_executed");
  expect(executed?.payload).toMatchObject({
    accesses: [{ kind: "command", binary: "sh", effect: "exec" }],
    sandbox: { backend: "bwrap", network: "none", seccomp: expect.stringMatching(/^[0-9a-f]{64}$/) },
    commands: [
      {
        exitCode: 3,
        durationMs: expect.any(Number),
        stdoutBytes: 6,
        stderrBytes: 5,
        effects: [{ path: "b.txt", kind: "create", digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
        effectsCount: 1,
        effectsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ],
  });
  expect(kernel.ledger.of("tool_selected")).toHaveLength(1);
});

test.each([
  ["a path that is too long", "for i in $(seq 30); do d=$(printf '%0200d' 0); mkdir $d; cd $d; done", "unusable_name"],
  ["a path that is too deep", `mkdir -p ${"a/".repeat(300)}`, "unusable_name"],
  ["a directory whose name is no text", "mkdir $'a\\xff'", "unusable_name"],
  ["a long name of a secret", `touch ".env$(printf 'é%.0s' {1..120})"`, "not_allowed"],
  ["a socket", `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "s", Listen => 1) or die'`, "not_a_file"],
])("what a command may not make does not land beside %s, and the next command runs", async (_, distraction, reason) => {
  const { kernel, run } = await running(runner(), CLOSED);
  const { outcome } = await kernel.call("runner", {
    command: `(${distraction}); echo evil > CLAUDE.md; echo kept > own.txt`,
  });
  expect(outcome).toMatchObject({ kind: "success" });
  expect(existsSync(join(kernel.root, "CLAUDE.md"))).toBe(false);
  expect(readFileSync(join(kernel.root, "own.txt"), "utf8")).toBe("kept\n");
  const [recorded] = (kernel.ledger.of("tool_executed").at(-1)?.payload["commands"] ?? []) as {
    notKept: { reason: string }[];
    notKeptCount: number;
  }[];
  expect(recorded).toMatchObject({ exitCode: 0, notKeptCount: 2 });
  expect(recorded?.notKept.map((one) => one.reason).sort()).toEqual([reason, "not_allowed"].sort());
  expect((await run("cat own.txt")).stdout.head).toBe("kept\n");
});

test("the record of a command says which rules found secrets in its output, and holds none", async () => {
  const { kernel } = await running();
  const secret = `AKIA${"QWERTYUIOPASDFGH"}`;
  await kernel.call("runner", { command: "echo AKIA; a=AK; echo $a'IA'QWERTYUIOPASDFGH; echo plain >&2" });
  await kernel.call("runner", { command: "echo plain" });
  const recorded = kernel.ledger.of("tool_executed").map(({ payload }) => payload["commands"]) as {
    secretsHidden?: Record<string, number>;
  }[][];
  const [[first] = [], [second] = []] = recorded.slice(-2);
  expect(Object.values(first?.secretsHidden ?? {})).toEqual([1]);
  expect(second).not.toHaveProperty("secretsHidden");
  expect(JSON.stringify(recorded)).not.toContain(secret);
});

test("a directory under a name that is kept for files in the making does not land: nobody's listing would show what lies in it", async () => {
  const { kernel } = await running();
  const name = ".handrail-new-AAAAAAAAAAAAAAAAAAAAAA";
  const { outcome } = await kernel.call("runner", {
    command: `mkdir -p sub/${name} && echo evil > sub/${name}/x && echo kept > sub/plain`,
  });
  expect(outcome).toMatchObject({ kind: "success" });
  expect(readdirSync(join(kernel.root, "sub"))).toEqual(["plain"]);
});

test("secrets, managed and protected files are for a command what they are for file tools", async () => {
  const { kernel, put, run } = await running(runner(), CLOSED);
  for (const path of [
    ".env",
    "secrets/key",
    ".git/config",
    "CLAUDE.md",
    "handrail.yaml",
    "node_modules/x/index.js",
    "own.txt",
  ])
    put(path, `${path}\n`);
  const { stdout } = await run(
    'for f in .env secrets/key .git/config CLAUDE.md handrail.yaml node_modules/x/index.js own.txt; do { cat $f && echo "read $f"; } 2>/dev/null; { echo x >> $f && echo "wrote $f"; } 2>/dev/null; done; true',
  );
  const said = stdout.head.split("\n").filter((line) => /^(read|wrote) /.test(line));
  expect(said).toEqual([
    "read .git/config",
    "read CLAUDE.md",
    "read handrail.yaml",
    "read node_modules/x/index.js",
    "read own.txt",
    "wrote own.txt",
  ]);
  expect(readFileSync(join(kernel.root, ".env"), "utf8")).toBe(".env\n");
});

test("what a command makes under a protected name does not land and is named", async () => {
  const { kernel, run } = await running(runner(), CLOSED);
  const { landed } = await run(
    "mkdir -p .vscode .husky; echo '{}' > .vscode/tasks.json; echo evil > .husky/pre-commit; echo fine > own.txt",
  );
  expect(landed).toEqual({
    ...{ created: 1, changed: 0, removed: 0 },
    notKept: [".husky", ".vscode"].map((path) => ({ path, reason: "not_allowed" })),
  });
  expect(readdirSync(kernel.root)).toEqual(["own.txt"]);
});

test("links under protected names stay whatever a command does to them", async () => {
  const { kernel, put, run } = await running(runner(), CLOSED);
  put("docs/agents.md", "safe\n");
  put("sub/keep.txt", "");
  const links = {
    "AGENTS.md": "docs/agents.md",
    "CLAUDE.md": "docs/agents.md",
    "sub/CLAUDE.md": "../docs/agents.md",
    ".env": "no/suché",
  };
  for (const [path, points] of Object.entries(links)) symlinkSync(points, join(kernel.root, path));
  const attack =
    "rm AGENTS.md .env; echo evil > evil.md; ln -sfn evil.md CLAUDE.md; rm -r sub 2>/dev/null; mv sub gone 2>/dev/null; true";
  const { landed } = await run(attack);
  expect(landed?.notKept.map(({ path }) => path)).toEqual([
    ".env",
    "AGENTS.md",
    "CLAUDE.md",
    "sub/CLAUDE.md",
    "sub/keep.txt",
  ]);
  const state = Object.keys(links).map((path) => [path, readlinkSync(join(kernel.root, path))]);
  expect(Object.fromEntries(state)).toEqual(links);
  // the control: nothing but their names keeps them
  symlinkSync("docs/agents.md", join(kernel.root, "own.md"));
  expect((await run("rm own.md")).landed).toEqual({ created: 0, changed: 0, removed: 1, notKept: [] });
  expect(existsSync(join(kernel.root, "own.md"))).toBe(false);
});

test("output is redacted, also where it is cut, and long output keeps its ends and counts the rest", async () => {
  const { run } = await running();
  const short = await run(`echo token ${SECRET}`);
  expect(short.stdout.head).toBe(
    "token [REDACTED:github-token]\n".replace("github-token", short.stdout.head.match(/REDACTED:([\w-]+)/)?.[1] ?? ""),
  );
  expect(short.stdout.head).not.toContain(SECRET);
  const padding = EXEC_KEPT_BYTES - 20;
  const long = await run(
    `head -c ${padding} /dev/zero | tr '\\0' a; printf ' %s ' ${SECRET}; head -c 300000 /dev/zero | tr '\\0' b; echo end`,
  );
  const { head, tail, omittedBytes, totalBytes } = long.stdout;
  expect(head).not.toContain(SECRET.slice(0, 12));
  expect(tail.endsWith("bbbend\n")).toBe(true);
  expect(totalBytes).toBe(padding + SECRET.length + 2 + 300_000 + 4);
  expect(omittedBytes).toBe(totalBytes - 2 * EXEC_KEPT_BYTES);
});

test("a text for the shell runs by being the analysed one, whatever the argument is called that it came in", async () => {
  const ran = async (text: (script: string) => string, shellText?: (script: string) => string) => {
    const scripted = z.strictObject({ script: z.string(), command: z.string().optional() });
    const { kernel } = await running({
      ...runner(),
      parameters: scripted,
      analyse(args) {
        const { script } = scripted.parse(args);
        return [
          {
            resource: commandOf(["sh", "-c", script]),
            effect: "exec",
            ...(shellText && { shellText: shellText(script) }),
          },
        ];
      },
      async execute(args, { exec }) {
        const { stdout } = await exec.run({ command: { shell: text(scripted.parse(args).script) } });
        return { kind: "data", data: { stdout: stdout.head } };
      },
    });
    return (await kernel.call("runner", { script: "echo analysed", command: "echo other" })).outcome;
  };
  const same = (script: string) => script;
  expect(await ran(same, same)).toMatchObject({ kind: "success", data: { stdout: "analysed\n" } });
  const refusal = { kind: "denied", denial: { ruleId: "ANALYSE:runner" } };
  expect(await ran(() => "echo other", same)).toMatchObject(refusal);
  expect(await ran((script) => `${script}; id`, same)).toMatchObject(refusal);
  expect(await ran(same)).toMatchObject(refusal);
});

test("a tool runs only what its analysis named", async () => {
  const { kernel } = await running(runner(() => ({ command: { argv: ["id"] } })));
  const { outcome } = await kernel.call("runner", { command: "true" });
  expect(outcome).toMatchObject({ kind: "denied", denial: { ruleId: "ANALYSE:runner" } });
});

test("a lease that reads and writes less shows less", async () => {
  const { put, run } = await running(runner(), { scope: { readPaths: [["src/**"]], writePaths: [["src/out/**"]] } });
  for (const path of ["src/a.ts", "src/out/b", "docs/c.md"]) put(path, path);
  const { stdout } = await run(
    "for f in src/a.ts src/out/b docs/c.md; do cat $f >/dev/null 2>&1 && echo read $f; { echo x >> $f; } 2>/dev/null && echo wrote $f; done; { echo > src/new; } 2>/dev/null && echo made src/new; echo > src/out/new && echo made src/out/new",
  );
  expect(stdout.head.trim().split("\n")).toEqual([
    "read src/a.ts",
    "read src/out/b",
    "wrote src/out/b",
    "made src/out/new",
  ]);
});

test("what has landed is recorded, each kind of it, and equal content as equal", async () => {
  const { kernel, put, run } = await running();
  for (const path of ["gone", "changed", "moved"]) put(path, `${path}\n`);
  put("d/x", "x");
  await run("rm gone; echo new > changed; mv moved there; chmod 700 d; mkdir -p n/m; echo new > n/m/f; ln -s f n/l");
  const recorded = () => {
    const { commands = [] } = kernel.ledger.of("tool_executed").at(-1)?.payload ?? {};
    return (commands as { effects: Record<string, string>[] }[])[0];
  };
  const facts = recorded()?.effects.map(({ path, kind }) => `${kind} ${path}`);
  expect(facts?.toSorted()).toEqual([
    ...["create n", "create n/l", "create n/m", "create n/m/f"],
    ...["delete gone", "mode d", "modify changed", "rename there"],
  ]);
  const digests = new Map(recorded()?.effects.map(({ path = "", digest }) => [path, digest]));
  expect(digests.get("changed")).toBe(digests.get("n/m/f"));
  await run("true");
  expect(recorded()).not.toHaveProperty("effects");
});
