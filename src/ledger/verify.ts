/**
 * Recomputes a whole ledger and names every entry that is not what it was.
 *
 * Trusts no stored value: hashes, digests, links, sequences and encodings are all computed again. Memory is constant
 * but for the intents that are open at a time and the list of problems, which are both bounded. A row that the storage
 * engine cannot read is a problem with a sequence, not an exception.
 *
 * What it cannot see: a ledger that was replaced as a whole, or cut together with its head, and its anchor with it;
 * only a signed checkpoint kept elsewhere shows that.
 */
import { equalInConstantTime } from "../base/bytes.ts";
import { KernelError } from "../base/errors.ts";
import { blake3Digest, blake3Salted } from "../base/hash.ts";
import { HASH_SIZE, LEDGER_PROBLEMS_MAX, LEDGER_READ_ROWS_MAX } from "../base/limits.ts";
import { compareWithAnchor } from "./anchor.ts";
import type { Anchor, AnchorStore } from "./anchor-store.ts";
import { GENESIS_HASH } from "./chain.ts";
import { decodeEntry, encodeEntry, type LedgerEntry } from "./entry.ts";
import { LEDGER_OPEN_INTENTS_MAX } from "./ledger.ts";
import type { Head, LedgerRow, LedgerStore } from "./ledger-store.ts";

/** What verification reads; `anchor` is absent where the ledger is verified for itself. */
export type VerifySource = Pick<
  LedgerStore,
  "head" | "read" | "openIntents" | "integrity" | "strayPayloads" | "anchored"
> & {
  readonly anchor?: AnchorStore["read"];
};

/** Something wrong; sequence 0 is the ledger as a whole. */
export interface LedgerProblem {
  readonly sequence: number;
  readonly problem: string;
}

/** What verification found. `pruned` counts entries whose payload was removed, which is no problem. */
export interface VerifyReport {
  readonly ok: boolean;
  readonly entries: number;
  readonly pruned: number;
  readonly problems: readonly LedgerProblem[];
  /** More problems were found than are listed. */
  readonly truncated: boolean;
}

/** How far verification is. */
export interface VerifyProgress {
  readonly entries: number;
  readonly total: number;
}

/** Verifies the ledger up to the head that it finds at the start; kernels may append meanwhile. */
export async function verifyLedger(
  source: VerifySource,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<VerifyReport> {
  const run = new Verification();
  // Read before the head, which only goes forward from there.
  const anchor = await attempt(async () => ({ read: source.anchor?.() }));
  const integrity = await attempt(() => source.integrity());
  for (const problem of typeof integrity === "string" ? [integrity] : integrity)
    run.report(0, `the storage engine reports: ${problem}`);
  const head = await attempt(() => source.head());
  if (typeof head === "string") run.report(0, `the head cannot be read: ${head}`);
  const end = typeof head === "string" ? Number.MAX_SAFE_INTEGER : head.sequence;
  let from = -Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await readPage(source, from, end);
    for (const seen of page.rows) {
      if (seen.kind === "unreadable") run.unreadable(seen.sequence, seen.problem);
      else if (seen.row.sequence <= end) run.row(seen.row);
    }
    onProgress({ entries: run.entries, total: typeof head === "string" ? run.entries : end });
    if (page.next === undefined || page.next > end) break;
    from = page.next;
  }
  if (typeof head !== "string") {
    run.finish(head);
    await checkBeyond(source, head, run);
  }
  await checkStrays(source, end, run);
  if (typeof anchor === "string") run.report(0, `its anchor cannot be used: ${anchor}`);
  else if (source.anchor !== undefined) await checkAnchor(source, anchor.read, run);
  return run.result();
}

type Seen =
  | { readonly kind: "row"; readonly row: LedgerRow }
  | { readonly kind: "unreadable"; readonly sequence: number; readonly problem: string };

