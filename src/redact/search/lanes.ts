/**
 * Runs the keyword automaton over a block in four places at once: for text that is dense with places.
 *
 * Each step of the automaton waits for the one before it, so that one pass leaves most of the processor idle; four passes
 * that do not depend on each other do not. Each begins as many characters early as a keyword is long, and so meets every
 * keyword that ends in its own part. INVARIANT: candidates come as one pass would give them, in the same order.
 */
import { AUTOMATON_KEYWORD_MAX, type KeywordAutomaton } from "./keyword-automaton.ts";

const WARM_UP = AUTOMATON_KEYWORD_MAX - 1;
const ASCII = 128;

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
