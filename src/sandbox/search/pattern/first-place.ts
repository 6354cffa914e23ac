/**
 * Finds the earliest place in a file at which an expression can match.
 *
 * The engine need not read what lies before.
 *
 * INVARIANT: it only ever makes a search quicker, and a match is never before the place that is returned. What the
 * language's expressions find is looked for as long as that rules places out, and in one file no longer than
 * SEARCH_PREFILTER_MS_MAX.
 */

import { SEQUENCE_BYTES_MAX } from "./byte-sequences.ts";
import { earliestPlace, soughtOf } from "./rare-bytes.ts";

/**
 * Milliseconds in one file of looking for where a match can be, before the engine looks itself: a good deal of the
 * budget stays.
 */
const SEARCH_PREFILTER_MS_MAX = 20;

/** The earliest place from `from` on where a match can have something of itself, or -1. */
export type FirstPlace = (bytes: Buffer, from: number) => number;

/** Bytes that are looked at in one go. */
const STEP_BYTES = 64 * 1024;
/** Looks after which it shows whether they are worth their time. */
const LOOKS_MIN = 32;
/** A text of so many bytes is rare, and the quickest to find. */
const RARE_BYTES = 3;

/**
 * Looks for what stands in every match: `required` or one of `sequences`, in one file for `msMax` at most; where
 * neither is known, a match can be anywhere.
 */
export function firstPlaceOf(
  required: Uint8Array | undefined,
  sequences: RegExp | undefined,
  msMax: number = SEARCH_PREFILTER_MS_MAX,
): FirstPlace {
  if (required !== undefined && (required.byteLength >= RARE_BYTES || sequences === undefined)) {
    const sought = soughtOf(required);
    return (bytes, from) => {
      const place = earliestPlace(bytes, sought, from);
      return place === -1 ? -1 : bytes.indexOf(required, place);
    };
  }
  return sequences === undefined ? (_bytes, from) => from : new SequencePlaces(sequences, msMax).first;
}

class SequencePlaces {
  readonly #sequences: RegExp;
  readonly #msMax: number;
  #looks = 0;
  #hits = 0;

  constructor(sequences: RegExp, msMax: number) {
    this.#sequences = sequences;
    this.#msMax = msMax;
  }

  readonly first: FirstPlace = (bytes, from) => {
    if (this.#looks >= LOOKS_MIN && this.#hits * 2 > this.#looks) return from; // there is one nearly everywhere
    this.#looks += 1;
    const place = this.#search(bytes, from);
    if (place !== -1) this.#hits += 1;
    return place;
  };

  #search(bytes: Buffer, from: number): number {
    const startedMs = performance.now();
    for (let at = from; at < bytes.length; at += STEP_BYTES) {
      if (at > from && performance.now() - startedMs > this.#msMax) return at;
      // A sequence may go on behind the step in which it begins.
      const place = bytes.toString("latin1", at, at + STEP_BYTES + SEQUENCE_BYTES_MAX - 1).search(this.#sequences);
      if (place !== -1) return at + place;
    }
    return -1;
  }
}
