/**
 * Cuts a session's lists into pages by cursors that name a place in one list as it was.
 *
 * INVARIANT: a cursor that is none of this session, of this list and of its entries as they are now is refused, never
 * taken for the beginning: no entry is left out or shown twice unnoticed.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { canonicalJson, type JsonObject } from "../../../base/json.ts";

/** Entries of one page. */
export const PAGE_ENTRIES_MAX = 250;
/** Bytes of a cursor that prove where it comes from. */
const SEAL_BYTES = 16;
/** Bytes of a place in a list. */
const PLACE_BYTES = 4;
/** Bytes of the key that seals cursors. */
const KEY_BYTES = 32;

/** One page, and the cursor of the next. */
export interface Page {
  readonly entries: readonly JsonObject[];
  readonly nextCursor?: string;
}

/** What to do about a cursor that is refused. */
export const CURSOR_REFUSED =
  "`cursor` is none of this session's for the list as it is now; ask for the list again without it";

/** The pages of one session's lists. */
export class ListPages {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #digests = new WeakMap<readonly JsonObject[], Uint8Array>();

  /** The page of the list `name` at `cursor`; `undefined` for a cursor that is none. */
  page(name: string, all: readonly JsonObject[], cursor?: string): Page | undefined {
    if (cursor === undefined && all.length <= PAGE_ENTRIES_MAX) return { entries: all };
    const state = this.#stateOf(name, all);
    const start = cursor === undefined ? 0 : this.#placeOf(cursor, state);
    if (start === undefined) return undefined;
    const end = start + PAGE_ENTRIES_MAX;
    return {
      entries: all.slice(start, end),
      ...(end < all.length && { nextCursor: this.#cursorAt(end, state) }),
    };
  }

  /** As long as nothing changed a list is the very same array, so that it is looked through once. */
  #stateOf(name: string, all: readonly JsonObject[]): Uint8Array {
    const digest = this.#digests.get(all) ?? createHash("sha256").update(canonicalJson(all)).digest();
    this.#digests.set(all, digest);
    return Buffer.concat([Buffer.from(name), digest]);
  }

  #cursorAt(place: number, state: Uint8Array): string {
    const bytes = Buffer.alloc(PLACE_BYTES);
    bytes.writeUInt32BE(place);
    return Buffer.concat([bytes, this.#seal(bytes, state)]).toString("base64url");
  }

  #placeOf(cursor: string, state: Uint8Array): number | undefined {
    if (cursor.length > CURSOR_CHARACTERS_MAX) return undefined;
    const bytes = Buffer.from(cursor, "base64url");
    if (bytes.byteLength !== PLACE_BYTES + SEAL_BYTES || bytes.toString("base64url") !== cursor) return undefined;
    const place = bytes.subarray(0, PLACE_BYTES);
    return timingSafeEqual(bytes.subarray(PLACE_BYTES), this.#seal(place, state)) ? place.readUInt32BE() : undefined;
  }

  #seal(place: Uint8Array, state: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(place).update(state).digest().subarray(0, SEAL_BYTES);
  }
}

/** Characters (UTF-16 code units) of what can be a cursor. */
const CURSOR_CHARACTERS_MAX = 64;
