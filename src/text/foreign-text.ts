/**
 * Renders text that an agent wrote safe to show to people on a terminal or in a dialog.
 *
 * Every character that does not simply stand where it is written is shown by its number.
 *
 * INVARIANTS: what comes back is one line of visible characters that stand from left to right, whatever was given. A
 * number such as `⟨U+202E⟩` stands for that character and for nothing else, because the brackets themselves are shown
 * by number. No text becomes shorter than what it hides: runs that would only push other text out of sight are counted.
 */

/** Marks that stand upon one character at most; names of people need two, walls of them hide lines above and below. */
const MARKS_MAX = 2;
/** Blanks in a row that are shown as such; more are a way to push text out of sight. */
const BLANKS_MAX = 32;

/** Shown instead of a tab and of a carriage return, and themselves by number. */
const TAB = "⇥";
const RETURN = "␍";

/**
 * Characters that are shown by number: controls, formats (bidirectional, zero width, tags), private and unassigned
 * ones, halves of pairs; separators and blanks but for the space; what fonts may leave out; what stands around another
 * character; blanks that count as letters or symbols; and what this notation is made of.
 */
const BY_NUMBER =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Me}\u2800\ufffc\u{1d159}⟨⟩⇥␍]|(?! )\p{Zs}|[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const MARK = /\p{M}/u;
const PLAIN = /^[!-~]*(?: {1,32}[!-~]+)*$/;

/** One line of foreign text, made visible. A line feed within is shown by number. */
export function visibleLine(text: string): string {
  if (PLAIN.test(text)) return text;
  let shown = "";
  let marks = MARKS_MAX; // nothing before the text may be marked by it
  let blanks = 0;
  for (const character of text) {
    if (character === " ") {
      blanks += 1;
      continue;
    }
    shown += blanksInside(blanks);
    if (blanks > 0) marks = MARKS_MAX; // a blank is not to be written upon
    blanks = 0;
    const isMark = MARK.test(character);
    marks = isMark ? marks + 1 : 0;
    const visible = isMark && marks > MARKS_MAX ? byNumber(character) : visibleCharacter(character);
    if (visible !== character) marks = MARKS_MAX;
    shown += visible;
  }
  return shown + blanksAtEnd(blanks);
}

/** Foreign text as visible lines; many empty ones in a row are counted. */
export function visibleLines(text: string): readonly string[] {
  return foldEmpty(text.split("\n").map(visibleLine));
}

/**
 * What moves a cursor, reorders a line or hides in it: controls, formats, halves of pairs, and other separators than
 * LF.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Output for a terminal, of whosever words: LF and tab stay, every other control is shown by number. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, (character) =>
    character === "\n" || character === "\t" ? character : byNumber(character),
  );
}

/** The same of a part of one line, in which a line feed or a tab is shown by number, too. */
export function withoutBreaks(text: string): string {
  return text.replace(CONTROLS, byNumber);
}

/** What `JSON.stringify` leaves as it is and a terminal obeys. */
const JSON_CONTROLS = /[\u007f-\u009f\p{Cf}\u2028\u2029]/gu;

/** A value as JSON that a terminal shows as it is written: controls are escaped, and read back as the same. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(JSON_CONTROLS, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Empty lines in a row that are shown. */
const EMPTY_LINES_MAX = 3;

/** `lines` with long runs of empty ones counted instead of shown; `isEmpty` says which are. */
export function foldEmpty(
  lines: readonly string[],
  isEmpty: (line: string) => boolean = (line) => line === "",
): readonly string[] {
  const folded: string[] = [];
  for (let index = 0; index < lines.length; ) {
    let end = index;
    while (end < lines.length && isEmpty(lines[end] ?? "")) end += 1;
    if (end - index > EMPTY_LINES_MAX) {
      folded.push(`⟨${end - index} empty lines⟩`);
      index = end;
    } else {
      folded.push(lines[index] ?? "");
      index += 1;
    }
  }
  return folded;
}

/**
 * The same where no letter can be mistaken for another one: only ASCII stands as it is. For names of hosts and
 * programs.
 */
export function asciiLine(text: string): string {
  return Array.from(visibleLine(text), (character) =>
    /[ -~⟨⟩⇥␍]/.test(character) ? character : byNumber(character),
  ).join("");
}

/**
 * Whether a word mixes Latin letters with those of scripts that look like them, or is written with letters that only
 * look like ASCII: then what is read may be another text than what is there.
 */
export function hasLookAlikes(text: string): boolean {
  if (PLAIN.test(text)) return false;
  return MIXED.test(text) || IMITATION.test(text);
}

const OTHER =
  "[\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Armenian}\\p{Script=Cherokee}\\p{Script=Lisu}\\p{Script=Coptic}]";
const MIXED = new RegExp(
  `\\p{Script=Latin}[\\p{M}\\w.-]{0,64}${OTHER}|${OTHER}[\\p{M}\\w.-]{0,64}\\p{Script=Latin}`,
  "u",
);
/** Full-width forms, letters of mathematics, enclosed letters, and signs that look like those of commands and paths. */
const IMITATION =
  /[\uff0d-\uff19\uff21-\uff3a\uff3c\uff41-\uff5a\u{1d400}-\u{1d7ff}\u{1f110}-\u{1f189}\u2024\u2044\u2215\u29f8\u29f5\ua789\u02d0\u2236\u01c3\u037e]/u;

function visibleCharacter(character: string): string {
  if (character === "\t") return TAB;
  if (character === "\r") return RETURN;
  return BY_NUMBER.test(character) ? byNumber(character) : character;
}

function byNumber(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function blanksInside(count: number): string {
  return count <= BLANKS_MAX ? " ".repeat(count) : `⟨U+0020 × ${count}⟩`;
}

/** Blanks at the end of a line are not seen at all. */
function blanksAtEnd(count: number): string {
  return count === 0 ? "" : count === 1 ? "⟨U+0020⟩" : `⟨U+0020 × ${count}⟩`;
}
