/** What a contained command may do without anybody being asked, and what of it still asks: by its effects. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { shell } from "../../../../src/tools/shell/shell.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "../../../support/memory-kernel.ts";
import { secretPlace } from "../../../support/secret-place.ts";

async function place(options: MemoryKernelOptions = {}) {
  const kernel = await memoryKernel({ tools: [shell], preset: "dev", ...options });
  const run = async (command: string, more: JsonObject = {}) => {
    const { outcome } = await kernel.call("shell", { command, ...more });
    const [unexpected] = kernel.internalErrors;
    if (unexpected !== undefined) throw unexpected;
    return outcome;
  };
  return { kernel, run, at: (path: string) => join(kernel.root, path) };
}

/** Whether anybody was asked, or would have been. */
function asked({ ledger }: MemoryKernel): number {
  return ledger.of("approval_requested").length;
}

/** What makes files that people's tools obey. */
const OBEYED = [
  ['python3 -c \'open("CLAUDE.md","w").write("obey")\'', "CLAUDE.md"],
  ["x=CLAUDE; echo obey > $x.md", "CLAUDE.md"],
  ["mkdir -p .github/workflows; echo 'on: push' > .github/workflows/a.yml", ".github/workflows/a.yml"],
  ["mkdir .husky; echo x > .husky/pre-commit; chmod +x .husky/pre-commit", ".husky/pre-commit"],
];
/** What lets every user write what is there afterwards. */
const OPENED = [
  "echo x > made.txt; chmod 666 made.txt",
  "chmod a+w own.txt",
  "chmod 777 own",
  "mkdir made; chmod 1777 made",
  "python3 -c 'import os; os.chmod(\"own.txt\", 0o646)'",
  "umask 0; echo x > made.txt",
  "cp own.txt made.txt; chmod o+w made.txt; mv made.txt own.txt",
];

/** The rules that hold these back, waived by the operator: for controls. */
const WAIVED = `@id("test.waived")
@message("m")
@waives("COMMIT:open,COMMIT:unrecoverable,dev.write-protected")
permit (principal, action == Handrail::Action::"commit", resource is Handrail::File);
`;

test.each([
  ['python3 -c \'open("made.txt","w").write("x")\'', "made.txt"],
  ['f=$(mktemp); echo x > "$f"; mv "$f" made.txt', "made.txt"],
  ["d=sub; mkdir -p $d; echo x > $d/made.txt", "sub/made.txt"],
  ["echo 'echo x > made.txt' | sh", "made.txt"],
])("runs, and lands: %s", async (command, made) => {
  const { run, at, kernel } = await place();
  expect(await run(command)).toMatchObject({ kind: "success", data: { exit_code: 0 } });
  expect([existsSync(at(made)), asked(kernel)]).toEqual([true, 0]);
});

test.each(OBEYED)("what people's tools obey does not land without them: %s", async (command, made) => {
  const { run, at } = await place();
  expect(await run(command)).toMatchObject({ kind: "denied", denial: { ruleId: "dev.write-protected" } });
  expect(existsSync(at(made))).toBe(false);
});

test.each(OPENED)("what every user could write afterwards does not land without a person: %s", async (command) => {
  const { run, at } = await place();
  writeFileSync(at("own.txt"), "mine");
  mkdirSync(at("own"));
  expect(await run(command)).toMatchObject({ kind: "denied", denial: { ruleId: "COMMIT:open" } });
  const modes = ["own.txt", "own", "made.txt", "made"]
    .filter((path) => existsSync(at(path)))
    .map((path) => statSync(at(path)).mode);
  expect(modes.every((mode) => (mode & 0o002) === 0)).toBe(true);
});

