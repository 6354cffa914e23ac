/**
 * The tables of the search for places (`prefilter.wat`), made from the beginnings of what is looked for.
 *
 * Most beginnings are sixteen characters of the kind that tokens consist of, which is rare in text. The others are put into sixteen groups; a
 * place is one of a group if its first three characters each may be that character of some member. INVARIANT: every text with one of the
 * beginnings passes; how many others do decides nothing but the time.
 */
import { BEGINNING_CHARACTERS_MAX, type Beginning } from "../expressions/beginning.ts";
import { type CharacterSet, fullSet, setOf } from "../expressions/character-set.ts";

/** Bytes of the tables, and where they begin in it: see `prefilter.wat`. */
export const TABLE_BYTES = 0x81e0;
const FOURTH = 0x8000;
const GROUPS = 0x8100;
const TOKEN_TABLE = 0x81c0;
/** The shift and factor of the hash of three characters. */
const HASH_SHIFT = 17;
const HASH_FACTOR = 0x3779b1;

/** What tokens consist of. */
const TOKENS = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/.=:");
const HASHED_CHARACTERS = 4;
const GROUP_COUNT = 16;
const GROUP_CHARACTERS = 3;
/** The byte of all characters that are not ASCII. */
const OTHERS = 255;
const ANYTHING = fullSet();

/** The tables for texts that begin with one of `beginnings`. */
export function buildPrefilter(beginnings: readonly Beginning[]): Uint8Array {
  const tables = new Uint8Array(TABLE_BYTES);
  const look = lookOnce();
  const rest: Group[] = [];
  for (const beginning of beginnings) {
    const characters = beginning.map(look);
    if (characters.some(({ bytes }) => bytes.length === 0)) continue; // no text begins so
    const places = Array.from({ length: HASHED_CHARACTERS }, (_, at) => characters[at] ?? look(ANYTHING));
    enterHashes(tables, places);
    if (characters.length < BEGINNING_CHARACTERS_MAX || !characters.every(({ isToken }) => isToken)) rest.push(groupOf(places));
  }
  for (const code of look(TOKENS).bytes) addTo(tables, TOKEN_TABLE, code, 1 << (code >> 4));
  for (let high = 0; high < 8; high += 1) tables[TOKEN_TABLE + 16 + high] = 1 << high;
  for (const [index, group] of gather(rest).entries()) enterGroup(tables, index, group);
  return tables;
}

/** What a place of a beginning may hold. */
interface Characters {
  readonly bytes: readonly number[];
  /** By the low and the high halves of the bytes, as bits. */
  readonly low: number;
  readonly high: number;
  /** Whether tokens consist of nothing else. */
  readonly isToken: boolean;
}

/** Looks at each set once, because many beginnings share few of them. */
function lookOnce(): (set: CharacterSet) => Characters {
  const known = new Map<CharacterSet, Characters>();
  return (set) => {
    const kept = known.get(set);
    if (kept) return kept;
    const bytes: number[] = [];
    for (let code = 1; code < 128; code += 1) if (set[code]) bytes.push(code);
    if (set[128] || set[129]) bytes.push(OTHERS);
    const low = bytes.reduce((bits, code) => bits | (1 << (code & 15)), 0);
    const high = bytes.reduce((bits, code) => bits | (1 << (code >> 4)), 0);
    const characters = { bytes, low, high, isToken: bytes.every((code) => TOKENS[code] === 1 && code !== OTHERS) };
    known.set(set, characters);
    return characters;
  };
}

function addTo(tables: Uint8Array, offset: number, index: number, bits: number): void {
  tables[offset + (index & 15)] = (tables[offset + (index & 15)] ?? 0) | bits;
}

/** Enters the first three characters by their hash, and the fourth. */
function enterHashes(tables: Uint8Array, places: readonly Characters[]): void {
  const [first = [], second = [], third = [], fourth = []] = places.map(({ bytes }) => bytes);
  const bit = 1 << classOf(fourth);
  for (const one of first) {
    for (const two of second) {
      for (const three of third) {
        const hash = (Math.imul(one | (two << 8) | (three << 16), HASH_FACTOR) << 8) >>> HASH_SHIFT;
        tables[hash] = (tables[hash] ?? 0) | bit;
      }
    }
  }
  for (const code of fourth) tables[FOURTH + code] = (tables[FOURTH + code] ?? 0) | bit;
}

