/**
 * Finds the places of a text at which something may be found, with WebAssembly's vectors of sixteen bytes, where
 * the automaton needs a table look-up for each character that waits for the one before it.
 *
 * There is one search for the whole thread; it is in use only until the places of a block were read.
 */
import { loadVectorModule } from "../../base/vectors.ts";
import { PREFILTER_CODE } from "./prefilter-code.ts";
import { TABLE_BYTES } from "./prefilter-tables.ts";

/** Characters that are searched at once. */
export const BLOCK_CHARACTERS = 16_384;
/** Characters behind them that may be given along: no keyword is longer. */
export const BLOCK_BEHIND_MAX = 64;
/** What the search reads behind the text: a character that is no letter of any keyword. */
const PADDING = 64;
const TEXT = 0x10000;
const PLACES = 0x1e000;

interface Search {
  /** The whole memory. */
  readonly bytes: Uint8Array;
  readonly text: Buffer;
  /** The text's characters. */
  readonly codes: Uint16Array;
  readonly places: Uint16Array;
  readonly run: (length: number) => number;
}

const search = prepare();
let loaded: Uint8Array | undefined;

/** The characters of the block that was searched last. */
export const blockCodes: Uint16Array = search.codes;
/** Where something may be found in it, in ascending order: as many as the search has said. */
export const blockPlaces: Uint16Array = search.places;

/** Searches a block. Gives the number of places, some of which may lie behind its end; -1 if it holds a null character. */
export function searchBlock(tables: Uint8Array, block: string): number {
  if (loaded !== tables) {
    search.bytes.set(tables);
    loaded = tables;
  }
  search.text.write(block, "utf16le"); // in memory order: all machines that there are sandboxes for are little endian
  search.codes.fill(0xffff, block.length, block.length + PADDING);
  return search.run(block.length);
}

function prepare(): Search {
  const { memory, run } = loadVectorModule(PREFILTER_CODE, "secrets cannot be searched for");
  const characters = BLOCK_CHARACTERS + BLOCK_BEHIND_MAX;
  return {
    bytes: new Uint8Array(memory, 0, TABLE_BYTES),
    text: Buffer.from(memory, TEXT, 2 * characters),
    codes: new Uint16Array(memory, TEXT, characters + PADDING),
    places: new Uint16Array(memory, PLACES, characters + PADDING),
    run,
  };
}
