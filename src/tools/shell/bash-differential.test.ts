/** The parsed form against bash itself: whatever bash wants to run was named, or it was said that anything may run. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readVectors } from "../../../test/support/shell-vectors.ts";
import { type Wanted, wantedBy } from "../../../test/support/watched-bash.ts";
import type { CommandResource } from "../../model/command.ts";
import { parseCommand } from "./parse-command.ts";

/** Whether `commands` name the program, with these arguments where they say that they know them. */
function isNamed(commands: readonly CommandResource[], [name, ...args]: Wanted): boolean {
  return commands.some(
    ({ binary, arguments: named, dynamic }) =>
      binary === "?" || (binary === name && (dynamic || (named.length === args.length && named.every((word, at) => word === args[at])))),
  );
}

/** What bash wants and nobody named, whether programs succeed or fail. */
async function unnamed(text: string, seen: { wanted: number; clear: number }): Promise<readonly Wanted[]> {
  const { commands } = parseCommand(text);
  if (commands.some(({ binary }) => binary === "?")) return [];
  seen.clear += 1;
  const wanted = [...(await wantedBy(text, 0)), ...(await wantedBy(text, 1))];
  seen.wanted += wanted.length;
  return wanted.filter((one) => !isNamed(commands, one));
}

test("the watched bash tells what it would run, and what was not named is noticed", async () => {
  expect(await wantedBy("r\\m -rf 'a b' | x && $(y)", 0)).toEqual(expect.arrayContaining([["rm", "-rf", "a b"], ["x"], ["y"]]));
  const { commands } = parseCommand("rm -rf x");
  expect(isNamed(commands, ["rm", "-rf", "x"])).toBe(true);
  expect([isNamed(commands, ["rm", "-rf"]), isNamed(commands, ["rm", "x", "-rf"]), isNamed(commands, ["dd"])]).toEqual([
    false,
    false,
    false,
  ]);
});

const quoting = fc.oneof(
  fc.constantFrom("a", "rm", "-x", "é", "=", "#", "!", "%", "^", ",", ".", ":", "@", "+", "]", "}", "日"),
  fc.constantFrom("\\a", "\\\\", "\\'", '\\"', "\\$", "\\ ", "\\\n", "\\n", "\\#", "\\;", "\\&"),
  fc.constantFrom("'", "''", "'a b'", "'\\'", "'\"'", "'$x'", "'\n'", "'#'"),
  fc.constantFrom('"', '""', '"a b"', '"\\""', '"\\\\"', '"\\$"', '"\\`"', '"\\n"', '"\\\n"', '"\'"', '"#"', '"a\nb"', '"\\a"', '"$"'),
  fc.constantFrom(
    "$'a'",
    "$'\\n'",
    "$'\\t\\\\'",
    "$'\\x41'",
    "$'\\101'",
    "$'\\''",
    "$'\\e'",
    "$'\\x4'",
    "$'\\q'",
    "$'\\u41'",
    "$'\\\"'",
    "$'\\?'",
  ),
  fc.constantFrom("$", "$ ", "{a,b}", "{a}", "{a..c}", "*", "?", "[a]", "$x", "$" + "{x}", "`", "$(", ")", "(", "<", ">"),
);

test("words are what bash makes of them", async () => {
  const seen = { wanted: 0, clear: 0 };
  const word = fc.array(quoting, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
  const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((list) => `w ${list.join(" ")}`);
  await fc.assert(
    fc.asyncProperty(words, async (text) => {
      expect(await unnamed(text, seen)).toEqual([]);
    }),
    { numRuns: 250 },
  );
  expect(seen.clear).toBeGreaterThan(100);
  expect(seen.wanted).toBeGreaterThan(100);
}, 240_000);

const whole = fc.constantFrom(
  "a",
  "b 'x y'",
  'c "$v"',
  "rm -rf x",
  "x=1 d",
  "e 2>&1",
  "f | g",
  "! h",
  "i $(j k)",
  "l `m n`",
  "o <(p)",
  "q <<< r",
  "eval s t",
  "eval 'u | v'",
  "command w",
  "y # z",
  "aa \\\n bb",
  "{ cc; dd; }",
  "( ee; ff )",
  "time gg",
  "[[ x == y ]]",
  "((1))",
  '[ -n "$(hh)" ]',
  "ii \"$(jj 'kk')\"",
  "ll() { mm; }; ll",
  "nn <<E\n$(oo)\nE\n",
  "pp <<'E'\n$(qq)\nE\n",
  "rr <<-E\n\tss\n\tE\n",
  "trap 'tt' EXIT",
  "exec uu",
  'vv "$' + '{x:-$(ww)}"',
  "xx=$(yy) zz",
  "true",
  "false",
);
const command = fc.oneof(
  { weight: 12, arbitrary: whole },
  { weight: 1, arbitrary: fc.constantFrom("if", "then", "fi", "do", "done", "in", "esac", "}", "{") },
);
const joint = fc.constantFrom(
  ";",
  "; ",
  "\n",
  " && ",
  " || ",
  " | ",
  " & ",
  " |& ",
  " ",
  "\\\n",
  ";;",
  "(",
  ")",
  '"',
  "'",
  "`",
  "$(",
  " > ",
  " < ",
  "#",
  " #",
  "<<E\n",
  "\nE\n",
);
const compound = fc
  .tuple(
    fc.constantFrom(
      "if % ; then % ; else % ; fi",
      "for v in 1 2; do % ; % ; done",
      "case x in x) % ;; y) % ;; esac",
      "f() { % ; }; f; %",
      "( % ; % )",
      "{ % ; % ; }",
      "a $( % ; % )",
      'a "$( % ; % )"',
      "a ` % ; % `",
      "% <<E\n$( % )\nE\n",
      "until % ; do % ; break; done",
      "coproc { % ; % ; }",
      "[[ -n $( % ) ]] && %",
    ),
    fc.array(command, { minLength: 3, maxLength: 3 }),
  )
  .map(([form, inner]) => {
    let at = 0;
    return form.replaceAll("%", () => inner[at++] ?? "a");
  });

test("programs of a line are what bash looks for", async () => {
  const seen = { wanted: 0, clear: 0 };
  const part = fc.oneof({ weight: 3, arbitrary: command }, { weight: 2, arbitrary: compound });
  const line = fc
    .array(fc.tuple(part, fc.oneof({ weight: 5, arbitrary: fc.constantFrom(";", "\n", " && ", " | ") }, { weight: 1, arbitrary: joint })), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.flat().join(""));
  await fc.assert(
    fc.asyncProperty(line, async (text) => {
      expect(await unnamed(text, seen)).toEqual([]);
    }),
    { numRuns: 250 },
  );
  expect(seen.clear).toBeGreaterThan(50);
  expect(seen.wanted).toBeGreaterThan(100);
}, 240_000);

test("the collected commands run nothing that was not named", async () => {
  const seen = { wanted: 0, clear: 0 };
  const texts = ["words", "lists", "wrappers", "files"].flatMap((name) =>
    readVectors(readFileSync(new URL(`../../../test/vectors/shell/${name}.txt`, import.meta.url), "utf8")).map(({ text }) => text),
  );
  // Nothing outside the empty directory is written or run, and nothing waits.
  const harmless = texts.filter((text) => !/\/(?:dev|bin|usr|tmp|etc)|~|while|until|select|wait|kill/.test(text));
  for (const text of harmless) expect([text, await unnamed(text, seen)]).toEqual([text, []]);
  expect(seen.wanted).toBeGreaterThan(200);
}, 240_000);
