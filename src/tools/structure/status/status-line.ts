/**
 * Reads one line of a status document: a heading or list item with its kind, id, title and state. Pure.
 *
 * INVARIANT: every expression here takes time linear in the line, which is cut before.
 */

/** Kinds that have a rank, outermost first. */
export const KINDS = ["phase", "service", "feature", "task"] as const;
/** One of them. */
export type Kind = (typeof KINDS)[number];

/** Characters of a line that are looked at; what follows is no part of an id, title or state. */
export const LINE_CHARACTERS_MAX = 1000;

/** What a heading or list item says it is. */
export interface Named {
  readonly kind?: Kind;
  readonly id?: string;
  readonly title: string;
  readonly state?: string;
}

const MARKS: Readonly<Record<string, string>> = {
  " ": "open",
  x: "done",
  X: "done",
  "~": "in progress",
  "/": "in progress",
  "-": "cancelled",
  "!": "blocked",
};
const SIGNS: readonly (readonly [string, string])[] = [
  ["✅", "done"],
  ["☑", "done"],
  ["🚧", "in progress"],
  ["🔄", "in progress"],
  ["⏳", "open"],
  ["⬜", "open"],
  ["❌", "cancelled"],
  ["🚫", "blocked"],
];

/** `T-101`, `AUTH.2`, `F12`: letters, then digits, perhaps with more of both. */
const ID = "[A-Za-z][A-Za-z_]{0,30}[-.#_]?\\d[\\w.-]{0,60}";
const KIND_WORD = /^(phase|service|feature|task)\b[ \t]*[:#]?[ \t]*(.*)$/i;
const BRACKETED = new RegExp(`^\\[(${ID})\\][ \\t]*[:–—-]?[ \\t]*(.*)$`);
const LEADING = new RegExp(`^\\x60?(${ID})\\x60?(?:[ \\t]*[:–—][ \\t]*|[ \\t]+-[ \\t]+|[ \\t]+|$)(.*)$`);
/** What ends the id of something whose kind is said. */
const SEPARATOR = /^(\S+?)(?:[ \t]*[:–—][ \t]*|[ \t]+-[ \t]+)(.*)$/;

/** The state that a list item's box says, if it begins with one, and the rest of it. */
export function checkbox(text: string): { readonly state: string; readonly rest: string } | undefined {
  const found = /^\[([ xX~/!-])\](?:[ \t]+|$)(.*)$/.exec(text);
  const state = MARKS[found?.[1] ?? ""];
  return found === null || state === undefined ? undefined : { state, rest: found[2] ?? "" };
}

/** What the text of a heading or list item names. */
export function namedIn(written: string): Named {
  const { text, state } = stateIn(plain(written.slice(0, LINE_CHARACTERS_MAX)));
  const more = state === undefined ? {} : { state };
  const kindWord = KIND_WORD.exec(text);
  if (kindWord) {
    const kind = KINDS.find((each) => each === kindWord[1]?.toLowerCase());
    const rest = kindWord[2] ?? "";
    const parts = idAndTitle(rest) ?? separated(rest);
    return { ...(kind && { kind }), ...parts, ...more };
  }
  return { ...(idAndTitle(text) ?? { title: text }), ...more };
}

function idAndTitle(text: string): Pick<Named, "id" | "title"> | undefined {
  const found = BRACKETED.exec(text) ?? LEADING.exec(text);
  return found?.[1] === undefined ? undefined : { id: found[1], title: (found[2] ?? "").trim() };
}

/** `1: Foundations`, `auth — Login`, or a name alone, which is its own id. */
function separated(text: string): Pick<Named, "id" | "title"> {
  const found = SEPARATOR.exec(text);
  if (found?.[1] !== undefined) return { id: found[1], title: (found[2] ?? "").trim() };
  const name = text.trim();
  const [first = ""] = name.split(/[ \t]/, 1);
  if (/^\d/.test(first)) return { id: first, title: name.slice(first.length).trim() };
  return name === "" ? { title: "" } : { id: name, title: name };
}

/** Without emphasis around it and the hashes that may close a heading. */
function plain(text: string): string {
  return text
    .trim()
    .replace(/[ \t]+#{1,6}$/, "")
    .replaceAll("**", "")
    .replaceAll("__", "")
    .trim();
}

/** A state at the end, in brackets or as a sign; and the text without it. */
function stateIn(text: string): { readonly text: string; readonly state?: string } {
  const sign = SIGNS.find(([each]) => text.includes(each));
  if (sign) return { text: text.replaceAll(sign[0], "").replaceAll("\ufe0f", "").trim(), state: sign[1] };
  const opening = Math.max(text.lastIndexOf(" ["), text.lastIndexOf(" ("));
  if (opening <= 0) return { text };
  const tail = text.slice(opening + 1);
  const state = /^[[(]([\p{L}_ /-]{1,24})[\])]$/u.exec(tail)?.[1];
  if (state === undefined || !STATES.has(state.toLowerCase().replaceAll(/[_-]/g, " "))) return { text };
  return { text: text.slice(0, opening).trim(), state: state.toLowerCase() };
}

const STATES: ReadonlySet<string> = new Set(
  "open|todo|to do|planned|pending|not started|in progress|doing|started|wip|in review|review|done|complete|completed|finished|closed|merged|blocked|waiting|on hold|cancelled|canceled|dropped|skipped|failed".split(
    "|",
  ),
);

/** What a line such as `Status: done` or `- **State**: open` says of what stands above it. */
export function statedState(text: string): string | undefined {
  const found = /^(?:status|state)[ \t]*:[ \t]*(\S.{0,60})$/i.exec(plain(text.slice(0, LINE_CHARACTERS_MAX)));
  return found?.[1]?.trim().toLowerCase();
}

/** Whether a line begins acceptance lines; what stands behind the colon is one of them. */
export function acceptanceIn(text: string): { readonly first?: string } | undefined {
  const found = /^acceptance(?: criteria)?(?:[ \t]*:[ \t]*(.*))?$/i.exec(plain(text.slice(0, LINE_CHARACTERS_MAX)));
  if (found === null) return undefined;
  const first = found[1]?.trim();
  return first === undefined || first === "" ? {} : { first };
}
