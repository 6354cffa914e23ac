// Verification: an intact ledger passes, and whatever was changed is named.
import fc from "fast-check";
import { expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { LEDGER_PROBLEMS_MAX, LEDGER_READ_ROWS_MAX } from "../../src/base/limits.ts";
import { chainEntries, GENESIS_HASH, pendingEntry } from "../../src/ledger/chain.ts";
import type { LedgerRow } from "../../src/ledger/ledger-store.ts";
import { type VerifySource, verifyLedger } from "../../src/ledger/verify.ts";
import type { LedgerEvent } from "../../src/model/outcome/event.ts";

const zeros = (count: number): Uint8Array => new Uint8Array(count);
const view = { head: { sequence: 0, hash: GENESIS_HASH }, isOpen: () => true };

function chain(count: number): LedgerRow[] {
  const event: LedgerEvent = {
    type: "tool_executed",
    sessionId: "s",
    actor: "a",
    requestId: "r",
    timeMs: 1,
    payload: {},
  };
  const pending = Array.from({ length: count }, () => pendingEntry(event, "durable"));
  return chainEntries(view, pending, { instanceId: "ins_a", random: zeros }).entries.map(
    ({ sequence, entry, hash, salt, payload }) => ({
      sequence,
      entry,
      hash,
      salt,
      payload,
    }),
  );
}

/** Rows in memory; reading a page that holds one of `unreadable` fails. */
function sourceOf(rows: readonly LedgerRow[], unreadable: ReadonlySet<number> = new Set()): VerifySource {
  const last = rows.at(-1);
  return {
    head: async () => ({ sequence: last?.sequence ?? 0, hash: last?.hash ?? GENESIS_HASH }),
    openIntents: async () => [],
    integrity: async () => [],
    strayPayloads: async () => [],
    anchored: async () => false,
    read: async (from, limit) => {
      const page = rows.filter(({ sequence }) => sequence >= from).slice(0, limit);
      if (page.some(({ sequence }) => unreadable.has(sequence))) throw new KernelError("STORE_CORRUPT", "damaged");
      return page;
    },
  };
}

test("a chain of any length verifies, and progress reaches its end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: LEDGER_READ_ROWS_MAX * 2 + 1 }), async (count) => {
      const seen: number[] = [];
      const report = await verifyLedger(sourceOf(chain(count)), ({ entries }) => seen.push(entries));
      expect(report).toEqual({ ok: true, entries: count, pruned: 0, problems: [], truncated: false });
      expect(seen.at(-1)).toBe(count);
    }),
    { numRuns: 20 },
  );
});

test("a row that cannot be read is named and the rest is verified", async () => {
  const report = await verifyLedger(sourceOf(chain(600), new Set([1, 300, 301, 600])));
  expect(report.problems).toEqual(
    [1, 300, 301, 600].map((sequence) => ({ sequence, problem: "it cannot be read: damaged" })),
  );
  expect(report.entries).toBe(596);
});

test("a ledger of which nothing can be read ends in a report", async () => {
  const failing = (): Promise<never> => Promise.reject(new KernelError("STORE_CORRUPT", "damaged"));
  const all = {
    head: failing,
    openIntents: failing,
    integrity: failing,
    read: failing,
    strayPayloads: failing,
    anchored: failing,
  };
  const report = await verifyLedger(all);
  expect(report.ok).toBe(false);
  expect(report.problems.slice(0, 3)).toEqual([
    { sequence: 0, problem: "the storage engine reports: damaged" },
    { sequence: 0, problem: "the head cannot be read: damaged" },
    { sequence: 1, problem: "it cannot be read: damaged" },
  ]);
  expect(report.problems.at(-1)).toEqual({ sequence: 0, problem: "the payloads cannot be read: damaged" });
  expect(report.problems).toHaveLength(3 + LEDGER_READ_ROWS_MAX);
});

test("a bug in the store is no problem of the ledger", async () => {
  const bug = new TypeError("bug");
  await expect(verifyLedger({ ...sourceOf(chain(1)), read: () => Promise.reject(bug) })).rejects.toBe(bug);
});

test("the list of problems is bounded and says so", async () => {
  const broken = chain(LEDGER_PROBLEMS_MAX + 10).map((row) => ({ ...row, salt: zeros(31) }));
  let cursor = 0;
  const source = sourceOf(broken);
  const read: VerifySource["read"] = async (from, limit) => {
    cursor = Math.max(0, from - 1);
    return broken.slice(cursor, cursor + limit);
  };
  const report = await verifyLedger({ ...source, read });
  expect([report.problems.length, report.truncated, report.entries]).toEqual([
    LEDGER_PROBLEMS_MAX,
    true,
    LEDGER_PROBLEMS_MAX + 10,
  ]);
});
