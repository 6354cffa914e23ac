// The compiled program: it runs only where it is that of the sources as they are, and it does what they do.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { environmentOf } from "../../support/command-line.ts";
import { freshPlace, type Place } from "../../support/place.ts";
import { SOURCE_ENTRY } from "../../support/program.ts";
import { type ToyProject, toyProject } from "../toy-project.ts";

const COMPILED = "the compiled program\n";
const SOURCES = '["x"]\n';

/** A toy that is set up, with a program that says what it is. */
async function toyWithProgram(): Promise<ToyProject> {
  const toy = toyProject();
  onTestFinished(() => toy[Symbol.dispose]());
  await toy.run(join(toy.root, "handrail"));
  writeFileSync(join(toy.root, "src/other.ts"), "export const one = 1;\n");
  mkdirSync(join(toy.root, ".toolchain/program"));
  writeFileSync(join(toy.root, ".toolchain/program/main.js"), `process.stdout.write(${JSON.stringify(COMPILED)});\n`);
  const { stdout } = await toy.run("sh", ["-c", ". ./scripts/setup/list-sources.sh"]);
  writeFileSync(join(toy.root, ".toolchain/program/sources"), stdout);
  return toy;
}

const started = async (toy: ToyProject, root = toy.root): Promise<string> =>
  (await toy.run(join(root, "handrail"), ["x"])).stdout;

describe("the launcher runs the compiled program", () => {
  test("while the sources are what it was made from, from any directory, and whatever becomes of tests and documents", async () => {
    const toy = await toyWithProgram();
    expect(await started(toy)).toBe(COMPILED);
    writeFileSync(join(toy.root, "src/other.test.ts"), "");
    writeFileSync(join(toy.root, "README.md"), "");
    expect((await toy.run("../handrail", ["x"], join(toy.root, "elsewhere"))).stdout).toBe(COMPILED);
  });

  const changes: Readonly<Record<string, (root: string) => void>> = {
    "a longer file": (root) => appendFileSync(join(root, "src/other.ts"), "\n"),
    "a new file": (root) => writeFileSync(join(root, "src/new.ts"), ""),
    "a removed file": (root) => rmSync(join(root, "src/other.ts")),
    "a renamed file": (root) => renameSync(join(root, "src/other.ts"), join(root, "src/moved.ts")),
    "other packages": (root) => appendFileSync(join(root, "node_modules/.package-lock.json"), " "),
    "another way of compiling": (root) => appendFileSync(join(root, "scripts/compile-program.mjs"), " "),
    "as many other bytes, with the file's old time put back": (root) => {
      const file = join(root, "src/other.ts");
      const { atimeMs, mtimeMs, size } = statSync(file);
      writeFileSync(file, "export const one = 2;\n");
      utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
      expect(statSync(file).size).toBe(size);
    },
    "an older file put in its place": (root) => {
      const file = join(root, "src/other.ts");
      const aside = join(root, "elsewhere/other.ts");
      writeFileSync(aside, "export const one = 3;\n");
      utimesSync(aside, 1, 1);
      renameSync(aside, file);
    },
  };
  test.each(Object.entries(changes))("not after %s", async (_, change) => {
    const toy = await toyWithProgram();
    change(toy.root);
    expect(await started(toy)).toBe(SOURCES);
  });

  test("not in a copy of the checkout, whose sources are other files", async () => {
    const toy = await toyWithProgram();
    const copy = mkdtempSync(join(tmpdir(), "handrail-toy-copy-"));
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
    cpSync(toy.root, copy, { recursive: true, preserveTimestamps: true });
    expect([await started(toy, copy), await started(toy)]).toEqual([SOURCES, COMPILED]);
  });

  test.each(["find", "cmp"])("not where `%s` is missing, or does less than is asked of it", async (program) => {
    const toy = await toyWithProgram();
    const launcher = join(toy.root, "handrail");
    const text = readFileSync(launcher, "utf8");
    writeFileSync(launcher, text.replace("tools=/usr/local/bin:/usr/bin:/bin:", "tools="));
    expect([readFileSync(launcher, "utf8") === text, await started(toy)]).toEqual([false, COMPILED]);
    toy.removeProgram(program);
    expect(await started(toy)).toBe(SOURCES);
    toy.program(program, "#!/bin/sh\necho odd\nexit 1\n");
    expect(await started(toy)).toBe(SOURCES);
  });
});

describe("the program that is compiled from this checkout", () => {
  const TIME_LIMIT_MS = 240_000;
  const program = resolve(".toolchain/program/main.js");

  function run(main: string, place: Place, args: readonly string[], input = "") {
    const all = ["--disable-warning=ExperimentalWarning", main, ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, {
      cwd: place.workspace,
      env: environmentOf(place),
      encoding: "utf8",
      input,
      timeout: TIME_LIMIT_MS,
    });
    return { status, stdout, stderr };
  }

  test("lists, reads, refuses, searches and records as the sources do", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/setup.mjs"], {
      encoding: "utf8",
      timeout: TIME_LIMIT_MS,
    });
    expect({ status, failed: stderr.includes("could not be compiled") }).toEqual({ status: 0, failed: false });
    const files = readdirSync(dirname(program)).filter((name) => name.endsWith(".js"));
    const code = files.map((name) => readFileSync(join(dirname(program), name), "utf8")).join("");
    expect(code).toContain("\\u2026"); // of a message
    expect(code).not.toMatch(/[^\0-\xff]/); // would double what V8 holds of the file
    expect(code).not.toMatch(/from "(zod|commander)/); // what is not compiled in would be loaded module by module
    const lines = ["initialize", "tools/list"].map((method, id) => {
      const params =
        id === 0 ? { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } } : {};
      return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    });
    const answers = [resolve(SOURCE_ENTRY), program].map((main) => {
      const place = freshPlace();
      place.put("workspace/a.txt", "needle\n");
      place.put("workspace/.env", "A=1\n");
      return {
        mcp: run(main, place, ["mcp"], lines.join("")),
        read: run(main, place, ["call", "read_file", "--json", '{"path":"a.txt"}']).status,
        refused: run(main, place, ["call", "read_file", "--json", '{"path":".env"}']).status,
        found: run(main, place, ["call", "search_file", "--json", '{"path":".","regex":"n..dle"}']).stdout.includes(
          "needle",
        ),
        presets: run(main, place, ["policy", "check"]),
        verified: run(main, place, ["ledger", "verify"]).status,
        version: run(main, place, ["--version"]),
      };
    });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[1]).toMatchObject({ mcp: { status: 0, stderr: "" }, read: 0, refused: 2, found: true, verified: 0 });
    expect(answers[1]?.mcp.stdout).toContain('"read_file"');
  });
});
