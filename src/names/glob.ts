/**
 * Globs over workspace paths: `*` within a component, `**` across, `?`, `[…]` and `{a,b}`, dot files included.
 *
 * Patterns may come from people who are not the operator (a workspace's own settings, a sub-agent's lease), so none may
 * take long. INVARIANT: matching takes at most time in proportion to the pattern's length times the path's. A wildcard
 * takes as little as it can, and only the last one that was passed is ever given more: for `*` within a component, and
 * for `**` across them, that finds a match if there is one, so nothing is tried twice over.
 *
 * Groups and repetitions are literal characters here, and so is a leading `!`: it would turn "any of" into "any but".
 */
import { MAX_PATH_LEN } from "../base/limits.ts";
import { ANY, type CharacterSet, type GlobToken, parseGlob, SLASH, STAR } from "./glob-pattern.ts";

/** Whether a path matches. */
export type GlobTest = (path: string) => boolean;

/** How a pattern is meant. */
export interface GlobOptions {
  readonly ignoreCase: boolean;
  /** Whether what lies below a match matches as well. */
  readonly below?: boolean;
}

/** A compiled pattern, and how much of it there is to try: characters, with braces written out. */
export interface CompiledGlob {
  readonly test: GlobTest;
  /**
   * Whether something matches that lies below the path and is told by more than its own name: a link there would lead
   * past the pattern.
   */
  readonly isAbove: GlobTest;
  readonly characters: number;
}

/** Compiles `pattern`, or `undefined` when it is empty, too long, has too many alternatives or unbalanced brackets. */
export function compileGlob(pattern: string, options: GlobOptions = { ignoreCase: false }): GlobTest | undefined {
  return compileMeasuredGlob(pattern, options)?.test;
}

