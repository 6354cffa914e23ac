/**
 * Finds many keywords in one pass, whatever the text: Aho and Corasick's automaton, completed to one table look-up per
 * character. Letters match in both cases; keywords are ASCII.
 *
 * A single null character changes nothing: text in UTF-16 that is seen as bytes has one beside each character, and its
 * keywords are found by the same pass. Who verifies a candidate looks at it again.
 *
 * INVARIANT: scanning takes one step per character, plus one per keyword that ends there.
 */

/** The automaton, in the form in which it runs: states are numbers from 0, those from `accepting` on end keywords. */
export interface KeywordAutomaton {
  /**
   * Next state by `(state << shift) | class`. In 16 bits where they are enough, as for all that is built in: it is the
   * bulk of a redactor.
   */
  readonly next: Uint16Array | Int32Array;
  /** Class of each of the first 256 characters; those that are not ASCII are of class 0, like all others. */
  readonly classes: Uint8Array;
  /** Bits of a class. */
  readonly shift: number;
  /** The first state in which a keyword ends. */
  readonly accepting: number;
  /** By state: how many characters of keywords may have begun. */
  readonly depths: Uint8Array;
  /** By a state's place among those that end keywords: where they begin in `outputs`; one more entry ends the last. */
  readonly outputStarts: Int32Array;
  /** Indices of keywords; those of one state are in ascending order, so that candidates come in a fixed order. */
  readonly outputs: Int32Array;
}

/** Characters of one keyword of a rule: more of it only cost memory. */
export const KEYWORD_CHARACTERS_MAX = 32;
/** Characters of one keyword of the automaton: those of rules are keywords in base64, too. */
export const AUTOMATON_KEYWORD_MAX = 48;
/** States that 16 bits can tell apart. */
const SHORT_STATES_MAX = 0x10000;

/** The keywords in `text`, by their indices, one for each place in which one stands. */
export function keywordsIn(automaton: KeywordAutomaton, text: string): readonly number[] {
  const { next, classes, shift, accepting, outputStarts, outputs } = automaton;
  const met: number[] = [];
  let state = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    state = next[(state << shift) | (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
    if (state < accepting || code === 0) continue;
    met.push(...outputs.subarray(outputStarts[state - accepting], outputStarts[state - accepting + 1]));
  }
  return met;
}

/** Builds the automaton of `keywords`, each ASCII of 1 to 48 characters without null characters. */
export function buildAutomaton(keywords: readonly string[]): KeywordAutomaton {
  const { classes, shift } = classify(keywords);
  const trie = plant(keywords, classes, shift);
  const order = linkFailures(trie, shift);
  const silent = order.filter((state) => trie.outputs[state] === undefined);
  const speaking = order.filter((state) => trie.outputs[state] !== undefined);
  // Those that end a keyword come last, so that one comparison tells them; what is used most lies together.
  const inOrder = [...silent, ...speaking];
  return {
    next: renumber(trie, inOrder, shift),
    classes,
    shift,
    accepting: silent.length,
    depths: Uint8Array.from(inOrder, (state) => trie.depths[state] ?? 0),
    ...flattenOutputs(speaking.map((state) => trie.outputs[state] ?? [])),
  };
}

/** The keywords as a tree, one row of next states for each; the root is 0, which means none as well. */
interface Trie {
  readonly rows: Int32Array;
  /** By state; absent where no keyword ends. */
  readonly outputs: (number[] | undefined)[];
  readonly depths: number[];
}

/**
 * Completes the rows of a tree: where no keyword goes on, the one that has begun meanwhile does. Joins the outputs of
 * each state and of its longest proper suffix, and returns the states from the root outwards.
 */
function linkFailures({ rows, outputs }: Trie, shift: number): readonly number[] {
  const fail = new Int32Array(outputs.length);
  const order = [0];
  for (let head = 0; head < order.length; head += 1) {
    const state = order[head] ?? 0;
    const row = state << shift;
    const suffix = (fail[state] ?? 0) << shift;
    for (let step = 0; step < 1 << shift; step += 1) {
      const child = rows[row | step] ?? 0;
      const other = state === 0 ? 0 : (rows[suffix | step] ?? 0);
      if (child === 0) {
        rows[row | step] = other;
        continue;
      }
      fail[child] = other;
      const ended = outputs[other];
      if (ended) outputs[child] = [...(outputs[child] ?? []), ...ended];
      order.push(child);
    }
  }
  return order;
}

/** The rows in the order of `states`, by their places in it. */
function renumber({ rows }: Trie, states: readonly number[], shift: number): Uint16Array | Int32Array {
  const size = states.length << shift;
  const next = states.length <= SHORT_STATES_MAX ? new Uint16Array(size) : new Int32Array(size);
  const places = new Int32Array(states.length);
  for (const [place, state] of states.entries()) places[state] = place;
  for (const [place, state] of states.entries()) {
    const row = place << shift;
    for (let step = 0; step < 1 << shift; step += 1) next[row | step] = places[rows[(state << shift) | step] ?? 0] ?? 0;
    next[row | NULL_CLASS] = place;
  }
  return next;
}

function flattenOutputs(lists: readonly (readonly number[])[]): Pick<KeywordAutomaton, "outputStarts" | "outputs"> {
  const outputStarts = new Int32Array(lists.length + 1);
  for (const [index, list] of lists.entries()) outputStarts[index + 1] = (outputStarts[index] ?? 0) + list.length;
  return {
    outputStarts,
    outputs: Int32Array.from(lists.flatMap((list) => list.toSorted((left, right) => left - right))),
  };
}

const OTHER_CLASS = 0;
const NULL_CLASS = 1;
const ASCII = 128;
const LATIN = 256;

/**
 * Characters that are taken for each other, so that 64 classes are enough for what is built in: with more, the table is
 * twice as large and a scan a tenth slower. Few texts have them, and who verifies a candidate looks at it again.
 */
const ALIKE = `%&${String.fromCharCode(27)}`;

function classify(keywords: readonly string[]): { classes: Uint8Array; shift: number } {
  const classes = new Uint8Array(LATIN).fill(OTHER_CLASS);
  classes[0] = NULL_CLASS;
  let count = NULL_CLASS + 1;
  for (const keyword of keywords) {
    for (const character of keyword.toLowerCase()) {
      const code = character.charCodeAt(0);
      if (code >= ASCII || classes[code] !== OTHER_CLASS) continue;
      const alike = ALIKE.includes(character) ? ALIKE : character;
      for (let place = 0; place < alike.length; place += 1) classes[alike.charCodeAt(place)] = count;
      if (code >= 97 && code <= 122) classes[code - 32] = count;
      count += 1;
    }
  }
  return { classes, shift: 32 - Math.clz32(count - 1) };
}

function plant(keywords: readonly string[], classes: Uint8Array, shift: number): Trie {
  const characters = keywords.reduce((sum, { length }) => sum + length, 0);
  const trie: Trie = { rows: new Int32Array((characters + 1) << shift), outputs: [undefined], depths: [0] };
  const { rows, outputs, depths } = trie;
  for (const [keyword, text] of keywords.entries()) {
    let state = 0;
    for (let index = 0; index < text.length; index += 1) {
      const place = (state << shift) | (classes[text.charCodeAt(index)] ?? OTHER_CLASS);
      if (rows[place] === 0) {
        rows[place] = outputs.length;
        outputs.push(undefined);
        depths.push(index + 1);
      }
      state = rows[place] ?? 0;
    }
    outputs[state] = [...(outputs[state] ?? []), keyword];
  }
  return trie;
}
