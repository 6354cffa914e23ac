/**
 * Random words and commands for a shell, made of what shells read in odd ways. Nothing in them does anything outside.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";

/** What they are made of, by its kind; a `soup` is an alphabet, and `%` in a `compound` is another command. */
type Pieces = Readonly<Record<Kind, readonly string[]>>;
type Kind =
  | (
      | "names"
      | "marks"
      | "escaped"
      | "single"
      | "double"
      | "ansi"
      | "locale"
      | "braces"
      | "parameters"
      | "substitutions"
      | "patterns"
    )
  | ("tildes" | "lines" | "soups" | "simple" | "redirected" | "heredocs" | "compound" | "joints" | "keywords");

const PIECES: Pieces = JSON.parse(readFileSync(new URL("../vectors/shell/pieces.json", import.meta.url), "utf8"));

const text = (pieces: readonly string[]) => fc.constantFrom(...pieces);
const joined = (piece: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(piece, { minLength: 1, maxLength }).map((pieces) => pieces.join(""));
const characters = (all: string) => text([...all]);

const odd = fc.oneof(
  ...[
    PIECES.names,
    PIECES.marks,
    PIECES.escaped,
    PIECES.single,
    PIECES.double,
    PIECES.ansi,
    PIECES.locale,
    PIECES.braces,
    PIECES.parameters,
    PIECES.substitutions,
    PIECES.patterns,
    PIECES.tildes,
    PIECES.lines,
  ].map(text),
);

/** A few characters from an alphabet so small that they come together in every way. */
const soups = fc.oneof(...PIECES.soups.map((all) => joined(characters(all), 9)));

/** A word, or what bash takes apart into several. */
export const oddWord: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: joined(odd, 6) },
  {
    weight: 2,
    arbitrary: joined(
      text([...PIECES.braces, ...PIECES.names, ...PIECES.escaped, ",", "{", "}", "..", "'", '"', "$'"]),
      6,
    ),
  },
  {
    weight: 2,
    arbitrary: joined(
      text([...PIECES.single, ...PIECES.double, ...PIECES.ansi, ...PIECES.locale, ...PIECES.escaped, ...PIECES.names]),
      6,
    ),
  },
  { weight: 3, arbitrary: soups },
);

/** A program `w` with one to three odd words. */
export const oddWords: fc.Arbitrary<string> = fc
  .array(oddWord, { minLength: 1, maxLength: 3 })
  .map((words) => `w ${words.join(" ")}`);

const quotedWord = fc.oneof(oddWord, text(PIECES.names));
const part: fc.Arbitrary<string> = fc.oneof(
  { weight: 24, arbitrary: text(PIECES.simple) },
  { weight: 5, arbitrary: text(PIECES.redirected) },
  { weight: 3, arbitrary: text(PIECES.heredocs) },
  { weight: 3, arbitrary: fc.tuple(text(["a", "b", "rm"]), quotedWord).map((words) => words.join(" ")) },
  { weight: 1, arbitrary: quotedWord },
  { weight: 1, arbitrary: text(PIECES.keywords) },
);
const compound: fc.Arbitrary<string> = fc
  .tuple(
    text([...PIECES.compound, ...PIECES.compound.map((form) => form.replaceAll("% ;", "%\n"))]),
    fc.array(fc.oneof({ weight: 4, arbitrary: part }, { weight: 1, arbitrary: text(PIECES.compound) }), {
      minLength: 3,
      maxLength: 3,
    }),
  )
  .map(([form, inner]) => {
    let at = 0;
    return form.replaceAll("%", () => inner[at++] ?? "a").replaceAll("%", "a");
  });
const joint = fc.oneof(
  { weight: 9, arbitrary: text([";", "\n", " && ", " | ", " || "]) },
  { weight: 1, arbitrary: text(PIECES.joints) },
);
const tokenSoup = joined(
  fc.oneof(
    text(PIECES.keywords).map((word) => `${word} `),
    text(PIECES.joints),
    text(["a ", "b ", "x=1 ", "'c d' "]),
  ),
  14,
);

/** A line of commands, whole or broken. */
export const oddCommand: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: part }, { weight: 2, arbitrary: compound }), joint), {
        maxLength: 2,
      })
      .map((parts) => parts.flat())
      .chain((parts) => part.map((last) => [...parts, last].join(""))),
  },
  { weight: 1, arbitrary: tokenSoup },
);
