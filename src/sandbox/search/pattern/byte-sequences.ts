/**
 * Derives short byte sequences of which one stands in every match of an expression.
 *
 * An example is three capital letters and a digit for `[A-Z]{3}\d+`. The sequences are looked for first, and the engine
 * reads only what is around them. They are looked for by the expressions of the language, which are fast and, for most
 * patterns, not linear. That is why these have neither repetitions nor groups.
 *
 * INVARIANT: trying one at a place takes at most ALTERNATIVES_MAX times BYTES_MAX steps.
 *
 * INVARIANT: what is not understood, and what may be any character beyond ASCII, stands for anything.
 */
import { frequencyOf } from "./rare-bytes.ts";
import { literalInFile, memberOf, partOf, rangesOf } from "./tree-nodes.ts";

/** Bytes that may stand at a place, and how often one of them does in the texts that are searched. */
interface ByteSet {
  /** As a class of the language's expressions. */
  readonly source: string;
  readonly frequency: number;
}

/** A place in a match: one of some bytes, anything, or one of several sequences somewhere in anything. */
type Piece = ByteSet | typeof ANYTHING | { readonly alternatives: readonly Sequence[] };

/** Bytes that follow each other. */
interface Sequence {
  readonly source: string;
  readonly frequency: number;
}

const ANYTHING: unique symbol = Symbol("anything");
/** Bytes of a sequence. */
export const SEQUENCE_BYTES_MAX = 4;
const ALTERNATIVES_MAX = 4;
/** Pieces of an expression that are looked at; what comes behind them stands for anything. */
const PIECES_MAX = 64;
/** Copies of what is repeated that can make a difference. */
const COPIES_MAX = SEQUENCE_BYTES_MAX;
/** Sequences that stand more often than once in so many bytes rule nothing out. */
const BYTES_PER_HIT_MIN = 1000;
const ASCII_END = 0x80;
const BEYOND_ASCII: ByteSet = { source: "\\x80-\\xff", frequency: 0.005 };

/** The expression that finds the rarest of such sequences in bytes read as Latin-1, if there are rare ones. */
export function sequencesOf(tree: unknown): RegExp | undefined {
  const best = rarest(piecesOf(tree));
  if (best === undefined || rateOf(best) * BYTES_PER_HIT_MIN > 1) return undefined;
  return new RegExp(best.map(({ source }) => source).join("|"));
}

function piecesOf(node: unknown): readonly Piece[] {
  const { variant, value } = partOf(node);
  switch (variant) {
    case "Empty":
    case "Look":
      return [];
    case "Literal": {
      const bytes = literalInFile(value);
      return bytes === undefined ? [ANYTHING] : bounded([...bytes].map((byte) => setOf([[byte, byte]])));
    }
    case "Class":
      return classPieces(value);
    case "Capture":
      return piecesOf(memberOf(value, "sub"));
    case "Repetition":
      return repeated(piecesOf(memberOf(value, "sub")), memberOf(value, "min"), memberOf(value, "max"));
    case "Concat":
      return Array.isArray(value) ? bounded(value.flatMap(piecesOf)) : [ANYTHING];
    case "Alternation":
      return alternation(value);
    default:
      return [ANYTHING];
  }
}

function bounded(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.length <= PIECES_MAX ? pieces : [...pieces.slice(0, PIECES_MAX), ANYTHING];
}

/** A character beyond ASCII takes several bytes, and bytes that are none are one: each of them is beyond ASCII. */
function classPieces(value: unknown): readonly Piece[] {
  const ranges = rangesOf(value);
  if (ranges === undefined || ranges.length === 0) return [ANYTHING];
  const ascii = ranges
    .filter(([start]) => start < ASCII_END)
    .map(([start, end]) => [start, Math.min(end, ASCII_END - 1)] as const);
  const set = setOf(ascii);
  if (ranges.every(([, end]) => end < ASCII_END)) return [set];
  const open = { source: set.source + BEYOND_ASCII.source, frequency: set.frequency + BEYOND_ASCII.frequency };
  return [open, ANYTHING, open];
}

function repeated(pieces: readonly Piece[], min: unknown, max: unknown): readonly Piece[] {
  if (typeof min !== "number" || min < 1) return [ANYTHING];
  const copies = Array.from({ length: Math.min(min, COPIES_MAX) }, () => pieces).flat();
  return bounded(min === max && min <= COPIES_MAX ? copies : [...copies, ANYTHING, ...copies]);
}

function alternation(value: unknown): readonly Piece[] {
  const alternatives: Sequence[] = [];
  for (const branch of Array.isArray(value) ? value : [undefined]) {
    const best = rarest(piecesOf(branch));
    if (best === undefined) return [ANYTHING];
    alternatives.push(...best);
  }
  return alternatives.length <= ALTERNATIVES_MAX ? [ANYTHING, { alternatives }, ANYTHING] : [ANYTHING];
}

/** What of the pieces stands least often. */
function rarest(pieces: readonly Piece[]): readonly Sequence[] | undefined {
  let best: readonly Sequence[] | undefined;
  const consider = (candidate: readonly Sequence[]) => {
    if (best === undefined || rateOf(candidate) < rateOf(best)) best = candidate;
  };
  for (const [index, piece] of pieces.entries()) {
    if (piece === ANYTHING) continue;
    if ("alternatives" in piece) consider(piece.alternatives);
    else consider([sequenceAt(pieces, index)]);
  }
  return best;
}

/** The bytes from a place on. */
function sequenceAt(pieces: readonly Piece[], first: number): Sequence {
  let source = "";
  let frequency = 1;
  for (const piece of pieces.slice(first, first + SEQUENCE_BYTES_MAX)) {
    if (piece === ANYTHING || "alternatives" in piece) break;
    source += `[${piece.source}]`;
    frequency *= piece.frequency;
  }
  return { source, frequency };
}

function rateOf(sequences: readonly Sequence[]): number {
  return sequences.reduce((sum, { frequency }) => sum + frequency, 0);
}

function setOf(ranges: readonly (readonly [number, number])[]): ByteSet {
  let source = "";
  let frequency = 0;
  for (const [start, end] of ranges) {
    source += `\\x${hex(start)}-\\x${hex(end)}`;
    for (let byte = start; byte <= end; byte += 1) frequency += frequencyOf(byte);
  }
  return { source, frequency };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
