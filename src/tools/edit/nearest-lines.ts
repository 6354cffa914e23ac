/**
 * Finds the lines of a text that come nearest to lines that are not in it, and says what differs. Pure.
 *
 * It is for failures that tell a caller what to send instead; nothing is ever changed by what it finds. INVARIANT: the
 * time is bounded: at most TEXT_CHARACTERS_MAX and LINES_MAX of the text and SOUGHT_LINES_MAX sought lines are looked
 * at, each compared by a key, and only FUZZY_MAX lines letter by letter.
 */
import { distance } from "fastest-levenshtein";

/** Characters of the text that are looked at. */
const TEXT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Lines of it. */
const LINES_MAX = 100_000;
/** Sought lines that are looked at. */
const SOUGHT_LINES_MAX = 200;
/** Places in the sought lines that one line of the text may stand for. */
const PLACES_PER_LINE = 8;
/** Characters of a line that count. */
const LINE_CHARACTERS = 400;
/** Lines that are compared letter by letter. */
const FUZZY_MAX = 12;
/** Lines and characters that are shown. */
const SHOWN_LINES_MAX = 24;
const SHOWN_CHARACTERS_MAX = 2_000;
/** The part of what is sought that has to be there. */
const EQUAL_PART_MIN = 0.35;
const LIKE_PART_MIN = 0.6;

/** Lines of a text; they count from 1. */
export interface NearestLines {
  readonly firstLine: number;
  readonly lastLine: number;
  /** As they stand in the text, or the beginning of that. */
  readonly text: string;
  readonly isCut: boolean;
  /** What differs, in words. */
  readonly differs: readonly string[];
}

/** The lines of `text` nearest to `sought`, if any are near. */
export function nearestLines(text: string, sought: string): NearestLines | undefined {
  const wanted = sought.replace(/\r?\n$/, "").split("\n", SOUGHT_LINES_MAX);
  const lines = linesOf(text);
  const keys = wanted.map(keyOf);
  const at = placeByKeys(lines, keys) ?? placeWithin(lines, keys) ?? placeByLikeness(lines, keys);
  if (at === undefined) return undefined;
  const first = Math.max(0, at);
  const found = lines.slice(first, Math.min(lines.length, at + wanted.length));
  if (found.length === 0) return undefined;
  const whole = found.join("\n");
  const shown = found.slice(0, SHOWN_LINES_MAX).join("\n").slice(0, SHOWN_CHARACTERS_MAX);
  return {
    firstLine: first + 1,
    lastLine: first + found.length,
    text: shown,
    isCut: shown.length < whole.length,
    differs: differences(found, wanted, first),
  };
}

/** The lines without their line feeds; a carriage return stays. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  let from = 0;
  while (lines.length < LINES_MAX && from <= text.length && from < TEXT_CHARACTERS_MAX) {
    const end = text.indexOf("\n", from);
    if (end === -1) {
      if (from < text.length) lines.push(text.slice(from, TEXT_CHARACTERS_MAX));
      break;
    }
    lines.push(text.slice(from, end));
    from = end + 1;
  }
  return lines;
}

/** A line without what is easily mistaken: its indentation, runs of white space, case. */
function keyOf(line: string): string {
  return line.slice(0, LINE_CHARACTERS).trim().replaceAll(/\s+/g, " ").toLowerCase();
}

/** Where most of the sought lines stand at their distance from each other. */
function placeByKeys(lines: readonly string[], keys: readonly string[]): number | undefined {
  const placesByKey = new Map<string, number[]>();
  let total = 0;
  for (const [index, key] of keys.entries()) {
    if (key === "") continue;
    total += key.length;
    const places = placesByKey.get(key) ?? [];
    if (places.length < PLACES_PER_LINE) places.push(index);
    placesByKey.set(key, places);
  }
  const scores = new Map<number, number>();
  let best: { readonly at: number; readonly score: number } | undefined;
  for (const [index, line] of lines.entries()) {
    const key = keyOf(line);
    for (const place of placesByKey.get(key) ?? []) {
      const at = index - place;
      const score = (scores.get(at) ?? 0) + key.length;
      scores.set(at, score);
      if (score > (best?.score ?? 0)) best = { at, score };
    }
  }
  return best !== undefined && best.score >= total * EQUAL_PART_MIN ? best.at : undefined;
}

/** The line that has the one sought line within it, but for white space and case. */
function placeWithin(lines: readonly string[], keys: readonly string[]): number | undefined {
  const [key = ""] = keys;
  if (keys.length !== 1 || key === "") return undefined;
  const sought = key.replaceAll(" ", "");
  const at = lines.findIndex((line) => line.toLowerCase().replaceAll(/\s+/g, "").includes(sought));
  return at === -1 ? undefined : at;
}