/** The same, for lists whose whole is bounded. */
export function compileMeasuredGlob(
  pattern: string,
  { ignoreCase, below = false }: GlobOptions,
): CompiledGlob | undefined {
  const cleaned = pattern.replace(/^\.\//, "").replace(/(?<=.)\/+$/, "");
  if (cleaned === "") return undefined;
  const sequences = parseGlob(cleaned);
  if (sequences === undefined) return undefined;
  const alternatives = sequences.map((sequence) => alternativeOf(sequence, ignoreCase, below));
  const [only, ...more] = alternatives;
  if (only === undefined) return undefined;
  const matches = more.length === 0 ? only : (path: string) => alternatives.some((alternative) => alternative(path));
  const fold = ignoreCase ? foldCase : undefined;
  const begins = beginning(sequences, ignoreCase);
  return {
    test: (path) =>
      (begins === undefined || path.charCodeAt(0) === begins) &&
      path.length <= MAX_PATH_LEN &&
      matches(fold === undefined ? path : fold(path)),
    isAbove: aboveTest(sequences, ignoreCase),
    characters: sequences.reduce((sum, { length }) => sum + length, 0),
  };
}

/**
 * Matches what the beginning of a sequence matches that ends before a slash; behind `**`, stars alone say nothing of a
 * path.
 */
function aboveTest(sequences: readonly (readonly GlobToken[])[], ignoreCase: boolean): GlobTest {
  let alternatives: readonly GlobTest[] | undefined; // few patterns are ever asked
  return (path) => {
    alternatives ??= sequences
      .flatMap((sequence) => sequence.flatMap((token, index) => (token === SLASH ? [sequence.slice(0, index)] : [])))
      .filter(
        (beginning) =>
          !(beginning[0] === STAR && beginning[1] === STAR) ||
          beginning.some((token) => token !== STAR && token !== SLASH),
      )
      .map((beginning) => alternativeOf(beginning, ignoreCase, false));
    const text = ignoreCase ? foldCase(path) : path;
    return path.length <= MAX_PATH_LEN && alternatives.some((alternative) => alternative(text));
  };
}

const ASCII_LETTER = /^[A-Za-z]$/;

/**
 * The character with which every match begins, where that is known and, if case is ignored, nothing else is the same as
 * it.
 */
function beginning(sequences: readonly (readonly GlobToken[])[], ignoreCase: boolean): number | undefined {
  const [first] = sequences[0] ?? [];
  if (typeof first !== "string" || sequences.some((sequence) => sequence[0] !== first)) return undefined;
  return ignoreCase && (first >= "\x80" || ASCII_LETTER.test(first)) ? undefined : first.charCodeAt(0);
}

/** Text in which nothing is beyond ASCII. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant, control characters included
const ASCII = /^[\x00-\x7f]*$/;

/** `text` without differences of case, character by character, so that no character becomes two. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const units = text.split("").map((unit) => {
    const folded = unit.toUpperCase().toLowerCase();
    return folded.length === 1 ? folded : unit;
  });
  return units.join("");
}

/** `**`; a component is the text it must be, or a test of a text. */
const ACROSS: unique symbol = Symbol("**");
type Component = string | GlobTest | typeof ACROSS;

function alternativeOf(sequence: readonly GlobToken[], ignoreCase: boolean, below: boolean): GlobTest {
  const components: Component[] = [];
  let part: GlobToken[] = [];
  let endsInStar = false;
  for (const token of [...sequence, SLASH] as const) {
    if (token !== SLASH) {
      part.push(token);
      continue;
    }
    if (part.length < 2 || part.some((one) => one !== STAR)) {
      components.push(componentOf(part, ignoreCase));
      endsInStar = part.at(-1) === STAR;
    } else if (components.at(-1) !== ACROSS) components.push(ACROSS);
    part = [];
  }
  // `a/**` takes `a` in, but `*/**` means that there is a directory.
  const needsMore = endsInStar && components.at(-1) === ACROSS;
  if (below && components.at(-1) !== ACROSS) components.push(ACROSS);
  const [first] = components;
  if (components.length === 1 && typeof first === "string") return (path) => path === first;
  if (components.length === 1 && typeof first === "function") return (path) => !path.includes("/") && first(path);
  const last = components[1];
  if (components.length === 2 && first === ACROSS && last !== undefined && last !== ACROSS)
    return (path) => isComponent(last, path, path.lastIndexOf("/") + 1, path.length);
  return (path) => matchesComponents(components, path, needsMore);
}

function matchesComponents(components: readonly Component[], path: string, needsMore: boolean): boolean {
  let index = 0;
  // Where the path's component begins that is compared with `components[index]`; behind the end when there is none.
  let at = 0;
  let acrossIndex = -1;
  let acrossAt = 0;
  for (;;) {
    const component = components[index];
    if (component === ACROSS) {
      if (index === components.length - 1) return !needsMore || at <= path.length;
      acrossIndex = index;
      acrossAt = at;
      index += 1;
      continue;
    }
    // More for `**` would leave less for what comes after it.
    if (at > path.length) return component === undefined;
    const end = endOfComponent(path, at);
    if (component !== undefined && isComponent(component, path, at, end)) {
      index += 1;
      at = end + 1;
      continue;
    }
    if (acrossIndex === -1) return false;
    acrossAt = endOfComponent(path, acrossAt) + 1;
    at = acrossAt;
    index = acrossIndex + 1;
  }
}

function endOfComponent(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash;
}

function isComponent(component: string | GlobTest, path: string, from: number, to: number): boolean {
  if (typeof component === "string") return component.length === to - from && path.startsWith(component, from);
  return component(path.slice(from, to));
}

/** Characters of a component between two `*`. */
interface Segment {
  readonly length: number;
  readonly isAt: (name: string, at: number) => boolean;
  /** The text, when it is nothing else. */
  readonly text: string | undefined;
}

function componentOf(tokens: readonly GlobToken[], ignoreCase: boolean): string | GlobTest {
  const segments = segmentsOf(tokens, ignoreCase);
  const [first, ...others] = segments;
  if (first === undefined) return "";
  const last = others.pop();
  if (last === undefined)
    return first.text ?? ((name) => name.length === first.length && !isDots(name) && first.isAt(name, 0));
  const least = segments.reduce((sum, { length }) => sum + length, 0);
  return (name) => {
    if (name.length < least || name === "" || isDots(name) || !first.isAt(name, 0)) return false;
    const end = name.length - last.length;
    return last.isAt(name, end) && areBetween(others, name, first.length, end);
  };
}

/** Whether `segments` stand in `name` one after the other; the leftmost place of each leaves the most to the next. */
function areBetween(segments: readonly Segment[], name: string, begin: number, end: number): boolean {
  let at = begin;
  for (const segment of segments) {
    if (segment.text !== undefined) {
      at = name.indexOf(segment.text, at);
      if (at === -1) return false;
    } else {
      while (at + segment.length <= end && !segment.isAt(name, at)) at += 1;
    }
    at += segment.length;
    if (at > end) return false;
  }
  return true;
}

/** The root, and what leads out of a directory: no wildcard means them. */
function isDots(name: string): boolean {
  return name === "." || name === "..";
}

function segmentsOf(tokens: readonly GlobToken[], ignoreCase: boolean): readonly Segment[] {
  const segments: Segment[] = [];
  let part: (string | CharacterSet | typeof ANY)[] = [];
  for (const token of [...tokens, STAR] as const) {
    if (token !== STAR && token !== SLASH) {
      part.push(token);
      continue;
    }
    // Stars side by side are one.
    if (part.length > 0 || segments.length === 0) segments.push(segmentOf(part, ignoreCase));
    part = [];
  }
  return tokens.at(-1) === STAR ? [...segments, NOTHING] : segments;
}

const NOTHING: Segment = { length: 0, isAt: () => true, text: "" };

function segmentOf(tokens: readonly (string | CharacterSet | typeof ANY)[], ignoreCase: boolean): Segment {
  const { length } = tokens;
  if (tokens.every((token) => typeof token === "string")) {
    const text = ignoreCase ? foldCase(tokens.join("")) : tokens.join("");
    return { length, text, isAt: (name, at) => name.startsWith(text, at) };
  }
  const tests = tokens.map((token) => unitTest(token, ignoreCase));
  return {
    length,
    text: undefined,
    isAt: (name, at) => at + length <= name.length && tests.every((test, i) => test(name.charCodeAt(at + i))),
  };
}

function unitTest(token: string | CharacterSet | typeof ANY, ignoreCase: boolean): (unit: number) => boolean {
  if (token === ANY) return () => true;
  if (typeof token === "string") {
    const wanted = (ignoreCase ? foldCase(token) : token).charCodeAt(0);
    return (unit) => unit === wanted;
  }
  const { negated, ranges } = token;
  const isIn = (unit: number) => ranges.some(([low, high]) => low <= unit && unit <= high);
  // What is compared was folded, the set was not: `[A-z]` has characters between its cases.
  const isInEither = (unit: number) => isIn(unit) || isIn(String.fromCharCode(unit).toUpperCase().charCodeAt(0));
  return ignoreCase ? (unit) => isInEither(unit) !== negated : (unit) => isIn(unit) !== negated;
}