/** One of eight classes, so that fourth characters of one class are alike. */
function classOf(bytes: readonly number[]): number {
  const [first = 0] = bytes;
  if (bytes.length > 100) return 0;
  if (bytes.length > 40) return 1;
  if (bytes.length > 8) return 2;
  return 3 + [48, 58, 91, 109].filter((limit) => first >= limit).length;
}

/** The characters that may stand in each place of a group: as bits, which low and which high halves. */
interface Group {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

function groupOf(places: readonly Characters[]): Group {
  const grouped = places.slice(0, GROUP_CHARACTERS);
  return { low: grouped.map(({ low }) => low), high: grouped.map(({ high }) => high) };
}

function join(one: Group, other: Group): Group {
  return {
    low: one.low.map((bits, at) => bits | (other.low[at] ?? 0)),
    high: one.high.map((bits, at) => bits | (other.high[at] ?? 0)),
  };
}

/** Makes few groups of many, the most frequent first, each joined to where it adds the least. */
function gather(all: readonly Group[]): readonly Group[] {
  const share = shares();
  const different = [...new Map(all.map((group) => [`${group.low} ${group.high}`, group])).values()];
  const groups: { group: Group; share: number }[] = [];
  const sorted = different.map((group) => ({ group, share: share(group) })).sort((one, other) => other.share - one.share);
  for (const next of sorted) {
    let best: { at: number; joined: Group; share: number; more: number } | undefined;
    for (const [at, one] of groups.entries()) {
      const joined = join(one.group, next.group);
      const whole = share(joined);
      if (best === undefined || whole - one.share < best.more) best = { at, joined, share: whole, more: whole - one.share };
    }
    if (best === undefined || (groups.length < GROUP_COUNT && best.more > next.share)) groups.push(next);
    else groups[best.at] = { group: best.joined, share: best.share };
  }
  return groups.map(({ group }) => group);
}

/** About how often characters are met in code and prose, in ten thousands. */
const OFTEN: readonly (readonly [string, number])[] = [
  [" ", 1400],
  ["etaoinsrl", 500],
  ["cdupmhfgybvwkxjqz_-./,:;()'\"=\n", 150],
  ["0123456789", 80],
  ["ABCDEFGHIJKLMNOPQRSTUVWXYZ", 40],
];
const SELDOM = 2;

/** How often a group is met by chance. */
function shares(): (group: Group) => number {
  const often = new Float64Array(256).fill(SELDOM);
  for (const [characters, weight] of OFTEN) for (const character of characters) often[character.charCodeAt(0)] = weight;
  // By a high half and eight of the low halves, as bits: how often those characters are met together.
  const sums = new Float64Array(32 * 256);
  for (let eighth = 0; eighth < 32; eighth += 1) {
    for (let bits = 1; bits < 256; bits += 1) {
      const lowest = 31 - Math.clz32(bits & -bits);
      sums[256 * eighth + bits] = (sums[256 * eighth + (bits & (bits - 1))] ?? 0) + (often[8 * eighth + lowest] ?? 0);
    }
  }
  const ofPlace = (low: number, high: number) => {
    let sum = 0;
    for (let rest = high; rest !== 0; rest &= rest - 1) {
      const half = 31 - Math.clz32(rest & -rest);
      sum += (sums[512 * half + (low & 255)] ?? 0) + (sums[512 * half + 256 + (low >> 8)] ?? 0);
    }
    return sum;
  };
  return ({ low, high }) => low.reduce((product, bits, at) => (product * ofPlace(bits, high[at] ?? 0)) / 10_000, 1);
}

function enterGroup(tables: Uint8Array, index: number, { low, high }: Group): void {
  const bit = 1 << (index & 7);
  const offset = GROUPS + (index >> 3) * 32 * GROUP_CHARACTERS;
  for (let place = 0; place < GROUP_CHARACTERS; place += 1) {
    for (let half = 0; half < 16; half += 1) {
      if (((low[place] ?? 0) >> half) & 1) addTo(tables, offset + 32 * place, half, bit);
      if (((high[place] ?? 0) >> half) & 1) addTo(tables, offset + 32 * place + 16, half, bit);
    }
  }
}
