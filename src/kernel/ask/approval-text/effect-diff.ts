/**
 * Writes what of a file changes, in pieces of whole lines, however large the file is.
 *
 * A small file is shown as by any diff. Of a larger one, all lines from the first that differs to the last are shown:
 * first as they are, then as they would be.
 *
 * INVARIANTS: secrets are found in whole versions, so no line shows a part of one; what was read is compared with its
 * digest, so what is listed is what is agreed to; of a large file only pieces stand in memory.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { KIB, textOf } from "../../../base/bytes.ts";
import { blake3Hex, streamingHash } from "../../../base/hash.ts";
import { inSlices } from "../../../base/long-steps.ts";
import type { ListedEffect } from "../../../model/approval/effect-list.ts";
import type { EffectSide, ReviewedEffect, SideOpener } from "../../../sandbox/sandbox.ts";
import { lineChanges } from "../../../text/line-changes.ts";
import { unifiedDiff } from "../../../text/unified-diff.ts";
import type { CallRedaction } from "../../redaction/redaction.ts";

/** Bytes of each version up to which lines are compared one by one. */
const COMPARED_BYTES_MAX = 256 * KIB;
/** Bytes that are read at a time, and those that are redacted without a pause. */
const PIECE_BYTES = 256 * KIB;
const REDACTED_BYTES = 32 * KIB;
/** Characters of one piece of a diff; a longer line goes on in the next one. */
const LINES_CHARACTERS_MAX = 64 * KIB;
const NEWLINE = 10;
const ENDLESS = { linesMax: Number.POSITIVE_INFINITY, lineMax: Number.POSITIVE_INFINITY };

/** What content is read and hidden with. */
export interface DiffMeans {
  readonly open: SideOpener;
  readonly redaction: CallRedaction;
  readonly signal: AbortSignal;
}

/** What follows of an effect's content. */
export interface ContentDiff {
  readonly content: ListedEffect["content"];
  readonly lines: AsyncIterable<string>;
}

type Which = "before" | "after";
type OpenSide = NonNullable<ReturnType<SideOpener>>;
const SIDES = ["before", "after"] as const;

/** What of the content of `effect` differs. */
export async function contentDiff(effect: ReviewedEffect, means: DiffMeans): Promise<ContentDiff> {
  const sides = SIDES.map((which) => effect[which]);
  if (sides.every((side) => side === undefined || side.kind === "directory")) return without("none");
  const [before, after] = sides;
  if (before?.digest === after?.digest && before?.kind === after?.kind) return without("same");
  const isSmall = sides.every((side) => side?.kind !== "file" || side.sizeBytes <= COMPARED_BYTES_MAX);
  return isSmall ? await smallDiff(effect, means) : await largeDiff(effect, means);
}

function without(content: ListedEffect["content"]): ContentDiff {
  return { content, lines: nothing() };
}

async function* nothing(): AsyncGenerator<string> {
  // there is nothing to see
}

/** A link is shown as what it leads to. */
export function shownSide({ kind, bytes }: EffectSide): Uint8Array {
  return kind === "link" ? Buffer.concat([Buffer.from("a symbolic link to "), bytes, Buffer.from("\n")]) : bytes;
}

async function smallDiff(effect: ReviewedEffect, { open, redaction, signal }: DiffMeans): Promise<ContentDiff> {
  const versions: Uint8Array[] = [];
  for (const which of SIDES) {
    const bytes = versionOf(effect, which, open);
    if (bytes === undefined) return without("changed_meanwhile");
    versions.push(bytes);
  }
  const [original = NOTHING, updated = NOTHING] = versions;
  if (versions.some((bytes) => bytes.includes(0) || textOf(bytes) === undefined)) return without("no_text");
  const { result: changes } = await inSlices("comparing two versions", lineChanges(original, updated), signal);
  const edited = { original, changes, updated };
  const { text } = unifiedDiff("", edited, { hidden: (bytes) => redaction.hidden(bytes), limits: ENDLESS });
  return { content: "lines", lines: piecesOf(text.split("\n").slice(2, -1)) };
}

const NOTHING = new Uint8Array();

/** All bytes of a side; `undefined` where they are not those that the effect is about. */
function versionOf(effect: ReviewedEffect, which: Which, open: SideOpener): Uint8Array | undefined {
  const side = effect[which];
  if (side === undefined || side.kind === "directory") return NOTHING;
  if (side.kind === "link") return shownSide(side);
  const file = open(effect.path, which);
  if (file === undefined) return undefined;
  try {
    const bytes = file.read(0, side.sizeBytes + 1);
    return blake3Hex(bytes) === side.digest ? bytes : undefined;
  } finally {
    file.close();
  }
}

async function* piecesOf(lines: readonly string[]): AsyncGenerator<string> {
  let piece = "";
  for (const line of lines) {
    if (piece.length + line.length > LINES_CHARACTERS_MAX && piece !== "") {
      yield piece;
      piece = "";
    }
    piece += `${line}\n`;
  }
  if (piece !== "") yield piece;
}

/** A version of a large file. */
interface Version {
  readonly sign: "-" | "+";
  readonly side: EffectSide | undefined;
  readonly file: OpenSide | undefined;
}

async function largeDiff(effect: ReviewedEffect, means: DiffMeans): Promise<ContentDiff> {
  const versions = opened(effect, means.open);
  let isHanded = false;
  try {
    for (const { side, file } of versions) {
      const { result } = await inSlices("reading what a person is asked about", looked(side, file), means.signal);
      if (result !== "text") return without(result);
    }
    const { result: common } = await inSlices("comparing two versions", commonEnds(versions), means.signal);
    isHanded = true;
    return { content: "lines", lines: largeLines(versions, common, means) };
  } finally {
    if (!isHanded) for (const { file } of versions) file?.close();
  }
}