/** One page of rows; where it cannot be read as one, row by row. `next` is absent at the end. */
async function readPage(
  source: VerifySource,
  from: number,
  end: number,
): Promise<{ rows: readonly Seen[]; next: number | undefined }> {
  const page = await attempt(() => source.read(from, LEDGER_READ_ROWS_MAX));
  if (typeof page !== "string") {
    const last = page.at(-1);
    const rows = page.map((row) => ({ kind: "row", row }) as const);
    return { rows, next: last === undefined || page.length < LEDGER_READ_ROWS_MAX ? undefined : last.sequence + 1 };
  }
  const first = Math.max(1, from);
  const last = Math.min(end, first + LEDGER_READ_ROWS_MAX - 1);
  const rows: Seen[] = [];
  for (let sequence = first; sequence <= last; sequence++) {
    const found = await attempt(() => source.read(sequence, 1));
    if (typeof found === "string") rows.push({ kind: "unreadable", sequence, problem: found });
    else if (found[0]?.sequence === sequence) rows.push({ kind: "row", row: found[0] });
  }
  // Without a head there is no end to look for: a page on which nothing can be read is the last.
  const lost = end === Number.MAX_SAFE_INTEGER && rows.every((seen) => seen.kind === "unreadable");
  return { rows, next: lost || last >= end ? undefined : last + 1 };
}

/** Rows after the head, and the list of open intents; both only mean something if no kernel appended meanwhile. */
async function checkBeyond(source: VerifySource, head: Head, run: Verification): Promise<void> {
  const beyond = await attempt(() => source.read(head.sequence + 1, 1));
  const intents = await attempt(() => source.openIntents(LEDGER_OPEN_INTENTS_MAX));
  const now = await attempt(() => source.head());
  if (typeof now === "string" || now.sequence !== head.sequence) return;
  if (typeof beyond !== "string" && beyond[0] !== undefined)
    run.report(beyond[0].sequence, "it lies beyond the head of the ledger");
  if (typeof intents === "string") run.report(0, `the open intents cannot be read: ${intents}`);
  else run.intents(intents.map((intent) => intent.sequence));
}

/** Payloads that belong to no entry say nothing, but somebody put them there. */
async function checkStrays(source: VerifySource, end: number, run: Verification): Promise<void> {
  const strays = await attempt(() => source.strayPayloads(LEDGER_PROBLEMS_MAX));
  if (typeof strays === "string") run.report(0, `the payloads cannot be read: ${strays}`);
  else {
    // Up to the head an entry without which a payload stands is reported as missing.
    const beyond = strays.filter((sequence) => sequence < 1 || sequence > end);
    for (const sequence of beyond) run.report(sequence, "there is a payload, but no entry that it belongs to");
  }
}

async function checkAnchor(source: VerifySource, anchor: Anchor | undefined, run: Verification): Promise<void> {
  const finding = await attempt(() => compareWithAnchor(source, anchor));
  if (typeof finding === "string") run.report(0, `it cannot be compared with its anchor: ${finding}`);
  else if (finding.kind === "broken") run.report(0, finding.problem);
  else if (finding.kind === "gone") run.report(0, `it is empty, but entry ${finding.lost.sequence} stood in it`);
}

/** The value, or in words why the store could not give it. */
async function attempt<T extends object>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof KernelError && error.code !== "INTERNAL") return error.message;
    throw error;
  }
}

/** The state of one verification. */
class Verification {
  entries = 0;
  private pruned = 0;
  private readonly problems: LedgerProblem[] = [];
  private truncated = false;
  private last = 0;
  /** Hashes that the next entry may name: the stored and the recomputed one, so that one bad byte blames one entry. */
  private links: readonly Uint8Array[] | undefined = [GENESIS_HASH];
  private readonly open = new Set<number>();
  /** Entries that say that what stood before is lost, and that nobody has accepted since. */
  private restarts: number[] = [];
  /** Whether all entries so far were sound, so that the open intents are known. */
  private intentsKnown = true;

  report(sequence: number, problem: string): void {
    if (this.problems.length < LEDGER_PROBLEMS_MAX) this.problems.push({ sequence, problem });
    else this.truncated = true;
  }

  unreadable(sequence: number, problem: string): void {
    this.gap(sequence);
    this.bad(sequence, `it cannot be read: ${problem}`);
    this.last = sequence;
    this.links = undefined;
  }

