/**
 * Verifies stored content beside the kernels that store it.
 *
 * Every object is hashed again, and every row is compared with its file. Every result and document that the ledger
 * names must be there and must be kept. It changes nothing.
 */
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { CONTENT_PAGE_MAX, CONTENT_SCANNED_MAX, LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import type { ContentInventory, ContentProblem, LedgerReference, ListedContent } from "../../cas/content-store.ts";
import type { EventType } from "../../model/outcome/event.ts";
import { HASH_PATTERN } from "../../model/work/content.ts";
import { openContentInventory } from "../../stores/embedded/content/content-inventory.ts";
import { type LedgerReader, type LedgerRecord, withLedgerReader } from "./ledger-reader.ts";

/** Problems that one verification lists; the others are counted. */
export const CONTENT_PROBLEMS_MAX = 1000;

/** What a verification found. */
export interface ContentReport {
  readonly ok: boolean;
  readonly objects: number;
  readonly bytes: number;
  /** Results and documents that the ledger names. */
  readonly ledgerResults: number;
  /** Files that no row names: harmless, a collection removes them. */
  readonly strayFiles: number;
  /** The first of them. */
  readonly problems: readonly ContentProblem[];
  /** How many more there are than are listed. */
  readonly problemsOmitted: number;
}

/** How far a verification is. */
export interface ContentProgress {
  readonly objects: number;
  readonly bytes: number;
}

export type { ListedContent } from "../../cas/content-store.ts";

const NOTHING: ContentReport = {
  ok: true,
  objects: 0,
  bytes: 0,
  ledgerResults: 0,
  strayFiles: 0,
  problems: [],
  problemsOmitted: 0,
};

/** What is wrong: the first problems, and how many there are. */
class Problems {
  readonly listed: ContentProblem[] = [];
  count = 0;

  /** Takes a problem. */
  add(problem: ContentProblem): void {
    this.addSome([problem], 1);
  }

  /** Takes `count` problems, of which `first` are the first. */
  addSome(first: readonly ContentProblem[], count: number): void {
    this.listed.push(...first.slice(0, CONTENT_PROBLEMS_MAX - this.listed.length));
    this.count += Math.max(count, first.length);
  }
}

/** Verifies the content of a state directory. Problems are in the report, never thrown. */
export async function verifyContent(
  stateDirectory: string,
  onProgress?: (progress: ContentProgress) => void,
): Promise<ContentReport> {
  const inventory = await openContentInventory(stateDirectory);
  if (inventory === undefined) return NOTHING;
  const problems = new Problems();
  try {
    let objects = 0;
    let bytes = 0;
    for await (const { hash, sizeBytes } of allContent(inventory)) {
      const problem = await inventory.inspect(hash);
      if (problem !== undefined) problems.add({ hash, problem });
      objects += 1;
      bytes += sizeBytes;
      onProgress?.({ objects, bytes });
    }
    problems.addSome(await inventory.dangling(CONTENT_PROBLEMS_MAX), await inventory.countDangling());
    const ledgerResults = await verifyReferences(stateDirectory, inventory, problems);
    const strayFiles = await inventory.countStrayFiles();
    const { listed, count } = problems;
    const problemsOmitted = count - listed.length;
    return { ok: count === 0, objects, bytes, ledgerResults, strayFiles, problems: listed, problemsOmitted };
  } finally {
    await inventory.close();
  }
}

/** Everything that is stored in a state directory, in order of hashes. */
export async function* listContent(stateDirectory: string): AsyncGenerator<ListedContent> {
  const inventory = await openContentInventory(stateDirectory);
  if (inventory === undefined) return;
  try {
    yield* allContent(inventory);
  } finally {
    await inventory.close();
  }
}

async function* allContent(inventory: Pick<ContentInventory, "list">): AsyncGenerator<ListedContent> {
  let after = "";
  for (let seen = 0; seen < CONTENT_SCANNED_MAX; seen += CONTENT_PAGE_MAX) {
    const page = await inventory.list(after, CONTENT_PAGE_MAX);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.hash;
  }
}

/** Looks up everything that the ledger names. Returns how many there are. */
function verifyReferences(stateDirectory: string, inventory: ContentInventory, problems: Problems): Promise<number> {
  return withLedgerReader(stateDirectory, async (ledger) => {
    let results = 0;
    for await (const result of namedContent(ledger)) {
      results += 1;
      const { hash, sequence } = result;
      if ((await inventory.sizeOf(hash)) === undefined) {
        problems.add({ hash, problem: `entry ${sequence} of the ledger names it, and it is not stored` });
      } else if (!(await inventory.hasReference(hash, result))) {
        problems.add({
          hash,
          problem: `entry ${sequence} of the ledger names it, and no reference keeps it; run it with --repair`,
        });
      }
    }
    return results;
  });
}

/** Content that an entry names. */
export interface NamedContent extends LedgerReference {
  readonly hash: string;
  readonly sequence: number;
}

/** The members of each event that name content. */
const NAMING: Partial<Record<EventType, readonly string[]>> = {
  tool_executed: ["resultHash"],
  tool_call_written: ["input", "call"],
  tool_output_written: ["output"],
  approval_requested: ["document"],
  tool_approval_decided: ["document"],
  provider_output_read: ["document"],
};

/** An entry with its payload, where that can be read. */
export interface ReadEntry {
  readonly record: LedgerRecord;
  readonly payload: JsonObject;
}

/** Everything stored that an entry of the ledger names, in order of the entries. */
export async function* namedContent(ledger: Pick<LedgerReader, "head" | "range">): AsyncGenerator<NamedContent> {
  for await (const { record, payload } of entriesThatName(ledger)) {
    const { sequence, sessionId, requestId, eventType } = record.entry;
    for (const member of NAMING[eventType as EventType] ?? []) {
      const hash = payload[member];
      if (typeof hash === "string" && HASH_PATTERN.test(hash)) yield { hash, sequence, sessionId, requestId };
    }
  }
}

/** The entries that may name content, with their payloads. */
export async function* entriesThatName(ledger: Pick<LedgerReader, "head" | "range">): AsyncGenerator<ReadEntry> {
  const { sequence: last } = await ledger.head();
  for (let from = 1; from <= last; from += LEDGER_READ_ROWS_MAX) {
    for (const record of await ledger.range(from, LEDGER_READ_ROWS_MAX)) {
      const members = NAMING[record.entry.eventType as EventType];
      const payload = members && record.payload && objectIn(record.payload, members);
      if (payload !== undefined) yield { record, payload };
    }
  }
}

function objectIn(payload: Uint8Array, members: readonly string[]): JsonObject | undefined {
  const text = Buffer.from(payload).toString("utf8");
  if (!members.some((member) => text.includes(`"${member}"`))) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // `handrail ledger verify` finds damaged payloads
  }
}
