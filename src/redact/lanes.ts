/**
 * Runs the keyword automaton over a text in four places at once.
 *
 * Each step of the automaton waits for the one before it, so that one pass leaves most of the processor idle; four passes
 * that do not depend on each other do not. Each begins as many characters early as a keyword is long, and so meets every
 * keyword that ends in its own part. INVARIANT: candidates come as one pass would give them, in the same order. Texts with
 * null characters are left to one pass, because those make keywords longer.
 */
import { KEYWORD_CHARACTERS_MAX, type KeywordAutomaton } from "./keyword-automaton.ts";

/** Texts that are shorter gain nothing. */
const TEXT_CHARACTERS_MIN = 512;
const BLOCK_CHARACTERS = 64 * 1024;
const WARM_UP = KEYWORD_CHARACTERS_MAX - 1;
const ASCII = 128;

/** The characters of a block. In use only until its candidates are known: looking at those may search again. */
const codes = new Uint16Array(WARM_UP + BLOCK_CHARACTERS);
const bytes = Buffer.from(codes.buffer);

/** What is called for each state in which a keyword may end, with the index of its last character. */
export type OnCandidate = (state: number, index: number) => void;

/** Whether the text can be searched in several places at once. */
export function suitsLanes(text: string): boolean {
  return text.length >= TEXT_CHARACTERS_MIN && !text.includes("\0");
}

/** Calls `onCandidate` wherever keywords may end. */
export function scanLanes(automaton: KeywordAutomaton, text: string, onCandidate: OnCandidate): void {
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
    const warmUp = Math.min(from, WARM_UP);
    const block = text.slice(from - warmUp, from + BLOCK_CHARACTERS);
    bytes.write(block, "utf16le"); // in memory order: all machines that there are sandboxes for are little endian
    for (const candidates of scanBlock(automaton, warmUp, block.length, from - warmUp)) {
      for (let place = 0; place < candidates.length; place += 2) onCandidate(candidates[place] ?? 0, candidates[place + 1] ?? 0);
    }
  }
}

/** Searches `codes` from `start` up to `end`; what stands before is only there to be begun with. Gives states and indices by turns. */
function scanBlock(automaton: KeywordAutomaton, start: number, end: number, base: number): readonly (readonly number[])[] {
  const { next, classes, accepting } = automaton;
  const part = (end - start) >> 2;
  const second = start + part;
  const third = second + part;
  const fourth = third + part;
  let a = stateAt(next, classes, start);
  let b = stateAt(next, classes, second);
  let c = stateAt(next, classes, third);
  let d = stateAt(next, classes, fourth);
  const met: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let step = 0; step < part; step += 1) {
    const one = codes[start + step] ?? 0;
    const two = codes[second + step] ?? 0;
    const three = codes[third + step] ?? 0;
    const four = codes[fourth + step] ?? 0;
    a = next[a + (one < ASCII ? (classes[one] ?? 0) : 0)] ?? 0;
    b = next[b + (two < ASCII ? (classes[two] ?? 0) : 0)] ?? 0;
    c = next[c + (three < ASCII ? (classes[three] ?? 0) : 0)] ?? 0;
    d = next[d + (four < ASCII ? (classes[four] ?? 0) : 0)] ?? 0;
    if (a >= accepting) met[0].push(a, base + start + step);
    if (b >= accepting) met[1].push(b, base + second + step);
    if (c >= accepting) met[2].push(c, base + third + step);
    if (d >= accepting) met[3].push(d, base + fourth + step);
  }
  for (let place = fourth + part; place < end; place += 1) {
    d = stepOn(next, classes, d, codes[place] ?? 0);
    if (d >= accepting) met[3].push(d, base + place);
  }
  return met;
}

/** The state before the character at `place`, as far as keywords that end there or later go. */
function stateAt(next: Int32Array, classes: Uint8Array, place: number): number {
  let state = 0;
  for (let before = Math.max(0, place - WARM_UP); before < place; before += 1) state = stepOn(next, classes, state, codes[before] ?? 0);
  return state;
}

function stepOn(next: Int32Array, classes: Uint8Array, state: number, code: number): number {
  return next[state + (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
}
