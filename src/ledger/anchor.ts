/**
 * Compares a ledger with its anchor.
 *
 * The comparison says whether the chain is the one that was anchored, and as long as it was. The anchor is trusted,
 * because it lies outside the ledger. Without one there is nothing to compare with, and only a ledger that never had
 * one may be without. Somebody who rewrites both together is noticed only by people who keep a hash elsewhere.
 */
import { equalInConstantTime, hex, textOf } from "../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { Anchor } from "./anchor-store.ts";
import { decodeEntry } from "./entry.ts";
import type { LedgerStore } from "./ledger-store.ts";

/** What is asked of a ledger. */
export type AnchoredSource = Pick<LedgerStore, "head" | "read" | "anchored">;

/** How a ledger and its anchor agree. */
export type AnchorFinding =
  /** Also where there is neither. */
  | { readonly kind: "fits" }
  /** A ledger that never had an anchor, such as one of an older version. */
  | { readonly kind: "unanchored" }
  /** The ledger is empty, and was not. */
  | { readonly kind: "gone"; readonly lost: Anchor }
  /** The chain begins with the words that the anchored one is gone. */
  | { readonly kind: "begun_anew" }
  | { readonly kind: "broken"; readonly problem: string };

/** Compares `source` with what `anchor` was before `source` is read. */
export async function compareWithAnchor(source: AnchoredSource, anchor: Anchor | undefined): Promise<AnchorFinding> {
  const head = await source.head();
  if (anchor === undefined) {
    if (head.sequence === 0) return { kind: "fits" };
    if (!(await source.anchored())) return { kind: "unanchored" };
    return broken("its anchor is missing, so that nobody can say whether it is whole");
  }
  if (head.sequence === 0) return { kind: "gone", lost: anchor };
  if (!same(await hashAt(source, 1), anchor.chain)) {
    if (await saysGone(source, anchor)) return { kind: "begun_anew" };
    return broken(`it is another chain than the one that is anchored at entry ${anchor.sequence}`);
  }
  if (head.sequence < anchor.sequence) {
    const ends = `it ends at entry ${head.sequence}, but entry ${anchor.sequence} stood in it`;
    return broken(`${ends}: entries were cut off, or an older copy was put in its place`);
  }
  if (same(await hashAt(source, anchor.sequence), anchor.hash)) return { kind: "fits" };
  return broken(`entry ${anchor.sequence} is not the one that is anchored`);
}

/** What is recorded of an anchored chain that is gone. */
export function lostChain({ chain, sequence, hash }: Anchor): JsonObject {
  return { chain: hex(chain), sequence, hash: hex(hash) };
}

/** The name of a ledger's chain; `undefined` while it is empty. */
export function chainOf(source: Pick<LedgerStore, "read">): Promise<Uint8Array | undefined> {
  return hashAt(source, 1);
}

function broken(problem: string): AnchorFinding {
  return { kind: "broken", problem };
}

async function hashAt(source: Pick<LedgerStore, "read">, sequence: number): Promise<Uint8Array | undefined> {
  const [row] = await source.read(sequence, 1);
  return row?.sequence === sequence ? row.hash : undefined;
}

/** A kernel that was killed between the first entry and the new anchor, or another one that was faster. */
async function saysGone(source: Pick<LedgerStore, "read">, { chain }: Anchor): Promise<boolean> {
  const [row] = await source.read(1, 1);
  if (row?.payload === undefined) return false;
  const decoded = decodeEntry(row.entry);
  if (decoded.kind === "malformed" || decoded.entry.eventType !== "ledger_restarted") return false;
  const payload: unknown = JSON.parse(textOf(row.payload) ?? "null");
  return isJsonObject(payload) && isJsonObject(payload["lost"]) && payload["lost"]["chain"] === hex(chain);
}

function same(left: Uint8Array | undefined, right: Uint8Array): boolean {
  return left !== undefined && equalInConstantTime(left, right);
}
