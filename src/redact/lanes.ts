/**
 * Runs the keyword automaton over a text in four places at once.
 *
 * Each step of the automaton waits for the one before it, so that one pass leaves most of the processor idle; four passes
 * that do not depend on each other do not. Each begins as many characters early as a keyword is long, and so meets every
 * keyword that ends in its own part. INVARIANT: candidates come as one pass would give them, in the same order. Texts with null characters are
 * left to one pass, because those make keywords longer.
 */
import { AUTOMATON_KEYWORD_MAX, type KeywordAutomaton } from "./keyword-automaton.ts";

const WARM_UP = AUTOMATON_KEYWORD_MAX - 1;
const ASCII = 128;
/** Characters that are searched at once. */
const BLOCK_CHARACTERS = 16_384;

/** The characters of the block that is searched, with those before it at which a keyword may begin. */
const blockCodes = new Uint16Array(WARM_UP + BLOCK_CHARACTERS);
const blockBytes = Buffer.from(blockCodes.buffer);

/** What is called for each state in which a keyword may end, with the index of its last character. */
export type OnCandidate = (state: number, index: number) => void;

/** Calls `onCandidate` wherever a keyword ends. `false` if the text has null characters: then nothing was called. */
export function scanInLanes(automaton: KeywordAutomaton, text: string, onCandidate: OnCandidate): boolean {
  if (text.includes("\0")) return false;
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
    const start = Math.max(0, from - WARM_UP);
    const block = text.slice(start, from + BLOCK_CHARACTERS);
    blockBytes.write(block, "utf16le"); // in memory order: all machines that there are sandboxes for are little endian
    for (const met of scanLanes(automaton, blockCodes, block.length)) {
      for (let at = 0; at < met.length; at += 2) {
        const index = start + (met[at + 1] ?? 0);
        if (index >= from) onCandidate(met[at] ?? 0, index);
      }
    }
  }
  return true;
}

/** States in which keywords end and the indices of their last characters by turns, for the first `length` characters of `codes`. */
export function scanLanes(automaton: KeywordAutomaton, codes: Uint16Array, length: number): readonly (readonly number[])[] {
  const { next, classes, shift, accepting } = automaton;
  const part = length >> 2;
  let a = 0;
  let b = stateAt(automaton, codes, part);
  let c = stateAt(automaton, codes, 2 * part);
  let d = stateAt(automaton, codes, 3 * part);
  const met: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let step = 0; step < part; step += 1) {
    const one = codes[step] ?? 0;
    const two = codes[part + step] ?? 0;
    const three = codes[2 * part + step] ?? 0;
    const four = codes[3 * part + step] ?? 0;
    a = next[(a << shift) | (one < ASCII ? (classes[one] ?? 0) : 0)] ?? 0;
    b = next[(b << shift) | (two < ASCII ? (classes[two] ?? 0) : 0)] ?? 0;
    c = next[(c << shift) | (three < ASCII ? (classes[three] ?? 0) : 0)] ?? 0;
    d = next[(d << shift) | (four < ASCII ? (classes[four] ?? 0) : 0)] ?? 0;
    if (a >= accepting) met[0].push(a, step);
    if (b >= accepting) met[1].push(b, part + step);
    if (c >= accepting) met[2].push(c, 2 * part + step);
    if (d >= accepting) met[3].push(d, 3 * part + step);
  }
  for (let place = 4 * part; place < length; place += 1) {
    d = stepOn(automaton, d, codes[place] ?? 0);
    if (d >= accepting) met[3].push(d, place);
  }
  return met;
}

/** The state before the character at `place`, as far as keywords that end there or later go. */
function stateAt(automaton: KeywordAutomaton, codes: Uint16Array, place: number): number {
  let state = 0;
  for (let before = Math.max(0, place - WARM_UP); before < place; before += 1) state = stepOn(automaton, state, codes[before] ?? 0);
  return state;
}

function stepOn({ next, classes, shift }: KeywordAutomaton, state: number, code: number): number {
  return next[(state << shift) | (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
}
