// What the rows of the lists of gadgets mark, by calls that are kept apart from them: a row or an option that goes from
// the lists is missed here.
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { parseCommand } from "../../../../src/tools/shell/reading/parse-command.ts";
import { shell } from "../../../../src/tools/shell/shell.ts";

beforeAll(() => shell.prepare?.());

interface Call {
  readonly danger: string;
  readonly program: string;
  readonly given: string;
}

const CALLS: readonly Call[] = readFileSync(new URL("../../../vectors/shell/gadget-rows.txt", import.meta.url), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, danger = "", program = "", given = ""] = /^([a-z_]+) (\S+): (.+)$/.exec(line) ?? [];
    return danger === "" ? [] : given.split(" | ").map((one) => ({ danger, program, given: one }));
  });

const dangersOf = (line: string): readonly string[] =>
  parseCommand(line, ".").commands.flatMap(({ dangers }) => dangers);

test("each of them is marked with its danger", () => {
  expect(CALLS.length).toBeGreaterThan(3000);
  const missed = CALLS.filter(({ danger, program, given }) => !dangersOf(`${program} ${given} x`).includes(danger));
  expect(missed).toEqual([]);
});

test("the control: asked for their version alone the same programs are not", () => {
  const marked = CALLS.filter(({ danger, program }) => dangersOf(`${program} --version`).includes(danger));
  expect([...new Set(marked.map(({ program }) => program))]).toEqual([]);
});
