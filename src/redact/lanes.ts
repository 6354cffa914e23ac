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

/** The characters of a block by their low bytes. In use only until its candidates are known: looking at those may search again. */
const bytes = Buffer.allocUnsafeSlow(WARM_UP + BLOCK_CHARACTERS);
/** Classes of all low bytes, by the automaton's own. */
const widened = new WeakMap<Uint8Array, Uint8Array>();

/** What is called for each state in which a keyword may end, with the index of its last character. */
export type OnCandidate = (state: number, index: number) => void;

/** Whether the text can be searched in several places at once. */
export function suitsLanes(text: string): boolean {
  return text.length >= TEXT_CHARACTERS_MIN && !text.includes("\0");
}

/**
 * Calls `onCandidate` wherever keywords may end. Characters beyond Latin-1 are seen by their low byte, which can only make
 * candidates out of what is none: `isPlain` tells them.
 */
export function scanLanes(automaton: KeywordAutomaton, text: string, onCandidate: OnCandidate): void {
  for (let from = 0; from < text.length; from += BLOCK_CHARACTERS) {
    const warmUp = Math.min(from, WARM_UP);
    const block = text.slice(from - warmUp, from + BLOCK_CHARACTERS);
    bytes.write(block, "latin1");
    for (const candidates of scanBlock(automaton, warmUp, block.length, from - warmUp)) {
      for (let place = 0; place < candidates.length; place += 2) onCandidate(candidates[place] ?? 0, candidates[place + 1] ?? 0);
    }
  }
}

/** Whether a keyword of `length` characters that ends at `index` really is ASCII. */
export function isPlain(text: string, index: number, length: number): boolean {
  for (let place = index - length + 1; place <= index; place += 1) if (!(text.charCodeAt(place) < ASCII)) return false;
  return true;
}

/** Searches `bytes` from `start` up to `end`; what stands before is only there to be begun with. Gives states and indices by turns. */
function scanBlock(automaton: KeywordAutomaton, start: number, end: number, base: number): readonly (readonly number[])[] {
  const { next, accepting } = automaton;
  const classes = classesOf(automaton);
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
    a = next[a + (classes[bytes[start + step] ?? 0] ?? 0)] ?? 0;
    b = next[b + (classes[bytes[second + step] ?? 0] ?? 0)] ?? 0;
    c = next[c + (classes[bytes[third + step] ?? 0] ?? 0)] ?? 0;
    d = next[d + (classes[bytes[fourth + step] ?? 0] ?? 0)] ?? 0;
    if (a >= accepting) met[0].push(a, base + start + step);
    if (b >= accepting) met[1].push(b, base + second + step);
    if (c >= accepting) met[2].push(c, base + third + step);
    if (d >= accepting) met[3].push(d, base + fourth + step);
  }
  for (let place = fourth + part; place < end; place += 1) {
    d = next[d + (classes[bytes[place] ?? 0] ?? 0)] ?? 0;
    if (d >= accepting) met[3].push(d, base + place);
  }
  return met;
}

/** The state before the character at `place`, as far as keywords that end there or later go. */
function stateAt(next: Int32Array, classes: Uint8Array, place: number): number {
  let state = 0;
  for (let before = Math.max(0, place - WARM_UP); before < place; before += 1)
    state = next[state + (classes[bytes[before] ?? 0] ?? 0)] ?? 0;
  return state;
}

function classesOf({ classes }: KeywordAutomaton): Uint8Array {
  let wide = widened.get(classes);
  if (!wide) {
    wide = new Uint8Array(256);
    wide.set(classes);
    widened.set(classes, wide);
  }
  return wide;
}