/** Where the longest sought line has its likest. */
function placeByLikeness(lines: readonly string[], keys: readonly string[]): number | undefined {
  const anchor = keys.reduce((best, key, index) => (key.length > (keys[best]?.length ?? 0) ? index : best), 0);
  const sought = keys[anchor] ?? "";
  if (sought === "") return undefined;
  const words = new Set(wordsIn(sought));
  const candidates: { readonly index: number; readonly key: string; readonly shared: number }[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.length < sought.length / 2 || line.length > 3 * sought.length + LINE_CHARACTERS / 4) continue;
    const key = keyOf(line);
    const shared = wordsIn(key).filter((word) => words.has(word)).length;
    if (shared === 0 && key.length !== sought.length) continue;
    const last = candidates.at(-1);
    if (candidates.length >= FUZZY_MAX && shared <= (last?.shared ?? 0)) continue;
    candidates.push({ index, key, shared });
    candidates.sort((one, two) => two.shared - one.shared || one.index - two.index);
    candidates.length = Math.min(candidates.length, FUZZY_MAX);
  }
  let best: { readonly index: number; readonly likeness: number } | undefined;
  for (const { index, key } of candidates) {
    const likeness = 1 - distance(key, sought) / Math.max(key.length, sought.length);
    if (likeness >= LIKE_PART_MIN && likeness > (best?.likeness ?? 0)) best = { index, likeness };
  }
  return best && best.index - anchor;
}

function wordsIn(line: string): readonly string[] {
  return line.match(/\w+|[^\w\s]/g) ?? [];
}

const DIFFERENCES_MAX = 3;

function differences(found: readonly string[], wanted: readonly string[], first: number): readonly string[] {
  const differs = new Set<string>();
  if (found.length < wanted.length) differs.add(`the file has ${wanted.length - found.length} fewer lines there`);
  for (const [index, line] of found.entries()) {
    const sought = wanted[index] ?? "";
    if (line !== sought) differs.add(difference(line, sought, first + index + 1));
  }
  return [...differs].slice(0, DIFFERENCES_MAX);
}

function difference(line: string, sought: string, number: number): string {
  if (line.includes("\r") !== sought.includes("\r") && withoutReturn(line) === withoutReturn(sought))
    return line.endsWith("\r") ? "line ends: the file has CRLF" : "line ends: the file has LF alone";
  if (line.trimEnd() === sought.trimEnd()) return `white space at the end of line ${number}`;
  if (line.trim() === sought.trim()) return indentation(line, sought, number);
  if (keyOf(line) === keyOf(sought)) {
    const isCase = line.replaceAll(/\s+/g, " ").trim() !== sought.replaceAll(/\s+/g, " ").trim();
    return `${isCase ? "case" : "white space"} in line ${number}`;
  }
  const [has, instead] = changedPart(line.trim(), sought.trim());
  return `line ${number} has \`${has}\` where \`${instead}\` was sought`;
}

function withoutReturn(line: string): string {
  return line.replace(/\r$/, "");
}

function indentation(line: string, sought: string, number: number): string {
  const [has, instead] = [line, sought].map((each) => kindOf(each.slice(0, each.length - each.trimStart().length)));
  return has === instead
    ? `indentation of line ${number}`
    : `indentation of line ${number}: ${has} in the file, ${instead} in what was sought`;
}

function kindOf(space: string): string {
  if (space === "") return "none";
  const kinds = [space.includes("\t") && "tabs", space.includes(" ") && "spaces"].filter((kind) => kind !== false);
  return `${kinds.join(" and ")} (${space.length})`;
}

const PART_CHARACTERS_MAX = 80;

/** What stands between the beginning and the end that both have, by whole words. */
function changedPart(line: string, sought: string): readonly [string, string] {
  const limit = Math.min(line.length, sought.length);
  let start = 0;
  while (start < limit && line[start] === sought[start]) start += 1;
  let end = 0;
  while (end < limit - start && line.at(-1 - end) === sought.at(-1 - end)) end += 1;
  while (start > 0 && /\w/.test(line[start - 1] ?? "")) start -= 1;
  while (end > 0 && /\w/.test(line[line.length - end] ?? "")) end -= 1;
  const part = (text: string) => text.slice(start, Math.min(text.length - end, start + PART_CHARACTERS_MAX));
  return [part(line), part(sought)];
}
