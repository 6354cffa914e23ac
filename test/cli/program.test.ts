// The tree of commands: what its help shows, and the completion scripts that are written from it.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shownCommands } from "../../scripts/command-reference.mjs";
import { createProgram } from "../../src/cli/program.ts";
import { completionScript } from "../../src/cli/terminal/completion.ts";
import { wordOf } from "../../src/cli/terminal/output.ts";

test("no help shows a secret: tokens come from a file or the environment", async () => {
  const shown = await shownCommands();
  const texts = [(await createProgram()).helpInformation(), ...shown.map(({ after, usage }) => `${usage}\n${after}`)];
  expect(texts.filter((text) => /(?:ses|apr|adm)_[\w-]{4,}|--(?:session|token)[ =](?!@|<)\S/.test(text))).toEqual([]);
  expect("--session ses_abcdef").toMatch(/--(?:session|token)[ =](?!@|<)\S/); // the control
});

test("commands stand in groups, each in one", async () => {
  const program = await createProgram();
  const groups = program.commands.map((command) => command.helpGroup());
  expect(groups.filter((group) => group === "")).toEqual([]);
  expect(new Set(groups).size).toBeGreaterThan(5);
});

test("where the first word names a command, that one is read alone, and is what it is among all", async () => {
  const all = await createProgram();
  for (const command of all.commands) {
    const alone = await createProgram(command.name());
    const found = alone.commands.find((one) => one.name() === command.name());
    expect(found?.helpInformation()).toBe(command.helpInformation());
    expect(alone.commands.length).toBeLessThan(command.name() === "completion" ? Number.POSITIVE_INFINITY : 3);
  }
  for (const word of ["callz", "--help", "help", undefined])
    expect((await createProgram(word)).commands.length).toBe(all.commands.length);
});

const ROOT = {
  path: "handrail",
  description: "",
  words: [],
  options: [{ flags: ["-V", "--version"], description: "it's which", takes: "nothing" as const }],
  commands: [
    {
      path: "handrail call",
      description: "make a call",
      words: ["read_file", "write_file"],
      options: [{ flags: ["--preset"], description: "", takes: ["dev", "open"] }],
      commands: [],
    },
  ],
};

test.each([
  [["handrail", "ca"], "call"],
  [["handrail", "call", "re"], "read_file"],
  [["handrail", "call", "read_file", "--pre"], "--preset"],
  [["handrail", "call", "--preset", "o"], "open"],
  [["handrail", "--ver"], "--version"],
])("bash completes %j to %s", (words, completed) => {
  const script = `${completionScript("bash", ROOT)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _handrail; echo "\${COMPREPLY[*]}"`;
  expect(execFileSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" })).toBe(`${completed}\n`);
});

test("zsh and fish get the same words, with what quotes in them mean", () => {
  const zsh = completionScript("zsh", ROOT);
  for (const part of ["'call:make a call'", "read_file", "compadd -- 'dev' 'open'", "'--version:it'\\''s which'"])
    expect(zsh).toContain(part);
  const fish = completionScript("fish", ROOT);
  for (const part of [`-f -a 'call' -d 'make a call'`, `-a 'read_file write_file'`, `-l preset -r -f -a 'dev open'`])
    expect(fish).toContain(part);
  expect(fish).toContain(`-s V -l version -d 'it\\'s which'`);
});

test("a recorded object is shown by its members", () => {
  expect([wordOf({ kind: "once", until: { at: 5 } }), wordOf(["a", { b: null }]), wordOf("x")]).toEqual([
    "kind=once,until=at=5",
    "a,b=null",
    "x",
  ]);
});
