/**
 * Runs the keyword automaton over a text in four places at once.
 *
 * Each step of the automaton waits for the one before it, so that one pass leaves most of the processor idle; four
 * passes that do not depend on each other do not. Each begins as many characters early as a keyword is long, and so
 * meets every keyword that ends in its own part. Bytes are read, one for each character: for the automaton all that are
 * not ASCII are alike. INVARIANT: candidates come as one pass would give them, in the same order. Texts with null
 * characters are left to one pass, because those make keywords longer.
 */
import { AUTOMATON_KEYWORD_MAX, type KeywordAutomaton } from "./keyword-automaton.ts";

const WARM_UP = AUTOMATON_KEYWORD_MAX - 1;
const ASCII = 128;
/** Characters that are searched at once. */
export const BLOCK_CHARACTERS = 16_384;

/** A character that one byte cannot hold. */
const WIDE = /[\u0100-\uffff]/;
/** Stands for every character that is not ASCII. */
const NOT_ASCII = 0xff;

/** The block that is searched, with the characters before it at which a keyword may begin. */
const block = Buffer.alloc(WARM_UP + BLOCK_CHARACTERS);

/** What is called for each state in which a keyword may end, with the index of its last character. */
export type OnCandidate = (state: number, index: number) => void;

/** Calls `onCandidate` wherever a keyword ends. `false` if the text has null characters: then nothing was called. */
export function scanInLanes(automaton: KeywordAutomaton, text: string, onCandidate: OnCandidate): boolean {
  if (text.includes("\0")) return false;
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) scanBlock(automaton, text, from, onCandidate);
  return true;
}

/** The same for the block from `from` on, of a text that has no null characters. */
export function scanBlock(automaton: KeywordAutomaton, text: string, from: number, onCandidate: OnCandidate): void {
  const start = Math.max(0, from - WARM_UP);
  const length = fill(text.slice(start, from + BLOCK_CHARACTERS));
  for (const met of scanLanes(automaton, block, length)) {
    for (let at = 0; at < met.length; at += 2) {
      const index = start + (met[at + 1] ?? 0);
      if (index >= from) onCandidate(met[at] ?? 0, index);
    }
  }
}

/** Puts `text` into the block. */
function fill(text: string): number {
  if (!WIDE.test(text)) return block.write(text, "latin1");
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    block[at] = code < ASCII ? code : NOT_ASCII;
  }
  return text.length;
}

/**
 * States in which keywords end and the indices of their last characters by turns, for the first `length` characters of
 * `codes`.
 */
function scanLanes(automaton: KeywordAutomaton, codes: Uint8Array, length: number): readonly (readonly number[])[] {
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
    a = next[(a << shift) | (classes[one] ?? 0)] ?? 0;
    b = next[(b << shift) | (classes[two] ?? 0)] ?? 0;
    c = next[(c << shift) | (classes[three] ?? 0)] ?? 0;
    d = next[(d << shift) | (classes[four] ?? 0)] ?? 0;
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
function stateAt(automaton: KeywordAutomaton, codes: Uint8Array, place: number): number {
  let state = 0;
  for (let before = Math.max(0, place - WARM_UP); before < place; before += 1)
    state = stepOn(automaton, state, codes[before] ?? 0);
  return state;
}

function stepOn({ next, classes, shift }: KeywordAutomaton, state: number, code: number): number {
  return next[(state << shift) | (classes[code] ?? 0)] ?? 0;
}