test.each([...OBEYED.map(([command]) => command), ...OPENED])(
  "the control: without the rule it lands: %s",
  async (command) => {
    const { run, at, kernel } = await place({ policies: WAIVED });
    writeFileSync(at("own.txt"), "mine");
    mkdirSync(at("own"));
    expect(await run(command ?? "")).toMatchObject({ kind: "success", data: { exit_code: 0 } });
    expect(asked(kernel)).toBe(0);
    const made = ["CLAUDE.md", ".github/workflows/a.yml", ".husky/pre-commit"].some((path) => existsSync(at(path)));
    const open = ["own.txt", "own", "made.txt", "made"].filter((path) => existsSync(at(path)));
    expect(made || open.some((path) => (statSync(at(path)).mode & 0o002) !== 0)).toBe(true);
  },
);

test("what everybody could write before is no such change, nor are links", async () => {
  const { run, at, kernel } = await place();
  writeFileSync(at("shared.txt"), "ours");
  chmodSync(at("shared.txt"), 0o666);
  expect(
    await run("echo more >> shared.txt; ln -s shared.txt link; chmod o-w shared.txt; chmod g+w shared.txt"),
  ).toMatchObject({
    kind: "success",
    data: { exit_code: 0 },
  });
  expect([readFileSync(at("shared.txt"), "utf8"), asked(kernel)]).toEqual(["oursmore\n", 0]);
});

describe("what is removed", () => {
  /** A kernel that keeps what stood there before. */
  async function keeping(undo: JsonObject = {}) {
    const { place: files, call } = await secretPlace({}, {}, { preset: "dev", undo });
    const at = (path: string) => join(files.workspace, path);
    return { at, run: (command: string) => call("shell", { command }) };
  }

  test("is not asked about where it can be brought back", async () => {
    const { run, at } = await keeping();
    writeFileSync(at("own.txt"), "mine");
    expect(await run("rm -rf own.txt")).toMatchObject({ kind: "success", data: { exit_code: 0 } });
    expect(existsSync(at("own.txt"))).toBe(false);
  });

  test.each(["rm large.bin", "python3 -c 'import os; os.unlink(\"large.bin\")'", "rm -rf ./*"])(
    "stays until somebody agrees where it cannot, whatever removes it: %s",
    async (command) => {
      const { run, at } = await keeping({ file_mb: 1 });
      writeFileSync(at("large.bin"), Buffer.alloc(2 * 1024 * 1024, 7));
      expect(await run(command)).toMatchObject({ kind: "denied", denial: { ruleId: "COMMIT:unrecoverable" } });
      expect(existsSync(at("large.bin"))).toBe(true);
    },
  );

  test("stays, too, where it is much together, or nothing is kept", async () => {
    const { run, at } = await keeping({ total_mb: 2 });
    for (const name of ["a", "b", "c"]) writeFileSync(at(`${name}.bin`), Buffer.alloc(600_000, 7));
    expect(await run("rm a.bin b.bin c.bin")).toMatchObject({ denial: { ruleId: "COMMIT:unrecoverable" } });
    const none = await keeping({ keep_days: 0 });
    writeFileSync(none.at("own.txt"), "mine");
    expect(await none.run("rm own.txt")).toMatchObject({ denial: { ruleId: "COMMIT:unrecoverable" } });
    expect(existsSync(none.at("own.txt"))).toBe(true);
  });
});

test("the same with the network, or without a sandbox, is asked about before it runs", async () => {
  const command = 'python3 -c \'open("made.txt","w")\'';
  const { run, at } = await place();
  const outcome = await run(`${command}; curl https://api.example/`, { network_access: true });
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required" } });
  expect(existsSync(at("made.txt"))).toBe(false);
  const bare = await place({ backend: () => "none" });
  expect(await bare.run(command)).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required" } });
});

test("what is meant for another machine, and text that shows something else than it holds, asks", async () => {
  const { run } = await place();
  for (const command of ["ssh build.example reboot", "ls \u202egnp.exe", "echo 'unfinished"])
    expect(await run(command)).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required" } });
});

test("nothing of a secret zone is read or removed by whatever words", async () => {
  const { run, at } = await place();
  writeFileSync(at(".env"), "TOKEN=1");
  await run('python3 -c \'import os; print(open(".env").read()); os.unlink(".env")\'');
  expect(readFileSync(at(".env"), "utf8")).toBe("TOKEN=1");
});