function opened(effect: ReviewedEffect, open: SideOpener): readonly [Version, Version] {
  const file = (which: Which) => (effect[which]?.kind === "file" ? open(effect.path, which) : undefined);
  return [
    { sign: "-", side: effect.before, file: file("before") },
    { sign: "+", side: effect.after, file: file("after") },
  ];
}

/** Whether a version is text, and what the effect is about. */
function* looked(
  side: EffectSide | undefined,
  file: OpenSide | undefined,
): Generator<void, "text" | "no_text" | "changed_meanwhile"> {
  if (side?.kind !== "file") return "text";
  if (file === undefined) return "changed_meanwhile";
  const hash = streamingHash();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isText = true;
  for (let offset = 0; ; ) {
    const piece = file.read(offset, PIECE_BYTES);
    if (piece.length === 0) break;
    offset += piece.length;
    hash.update(piece);
    isText &&= !piece.includes(0) && decodes(decoder, piece);
    yield;
  }
  if (hash.hex() !== side.digest) return "changed_meanwhile";
  return isText ? "text" : "no_text";
}

function decodes(decoder: InstanceType<typeof TextDecoder>, piece: Uint8Array): boolean {
  try {
    decoder.decode(piece, { stream: true });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Bytes of whole lines with which both versions begin, and end. */
interface CommonEnds {
  readonly head: number;
  readonly tail: number;
}

function* commonEnds([{ side: before, file: old }, { side: after, file: updated }]: readonly [
  Version,
  Version,
]): Generator<void, CommonEnds> {
  if (old === undefined || updated === undefined || before === undefined || after === undefined)
    return { head: 0, tail: 0 };
  const shorter = Math.min(before.sizeBytes, after.sizeBytes);
  let head = 0;
  for (let offset = 0; offset < shorter; offset += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, shorter - offset);
    const [one, other] = [old.read(offset, length), updated.read(offset, length)];
    const same = sameBytes(one, other);
    const line = one.subarray(0, same).lastIndexOf(NEWLINE);
    if (line >= 0) head = offset + line + 1;
    if (same < length) break;
    yield;
  }
  let tail = 0;
  for (let seen = 0; seen < shorter - head; seen += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, shorter - head - seen);
    const one = old.read(before.sizeBytes - seen - length, length);
    const other = updated.read(after.sizeBytes - seen - length, length);
    let same = 0;
    while (same < length && one[length - 1 - same] === other[length - 1 - same]) same += 1;
    // from behind the first line feed of what is the same, whole lines stand
    const line = one.subarray(length - same).indexOf(NEWLINE);
    if (line >= 0) tail = seen + same - line - 1;
    if (same < length) break;
    yield;
  }
  return { head, tail };
}

function sameBytes(one: Uint8Array, other: Uint8Array): number {
  if (Buffer.compare(one, other) === 0) return one.length;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return same;
}

async function* largeLines(
  versions: readonly [Version, Version],
  { head, tail }: CommonEnds,
  { redaction, signal }: DiffMeans,
): AsyncGenerator<string> {
  try {
    const places = versions.map(({ side }) => `${head},${Math.max(head, (side?.sizeBytes ?? 0) - tail)}`);
    yield `@@ bytes ${places.join(" -> ")} @@\n`;
    for (const { sign, side, file } of versions) {
      if (side?.kind === "link") yield `${sign}${Buffer.from(shownSide(side)).toString()}`;
      if (side === undefined || file === undefined) continue;
      const shown = redaction.byteStream({ start: head, end: side.sizeBytes - tail });
      const lines = new SignedLines(sign);
      for (let offset = 0; ; ) {
        const piece = file.read(offset, REDACTED_BYTES);
        if (piece.length === 0) break;
        offset += piece.length;
        yield* lines.taken(shown.push(piece));
        await nextTurn();
        signal.throwIfAborted();
      }
      yield* lines.taken(shown.end());
      yield* lines.ended();
    }
  } finally {
    for (const { file } of versions) file?.close();
  }
}

/** Bytes of text as lines with a sign, in pieces. */
class SignedLines {
  readonly #sign: string;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";

  constructor(sign: string) {
    this.#sign = sign;
  }

  *taken(bytes: Uint8Array): Generator<string> {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    let piece = "";
    for (const line of lines) {
      for (const part of partsOf(line)) {
        if (piece.length + part.length > LINES_CHARACTERS_MAX && piece !== "") {
          yield piece;
          piece = "";
        }
        piece += `${this.#sign}${part}\n`;
      }
    }
    if (piece !== "") yield piece;
    while (this.#rest.length > LINES_CHARACTERS_MAX) {
      const [part = ""] = partsOf(this.#rest);
      yield `${this.#sign}${part}\n`;
      this.#rest = this.#rest.slice(part.length - GOES_ON.length);
    }
  }

  *ended(): Generator<string> {
    const rest = this.#rest + this.#decoder.decode();
    if (rest !== "") for (const part of partsOf(rest)) yield `${this.#sign}${part}\n`;
  }
}

/** Behind a part of a line that goes on in the next one. */
const GOES_ON = " …";

function partsOf(line: string): readonly string[] {
  if (line.length <= LINES_CHARACTERS_MAX) return [line];
  const parts: string[] = [];
  for (let at = 0; at < line.length; ) {
    let end = Math.min(line.length, at + LINES_CHARACTERS_MAX);
    if (end < line.length && (line.charCodeAt(end) & 0xfc00) === 0xdc00) end -= 1; // no character is cut in two
    parts.push(line.slice(at, end) + (end < line.length ? GOES_ON : ""));
    at = end;
  }
  return parts;
}
