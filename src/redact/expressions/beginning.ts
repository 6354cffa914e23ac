/**
 * What must stand where something can be found: the first characters, each as a set. It lets the search for places pass over most of a
 * text without looking closer.
 *
 * INVARIANT: a beginning never refuses a place at which its matcher finds something. What is not known is left open. Sets are shared by many
 * beginnings and never changed.
 */
import { addAll, type CharacterSet, emptySet, foldCase, hasCode, setOf } from "./character-set.ts";
import type { Node } from "./expression.ts";

/** Sets of the characters from a keyword's first one on; anything may follow the last of them, the end of the text as well. */
export type Beginning = readonly CharacterSet[];

/** Characters of a beginning at most. */
export const BEGINNING_CHARACTERS_MAX = 16;
/** Letters, digits, and what else base64 and base64url have. */
export const BASE64: CharacterSet = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_");
const NOTHING = emptySet();
/** Places that fit into the bits of a number, with the one that stands for all further ones. */
const PLACES_MAX = 30;

const exact = new Map<string, CharacterSet>();
const inBothCases = new Map<string, CharacterSet>();

/** A text as it is. */
export function exactBeginning(text: string): Beginning {
  return setsOf(text, exact, setOf);
}

/** A keyword in any case. */
export function foldedBeginning(keyword: string): Beginning {
  return setsOf(keyword, inBothCases, (character) => {
    const set = setOf(character);
    foldCase(set);
    return set;
  });
}

/** Hexadecimal digits in any case: as much of `text` as consists of them. Nothing else becomes one of them in lower case. */
export function hexadecimalBeginning(text: string): Beginning {
  const [digits = ""] = /^[0-9a-f]*/.exec(text) ?? [];
  return foldedBeginning(digits);
}

function setsOf(text: string, known: Map<string, CharacterSet>, make: (character: string) => CharacterSet): Beginning {
  return Array.from({ length: Math.min(text.length, BEGINNING_CHARACTERS_MAX) }, (_, index) => {
    const character = text.charAt(index);
    const set = known.get(character) ?? make(character);
    known.set(character, set);
    return set;
  });
}

/** `beginning`, and then `count` characters of `set`. */
export function followedBy(beginning: Beginning, set: CharacterSet, count: number): Beginning {
  const rest = Math.max(0, Math.min(count, BEGINNING_CHARACTERS_MAX - beginning.length));
  return [...beginning, ...Array.from({ length: rest }, () => set)];
}

/** A keyword in the cases that `beginning` allows, and what that says of the characters behind it. */
export function keywordBeginning(keyword: string, beginning: Beginning): Beginning {
  const inAnyCase = foldedBeginning(keyword);
  return Array.from({ length: Math.max(inAnyCase.length, beginning.length) }, (_, index) => {
    const any = inAnyCase[index];
    const allowed = beginning[index];
    if (any === undefined || allowed === undefined) return any ?? allowed ?? NOTHING;
    const character = keyword.charAt(index);
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()].map((one) => hasCode(allowed, one.charCodeAt(0)));
    if (lower && upper) return any;
    if (!lower && !upper) return NOTHING;
    return exactBeginning(lower ? character.toLowerCase() : character.toUpperCase())[0] ?? NOTHING;
  });
}

/** What the expression may match from its character `from` on, as far as every match has that many characters. */
export function expressionBeginning(tree: Node, from: number): Beginning {
  const length = from + BEGINNING_CHARACTERS_MAX;
  if (length > PLACES_MAX) return [];
  const sets = Array.from({ length }, () => NOTHING);
  const ends = walk(tree, 1, sets);
  return sets.slice(from, firstPlace(ends));
}

/**
 * Adds to `sets` what `node` may match at each place, beginning where `starts` says. Gives where it may end. Places are bits; that of the
 * highest one stands for all beyond the last set.
 */
function walk(node: Node, starts: number, sets: CharacterSet[]): number {
  if (starts === 0) return 0;
  const beyond = 1 << sets.length;
  switch (node.kind) {
    case "character":
      for (let place = firstPlace(starts); place < sets.length; place += 1) {
        if ((starts >> place) & 1) sets[place] = union(sets[place] ?? NOTHING, node.set);
      }
      return ((starts << 1) & (2 * beyond - 1)) | (starts & beyond);
    case "look":
    case "edge":
      return starts;
    case "capture":
      return walk(node.body, starts, sets);
    case "sequence":
      return node.parts.reduce((ends, part) => walk(part, ends, sets), starts);
    case "choice":
      return node.options.reduce((ends, option) => ends | walk(option, starts, sets), 0);
    case "repeat":
      return walkRepeat(node, starts, sets);
  }
}

function walkRepeat(node: Extract<Node, { kind: "repeat" }>, starts: number, sets: CharacterSet[]): number {
  const beyond = 1 << sets.length;
  // Each turn goes on by a character, or may stay where it began: after as many turns as there are sets, another one changes nothing.
  const min = Math.min(node.min, sets.length + 1);
  const max = Math.min(node.max, min + sets.length + 1);
  let turn = starts;
  let ends = min === 0 ? starts : 0;
  for (let count = 1; count <= max; count += 1) {
    turn = walk(node.body, turn, sets);
    if (count >= min || turn === beyond) ends |= turn;
    if (turn === beyond) break;
  }
  return ends;
}

/** Both sets; one of them, if that is enough. */
function union(one: CharacterSet, other: CharacterSet): CharacterSet {
  if (one === NOTHING || one === other) return other;
  const both = one.slice();
  addAll(both, other);
  return both;
}

/** The lowest place; there is one in everything that an expression ends with. */
function firstPlace(places: number): number {
  return 31 - Math.clz32(places & -places);
}