  row(row: LedgerRow): void {
    this.entries += 1;
    if (row.sequence < 1) {
      this.bad(row.sequence, "no entry has such a sequence");
      return;
    }
    this.gap(row.sequence);
    const hash = blake3Digest(row.entry);
    if (!equalInConstantTime(hash, row.hash)) this.bad(row.sequence, "its hash is not the hash of its bytes");
    const decoded = decodeEntry(row.entry);
    if (decoded.kind === "malformed") this.bad(row.sequence, `its bytes are not a canonical entry: ${decoded.problem}`);
    else this.entry(row, decoded.entry);
    this.last = row.sequence;
    this.links = [row.hash, hash];
  }

  /** Compares what was read with the head. */
  finish(head: Head): void {
    if (this.last < head.sequence) this.missing(this.last + 1, head.sequence);
    else if (this.links !== undefined && !named(this.links, head.hash))
      this.report(head.sequence, "the head names another hash than its own");
  }

  /** Compares the store's list of open intents with the one that follows from the entries. */
  intents(listed: readonly number[]): void {
    if (!this.intentsKnown) return;
    const known = new Set(listed);
    for (const sequence of this.open)
      if (!known.has(sequence)) this.report(sequence, "its intent is open but not listed as open");
    for (const sequence of known)
      if (!this.open.has(sequence)) this.report(sequence, "it is listed as an open intent but is none");
  }

  result(): VerifyReport {
    const advice = "until a person accepts that with `handrail ledger accept`";
    for (const sequence of this.restarts)
      this.report(sequence, `it says that entries are lost, and counts as damage ${advice}`);
    this.restarts = [];
    const { entries, pruned, problems, truncated } = this;
    return { ok: problems.length === 0, entries, pruned, problems, truncated };
  }

  private entry(row: LedgerRow, entry: LedgerEntry): void {
    const { sequence } = row;
    if (!same(encodeEntry(entry), row.entry)) this.bad(sequence, "its bytes are not the canonical ones");
    if (entry.sequence !== sequence) this.bad(sequence, `it says that it is entry ${entry.sequence}`);
    if (this.links !== undefined && !named(this.links, entry.prevHash))
      this.bad(sequence, "it does not follow from the entry before it");
    this.payload(row, entry);
    if (entry.eventType === "ledger_accepted") this.restarts = [];
    if (entry.eventType === "ledger_restarted" && this.restarts.length < LEDGER_PROBLEMS_MAX)
      this.restarts.push(sequence);
    if (entry.closes !== 0 && this.intentsKnown && !this.open.delete(entry.closes))
      this.bad(sequence, "it closes an intent that is not open");
    if (!entry.intent) return;
    if (this.open.size < LEDGER_OPEN_INTENTS_MAX) this.open.add(sequence);
    else this.intentsKnown = false;
  }

  private payload({ sequence, salt, payload }: LedgerRow, entry: LedgerEntry): void {
    if (salt === undefined || payload === undefined) {
      this.pruned += 1;
      return;
    }
    if (payload.byteLength !== entry.payloadBytes) this.bad(sequence, "its payload has another size");
    if (salt.byteLength !== HASH_SIZE) this.bad(sequence, "the salt of its payload is not 32 bytes long");
    else if (!equalInConstantTime(blake3Salted(salt, payload), entry.payloadDigest))
      this.bad(sequence, "its payload or salt is not what was digested");
  }

  private bad(sequence: number, problem: string): void {
    this.intentsKnown = false;
    this.report(sequence, problem);
  }

  private gap(sequence: number): void {
    if (sequence === this.last + 1) return;
    this.missing(this.last + 1, sequence - 1);
    this.links = undefined;
  }

  private missing(first: number, last: number): void {
    this.bad(first, first === last ? "it is missing" : `the entries ${first} to ${last} are missing`);
  }
}

function named(links: readonly Uint8Array[], hash: Uint8Array): boolean {
  return links.some((link) => same(link, hash));
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  return equalInConstantTime(left, right);
}
