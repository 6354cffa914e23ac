/**
 * Finds many keywords in one pass, whatever the text: Aho and Corasick's automaton, completed to one table look-up per
 * character. Letters match in both cases; keywords are ASCII.
 *
 * A single null character changes nothing: text in UTF-16 that is seen as bytes has one beside each character, and its
 * keywords are found by the same pass. Who verifies a candidate looks at it again.
 *
 * INVARIANT: scanning takes one step per character, plus one per keyword that ends there.
 */

/** The automaton, in the form in which it runs: states are multiples of `stride`, those from `accepting` on end keywords. */
export interface KeywordAutomaton {
  /** Next state by `state + class`. */
  readonly next: Int32Array;
  /** Class of each ASCII character; all others are of class 0. */
  readonly classes: Uint8Array;
  readonly stride: number;
  /** The first state in which a keyword ends. */
  readonly accepting: number;
  /** By `state / stride`: how many characters of keywords may have begun. */
  readonly depths: Uint16Array;
  /** By `(state - accepting) / stride`: where the keywords that end there begin in `outputs`; one more entry ends the last. */
  readonly outputStarts: Int32Array;
  /** Indices of keywords; those of one state are in ascending order, so that candidates come in a fixed order. */
  readonly outputs: Int32Array;
}

/** Characters of one keyword: more of it only cost memory. */
export const KEYWORD_CHARACTERS_MAX = 32;

interface Trie {
  readonly children: Map<number, number>[];
  readonly outputs: number[][];
  readonly depths: number[];
}

/** Builds the automaton of `keywords`, each ASCII of 1 to 32 characters without null characters. */
export function buildAutomaton(keywords: readonly string[]): KeywordAutomaton {
  const { classes, stride } = classify(keywords);
  const trie = plant(keywords, classes);
  const count = trie.children.length;
  const next = new Int32Array(count * stride);
  const fail = new Int32Array(count);
  const order = [0];
  for (let head = 0; head < order.length; head += 1) {
    const state = order[head] ?? 0;
    const fallback = fail[state] ?? 0;
    // Where no keyword goes on, another one may have begun meanwhile.
    if (state !== 0) next.copyWithin(state * stride, fallback * stride, (fallback + 1) * stride);
    for (const [index, child] of trie.children[state] ?? []) {
      const elsewhere = next[state * stride + index] ?? 0;
      next[state * stride + index] = child;
      fail[child] = elsewhere;
      trie.outputs[child]?.push(...(trie.outputs[elsewhere] ?? []));
      order.push(child);
    }
    next[state * stride + NULL_CLASS] = state;
  }
  return renumber(trie, next, order, classes, stride);
}

const OTHER_CLASS = 0;
const NULL_CLASS = 1;
const ASCII = 128;

function classify(keywords: readonly string[]): { classes: Uint8Array; stride: number } {
  const classes = new Uint8Array(ASCII).fill(OTHER_CLASS);
  classes[0] = NULL_CLASS;
  let stride = 2;
  for (const keyword of keywords) {
    for (const character of keyword.toLowerCase()) {
      const code = character.charCodeAt(0);
      if (classes[code] !== OTHER_CLASS) continue;
      classes[code] = stride;
      if (code >= 97 && code <= 122) classes[code - 32] = stride;
      stride += 1;
    }
  }
  return { classes, stride };
}

function plant(keywords: readonly string[], classes: Uint8Array): Trie {
  const trie: Trie = { children: [new Map()], outputs: [[]], depths: [0] };
  for (const [keyword, text] of keywords.entries()) {
    let state = 0;
    for (let index = 0; index < text.length; index += 1) {
      const step = classes[text.charCodeAt(index)] ?? OTHER_CLASS;
      let child = trie.children[state]?.get(step);
      if (child === undefined) {
        child = trie.children.push(new Map()) - 1;
        trie.outputs.push([]);
        trie.depths.push(index + 1);
        trie.children[state]?.set(step, child);
      }
      state = child;
    }
    trie.outputs[state]?.push(keyword);
  }
  return trie;
}

/** Puts the states in the order in which they are met, those that end a keyword last: what is used most lies together. */
function renumber(trie: Trie, next: Int32Array, order: readonly number[], classes: Uint8Array, stride: number): KeywordAutomaton {
  const ends = (state: number) => (trie.outputs[state]?.length ?? 0) > 0;
  const silent = order.filter((state) => !ends(state));
  const speaking = order.filter(ends);
  const placed = [...silent, ...speaking];
  const places = new Int32Array(placed.length);
  for (const [place, state] of placed.entries()) places[state] = place;
  const moved = new Int32Array(next.length);
  const depths = new Uint16Array(placed.length);
  for (const [place, state] of placed.entries()) {
    depths[place] = trie.depths[state] ?? 0;
    for (let index = 0; index < stride; index += 1) {
      moved[place * stride + index] = (places[next[state * stride + index] ?? 0] ?? 0) * stride;
    }
  }
  const outputs: number[] = [];
  const outputStarts = speaking.map((state) => {
    const start = outputs.length;
    outputs.push(...(trie.outputs[state] ?? []).toSorted((left, right) => left - right));
    return start;
  });
  return {
    next: moved,
    classes,
    stride,
    accepting: silent.length * stride,
    depths,
    outputStarts: Int32Array.from([...outputStarts, outputs.length]),
    outputs: Int32Array.from(outputs),
  };
}
