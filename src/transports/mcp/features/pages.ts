/**
 * Cuts lists into pages by cursors that name a place in the list.
 *
 * INVARIANT: a cursor that is none of this list's is refused, never taken for its beginning.
 */

/** Entries of one page. */
export const PAGE_ENTRIES_MAX = 250;

/** One page, and the cursor of the next. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor?: string;
}

/** The page at `cursor`; `undefined` for a cursor that is none. */
export function pageOf<Entry>(all: readonly Entry[], cursor: string | undefined): Page<Entry> | undefined {
  const start = cursor === undefined ? 0 : placeOf(cursor);
  if (start === undefined || (start > 0 && start >= all.length)) return undefined;
  const end = start + PAGE_ENTRIES_MAX;
  return { entries: all.slice(start, end), ...(end < all.length && { nextCursor: cursorAt(end) }) };
}

function cursorAt(place: number): string {
  return Buffer.from(`at ${place}`).toString("base64url");
}

function placeOf(cursor: string): number | undefined {
  const place = /^at (\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1];
  return place === undefined || cursorAt(Number(place)) !== cursor ? undefined : Number(place);
}
