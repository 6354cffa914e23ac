/**
 * The places of a text that a pattern matches, and the content for each, with its capture groups filled in.
 *
 * The engine fills them in itself, between marks. INVARIANTS: matches are those that a search counts; what is made of
 * them has at most EXPANDED_BYTES_MAX; a byte that is no UTF-8 is never replaced by another through a group.
 */
import { MIB } from "../../../base/bytes.ts";
import { unusedMark } from "./marked-matches.ts";
import { matchAll, OverBudget, textStart } from "./matching.ts";
import type { FoundPlace, WantedPlaces } from "./messages.ts";
import type { ReadyPattern } from "./pattern.ts";
import { engineText, stringOf } from "./text.ts";

/** Bytes of a text with the contents of all its matches. */
const EXPANDED_BYTES_MAX = 64 * MIB;

/** Thrown when the content cannot be made of the matches. */
export class BadContent extends Error {}

type RegexPattern = Extract<ReadyPattern, { kind: "regex" }>;

/** The first `placesMax` places, left to right. @throws OverBudget, BadContent */
export function placesIn(pattern: ReadyPattern, { text, content, placesMax }: WantedPlaces): readonly FoundPlace[] {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const places: FoundPlace[] = [];
  const groups = groupsIn(content);
  requireGroups(groups, pattern);
  matchAll(bytes, { pattern }, (start, end) => {
    places.push({ start, end });
    return places.length < placesMax;
  });
  if (groups.length === 0 || places.length === 0) return places;
  const size = groups.length * bytes.length + content.length * places.length;
  if (size > EXPANDED_BYTES_MAX)
    throw new BadContent(`the file has too many matches to fill in groups: they may take ${size} bytes`);
  if (pattern.kind === "bytes")
    return places.map((place) => ({
      ...place,
      content: filledIn(content, bytes.subarray(place.start, place.end).toString()),
    }));
  return expanded({ bytes, pattern, content, count: places.length });
}

interface Group {
  readonly written: string;
  /** Empty for a dollar sign that is written twice. */
  readonly name: string;
}

const GROUP = /\$(?:\$|\{([^}]*)\}|([A-Za-z0-9_]+))/g;

function groupsIn(content: string): readonly Group[] {
  return [...content.matchAll(GROUP)].map(([written, braced, bare]) => ({ written, name: braced ?? bare ?? "" }));
}

/** Throws for a group that the expression has not: the engine would put nothing there, and say nothing. */
function requireGroups(groups: readonly Group[], pattern: ReadyPattern): void {
  const names = pattern.kind === "regex" ? pattern.regex.captureNames() : [null];
  for (const { written, name } of groups) {
    if (written === "$$" || names.includes(name)) continue;
    if (/^\d{1,4}$/.test(name) && Number(name) < names.length) continue;
    const known = names.map((each, index) => `\`\${${each ?? index}}\``).join(", ");
    throw new BadContent(
      `\`${written}\` names no capture group of the expression, which has ${known}; ` +
        "write braces around the number where a letter follows, and `$$` for a dollar sign",
    );
  }
}

/** The content of a match of plain text, which has the one group that is all of it. */
function filledIn(content: string, whole: string): string {
  return content.replaceAll(GROUP, (written) => (written === "$$" ? "$" : whole));
}

function expanded({
  bytes,
  pattern,
  content,
  count,
}: {
  readonly bytes: Buffer;
  readonly pattern: RegexPattern;
  readonly content: string;
  readonly count: number;
}): readonly FoundPlace[] {
  const first = textStart(bytes);
  const { text, toByte } = engineText(bytes.subarray(first));
  const source = stringOf(text);
  const mark = unusedMark(source + content);
  if (mark === undefined) throw new OverBudget();
  const made = Buffer.from(pattern.regex.replacen(source, count, `${mark}\${0}${mark}${content}${mark}`));
  const sought = Buffer.from(mark);
  const isWhole = text.length === bytes.length - first;
  const places: FoundPlace[] = [];
  let end = 0; // of the match before, in the text
  for (let read = 0; places.length < count; ) {
    const open = made.indexOf(sought, read);
    if (open === -1) break;
    const middle = made.indexOf(sought, open + sought.length);
    const close = made.indexOf(sought, middle + sought.length);
    const start = end + open - read;
    end = start + middle - open - sought.length;
    const filled = made.toString("utf8", middle + sought.length, close);
    if (!isWhole && filled.includes("\ufffd"))
      throw new BadContent("a capture group holds bytes that are no UTF-8, which cannot be copied by an expression");
    places.push({ start: first + toByte(start), end: first + toByte(end), content: filled });
    read = close + sought.length;
  }
  return places;
}
