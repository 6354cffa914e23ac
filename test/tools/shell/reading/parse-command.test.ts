/** What a shell command is said to do, for commands that people and attackers write; and what holds for any text. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMAND_DANGERS } from "../../../../src/model/place/command.ts";
import { COMMANDS_PER_LINE_MAX } from "../../../../src/tools/shell/reading/limits.ts";
import { COMMAND_PARSED_CHARACTERS_MAX, parseCommand } from "../../../../src/tools/shell/reading/parse-command.ts";
import { readVectors, summaryOf } from "../../../support/shell-vectors.ts";

const FILES = ["words", "lists", "wrappers", "files", "odd"] as const;
const vectors = new Map(
  FILES.map((name) => [
    name,
    readVectors(readFileSync(new URL(`../../../vectors/shell/${name}.txt`, import.meta.url), "utf8")),
  ]),
);

const dangersOf = (text: string) => [...new Set(parseCommand(text).commands.flatMap(({ dangers }) => dangers))].sort();

describe.each(FILES)("commands of %s.txt", (name) => {
  test.each((vectors.get(name) ?? []).map(({ text, expected }) => [text, expected] as const))(
    "%s",
    (text, expected) => {
      expect(summaryOf(text)).toEqual(expected);
    },
  );
});

test("there are enough of them", () => {
  expect([...vectors.values()].flat().length).toBeGreaterThan(500);
});

describe("what is hidden from people is a danger", () => {
  test.each([
    ["a carriage return", "ls\r"],
    ["lines of Windows", "ls\r\nrm x\r\n"],
    ["an escape", "echo \u001b[2K"],
    ["a no-break space", "rm\u00a0x"],
    ["a zero-width space", "r\u200bm x"],
    ["text that runs backwards", "ls \u202egnp.sh"],
    ["a soft hyphen", "r\u00adm"],
    ["a line separator", "ls\u2028rm x"],
    ["a null byte", "ls\0rm"],
  ])("%s", (_, text) => {
    expect(dangersOf(text)).toContain("hidden_characters");
  });

  test("blanks, tabs, lines and letters of any script are not hidden", () => {
    expect(dangersOf("echo a\tb\n\necho größe 日本語")).toEqual([]);
  });
});

describe("limits", () => {
  test("a command is looked through up to its limit, and may do anything beyond", () => {
    const text = (length: number) => `echo ${"x".repeat(length - 5)}`;
    expect(dangersOf(text(COMMAND_PARSED_CHARACTERS_MAX))).toEqual([]);
    expect(summaryOf(text(COMMAND_PARSED_CHARACTERS_MAX + 1))).toEqual(["?  ~  !too_much"]);
  });

  test("commands are listed up to their number, and it is said that there are more", () => {
    const text = (count: number) => Array.from({ length: count }, () => "a").join(";");
    expect(parseCommand(text(COMMANDS_PER_LINE_MAX)).commands).toHaveLength(COMMANDS_PER_LINE_MAX);
    expect(dangersOf(text(COMMANDS_PER_LINE_MAX))).toEqual([]);
    expect(parseCommand(text(COMMANDS_PER_LINE_MAX + 1)).commands).toHaveLength(COMMANDS_PER_LINE_MAX + 1);
    expect(dangersOf(text(COMMANDS_PER_LINE_MAX + 1))).toEqual(["too_much"]);
  });

  test.each([
    ["substitutions", (depth: number) => `a ${"$(a ".repeat(depth)}${")".repeat(depth)}`],
    ["groups", (depth: number) => `${"{ ".repeat(depth)}a;${" };".repeat(depth)}`],
    ["subshells", (depth: number) => `${"( ".repeat(depth)}a${" )".repeat(depth)}`],
    ["eval", (depth: number) => `${"eval ".repeat(depth)}a`],
    ["wrappers", (depth: number) => `${"env ".repeat(depth)}a`],
  ])("deep %s end in a danger, shallow ones do not", (_, nested) => {
    expect(dangersOf(nested(4))).toEqual([]);
    expect(dangersOf(nested(200))).toContain("too_much");
    expect(parseCommand(nested(200)).commands.at(-1)?.binary).toBe("?");
  });

  test.each([
    "$(",
    "`",
    "(",
    "{ ",
    '"',
    "'",
    '"$(',
    "<<a ",
    "cat <<E\n",
    "${a:-",
    "case a in b) ",
    "if a;then ",
    "f(){ ",
    "a|",
    "$((",
    "a[",
    "<(",
    "eval ",
    "sudo ",
    "cd a;echo>b;",
    "$'\\x",
    "\\",
    "{a,",
    "[[ ( ",
    "$({`\"'<<a\n",
  ])("%j over and over is answered", (piece) => {
    const text = piece.repeat(Math.floor(COMMAND_PARSED_CHARACTERS_MAX / piece.length));
    const { commands } = parseCommand(text);
    expect(commands.length).toBeLessThanOrEqual(COMMANDS_PER_LINE_MAX + 1);
  });
});

describe("whatever is written", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "a",
      "rm",
      "-rf",
      "x=1",
      "eval",
      "sh -c",
      "cd",
      "sudo",
      "if",
      "then",
      "fi",
      "for",
      "in",
      "do",
      "done",
      "case",
      "esac",
      "{",
      "}",
      "[[",
      "]]",
      "time",
      "!",
      "function",
      "coproc",
    ),
    fc.constantFrom(
      " ",
      "\n",
      ";",
      "&",
      "|",
      "<",
      ">",
      "(",
      ")",
      "$",
      "`",
      "'",
      '"',
      "\\",
      "#",
      "*",
      "~",
      "{a,b}",
      "$'",
      "${",
      "$((",
      "<<E\n",
      "\nE\n",
      "<<<",
      "2>&1",
      "\0",
      "\r",
      "\ud800",
      "é",
    ),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const line = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

  test("it is answered, with known dangers, and an unknown program only with a reason", () => {
    fc.assert(
      fc.property(line, (text) => {
        const { commands, files } = parseCommand(text);
        for (const { binary, dangers, line: shown, arguments: args, dynamic } of commands) {
          expect(COMMAND_DANGERS).toEqual(expect.arrayContaining([...dangers]));
          if (binary === "?") expect([dangers.length > 0, dynamic]).toEqual([true, true]);
          expect(shown.length).toBeGreaterThan(0);
          expect(args.every((word) => typeof word === "string")).toBe(true);
        }
        for (const { path } of files) expect(path).not.toBe("");
      }),
      { numRuns: 3000 },
    );
  });

  test("the same text has the same answer", () => {
    fc.assert(
      fc.property(line, (text) => {
        expect(parseCommand(text)).toEqual(parseCommand(text));
      }),
      { numRuns: 300 },
    );
  });
});
