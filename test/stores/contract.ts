/**
 * What every set of stores must do, whatever keeps the bytes. A backend calls `storeContract` with a way to open a
 * place; opening the same place twice stands for two kernels that share it.
 */
import { describe, expect, test } from "vitest";
import type { ApprovalStore } from "../../src/approval/requests/approval-store.ts";
import { systemRandom } from "../../src/base/ids.ts";
import type { BudgetStore } from "../../src/budget/budget-store.ts";
import type { RateStore } from "../../src/budget/rate-store.ts";
import type { DedupeStore } from "../../src/dedupe/dedupe-store.ts";
import type { FreezeStore } from "../../src/flow/freeze-store.ts";
import type { MarkStore } from "../../src/flow/mark-store.ts";
import type { ViolationStore } from "../../src/flow/violation-store.ts";
import { GENESIS_HASH, type PendingEntry, pendingEntry } from "../../src/ledger/chain.ts";
import type { InstanceStore } from "../../src/ledger/instance-store.ts";
import { appendBatch, appendSpooled, ledgerRecord, readOpenIntents } from "../../src/ledger/ledger.ts";
import type { AppendView, LedgerStore, StoredEntry } from "../../src/ledger/ledger-store.ts";
import { verifyLedger } from "../../src/ledger/verify.ts";
import type { LedgerEvent } from "../../src/model/outcome/event.ts";
import { type Lease, UNRESTRICTED_SCOPE } from "../../src/model/people/lease.ts";
import type { Session } from "../../src/model/people/session.ts";
import type { LockStore } from "../../src/sandbox/ports/lock-store.ts";
import type { ArmingStore } from "../../src/session/arming-store.ts";
import type { SessionStore } from "../../src/session/session-store.ts";
import { approvalContract } from "./approval-contract.ts";
import { armingContract } from "./arming-contract.ts";
import { budgetContract } from "./budget-contract.ts";
import { dedupeContract } from "./dedupe-contract.ts";
import { freezeContract } from "./freeze-contract.ts";
import { markContract } from "./mark-contract.ts";
import { rateContract } from "./rate-contract.ts";

/** One kernel's view of a place where state is kept. */
export interface Stores {
  readonly ledger: LedgerStore;
  readonly instances: InstanceStore;
  readonly sessions: SessionStore;
  readonly marks: MarkStore;
  readonly armings: ArmingStore;
  readonly freezes: FreezeStore;
  readonly violations: ViolationStore;
  readonly locks: LockStore;
  readonly dedupe: DedupeStore;
  readonly approvals: ApprovalStore;
  readonly budgets: BudgetStore;
  readonly rates: RateStore;
}

/** A backend under test: `freshPlace` is empty, `open` opens it for one kernel and is closed by the backend. */
export interface Backend {
  readonly name: string;
  readonly freshPlace: () => Promise<{ readonly open: () => Promise<Stores> }>;
}

/** An event for tests. */
export function sampleEvent(name: string, change: Partial<LedgerEvent> = {}): LedgerEvent {
  return {
    type: "tool_executed",
    sessionId: "ses_a",
    actor: "agent",
    requestId: name,
    timeMs: 1_700_000_000_000,
    payload: { name },
    ...change,
  };
}

/** A session for tests. */
export const SAMPLE_SESSION: Session = {
  id: "ses_one",
  tokenHash: "ab".repeat(32),
  userId: "ann",
  agentId: "agent",
  role: "dev",
  serviceRoot: "/srv/project/service",
  projectRoot: "/srv/project",
  isolationLevel: "STRICT",
  leaseId: "lea_one",
  mode: "default",
  preset: "dev",
  createdAtMs: 1000,
  expiresAtMs: 5000,
};

/** A lease for tests. */
export const SAMPLE_LEASE: Lease = {
  id: "lea_one",
  scope: { ...UNRESTRICTED_SCOPE, tools: [["read_file", "edit_file"], ["read_*"]] },
  budget: { calls: 10, bytes: 1000 },
  createdAtMs: 1000,
  expiresAtMs: 5000,
};

const pending = (name: string, change: Partial<LedgerEvent> = {}): PendingEntry =>
  pendingEntry(sampleEvent(name, change), "durable");
const append = (ledger: LedgerStore, ...events: readonly PendingEntry[]): Promise<readonly number[]> =>
  appendBatch(ledger, events, { instanceId: "ins_a", random: systemRandom });

/** The tests of all ports. */
export function storeContract(backend: Backend): void {
  const open = async (): Promise<Stores> => (await backend.freshPlace()).open();
  const openTwice = async (): Promise<readonly [Stores, Stores]> => {
    const place = await backend.freshPlace();
    return [await place.open(), await place.open()];
  };
  describe(`${backend.name}: ledger store`, () => ledgerContract(open, openTwice));
  describe(`${backend.name}: instance store`, () => instanceContract(openTwice));
  describe(`${backend.name}: session store`, () => sessionContract(open, openTwice));
  describe(`${backend.name}: lock store`, () => lockContract(open, openTwice));
  describe(`${backend.name}: mark store`, () => markContract(backend));
  describe(`${backend.name}: arming store`, () => armingContract(backend));
  describe(`${backend.name}: freeze and violation stores`, () => freezeContract(backend));
  describe(`${backend.name}: budget store`, () => {
    budgetContract(
      async () => (await open()).budgets,
      async () => {
        const [left, right] = await openTwice();
        return [left.budgets, right.budgets];
      },
    );
  });
  describe(`${backend.name}: rate store`, () => {
    rateContract(async () => {
      const [left, right] = await openTwice();
      return [left.rates, right.rates];
    });
  });
  describe(`${backend.name}: approval store`, () => {
    const bothOf = ([left, right]: readonly [Stores, Stores]) => [left.approvals, right.approvals] as const;
    approvalContract(
      async () => (await open()).approvals,
      async () => bothOf(await openTwice()),
    );
  });

  describe(`${backend.name}: dedupe store`, () => {
    const bothOf = ([left, right]: readonly [Stores, Stores]) => [left.dedupe, right.dedupe] as const;
    dedupeContract(
      async () => (await open()).dedupe,
      async () => bothOf(await openTwice()),
    );
  });
}

type Open = () => Promise<Stores>;
type OpenTwice = () => Promise<readonly [Stores, Stores]>;

function ledgerContract(open: Open, openTwice: OpenTwice): void {
  test("an empty ledger has the genesis head and no rows", async () => {
    const { ledger } = await open();
    const head = await ledger.head();
    expect({ sequence: head.sequence, hash: Buffer.from(head.hash) }).toEqual({
      sequence: 0,
      hash: Buffer.from(GENESIS_HASH),
    });
    expect(await ledger.read(0, 10)).toEqual([]);
  });

  test("appended entries are read back as they were built", async () => {
    const { ledger } = await open();
    expect(await append(ledger, pending("one"), pending("two"))).toEqual([1, 2]);
    const records = (await ledger.read(1, 10)).map(ledgerRecord);
    expect(records.map(({ entry }) => [entry.sequence, entry.requestId, entry.instanceId])).toEqual([
      [1, "one", "ins_a"],
      [2, "two", "ins_a"],
    ]);
    expect(Buffer.from(records[1]?.payload ?? []).toString()).toBe('{"name":"two"}');
    expect(await ledger.read(2, 1)).toHaveLength(1);
  });

  test("batches of any length are read back whole, with the intents that they open and close", async () => {
    const { ledger } = await open();
    const names: string[] = [];
    const intents: number[] = [];
    for (const length of [1, 15, 16, 17, 50]) {
      const closes = intents.splice(0, 2);
      const batch = Array.from({ length }, (_, index) => {
        names.push(`n${names.length}`);
        const isIntent = index === 7 || index === length - 1;
        if (isIntent) intents.push(names.length);
        const closed = closes[index - 3];
        return pending(names.at(-1) ?? "", {
          ...(isIntent && { intent: true }),
          ...(closed !== undefined && { closes: closed }),
        });
      });
      expect(await append(ledger, ...batch)).toEqual(batch.map((_, index) => names.length - length + index + 1));
    }
    const records = (await ledger.read(1, 200)).map(ledgerRecord);
    expect(records.map(({ entry, payload }) => [entry.requestId, Buffer.from(payload ?? []).toString()])).toEqual(
      names.map((name) => [name, `{"name":"${name}"}`]),
    );
    expect((await ledger.openIntents(10)).map(({ sequence }) => sequence)).toEqual(intents);
    expect(await verifyLedger(ledger)).toEqual({
      ok: true,
      entries: names.length,
      pruned: 0,
      problems: [],
      truncated: false,
    });
  });

  test("two kernels append to one chain", async () => {
    const [left, right] = await openTwice();
    for (let round = 0; round < 10; round++)
      await Promise.all([append(left.ledger, pending(`l${round}`)), append(right.ledger, pending(`r${round}`))]);
    expect(await verifyLedger(left.ledger)).toEqual({
      ok: true,
      entries: 20,
      pruned: 0,
      problems: [],
      truncated: false,
    });
  });

  test("a build that throws appends nothing", async () => {
    const { ledger } = await open();
    await append(ledger, pending("one"));
    const failing = ledger.append({
      durability: "durable",
      closes: [],
      build: () => {
        throw new Error("no");
      },
    });
    await expect(failing).rejects.toThrow("no");
    expect((await ledger.head()).sequence).toBe(1);
    expect(await append(ledger, pending("two"))).toEqual([2]);
  });

  test("entries that do not follow the head are refused, and nothing of them is kept", async () => {
    const { ledger } = await open();
    const stray = (sequence: number): StoredEntry => ({
      sequence,
      entry: GENESIS_HASH,
      hash: GENESIS_HASH,
      salt: GENESIS_HASH,
      payload: GENESIS_HASH,
    });
    await expect(
      ledger.append({ durability: "durable", closes: [], build: () => [stray(1), stray(3)] }),
    ).rejects.toThrow("follow the head");
    expect(await ledger.read(0, 10)).toEqual([]);
  });

  test("an intent stays open until an entry closes it, and is closed once", async () => {
    const [left, right] = await openTwice();
    await append(left.ledger, pending("intent", { intent: true }));
    expect(await right.ledger.openIntents(10)).toEqual([{ sequence: 1, instanceId: "ins_a" }]);
    expect(await readOpenIntents(right.ledger)).toEqual([
      { sequence: 1, instanceId: "ins_a", sessionId: "ses_a", actor: "agent", requestId: "intent" },
    ]);
    expect(await append(right.ledger, pending("outcome", { closes: 1 }))).toEqual([2]);
    expect(await append(left.ledger, pending("late", { closes: 1 }), pending("other"))).toEqual([0, 3]);
    expect(await left.ledger.openIntents(10)).toEqual([]);
    expect((await verifyLedger(left.ledger)).ok).toBe(true);
  });

  test("one batch cannot close an intent twice", async () => {
    const { ledger } = await open();
    await append(ledger, pending("intent", { intent: true }));
    expect(await append(ledger, pending("first", { closes: 1 }), pending("second", { closes: 1 }))).toEqual([2, 0]);
  });

  test("pruned payloads leave a chain that verifies", async () => {
    const { ledger } = await open();
    await append(ledger, pending("one"), pending("two"), pending("three"));
    expect(await ledger.prunePayloads(2)).toBe(2);
    expect((await ledger.read(1, 10)).map((row) => row.payload !== undefined)).toEqual([false, false, true]);
    expect(await verifyLedger(ledger)).toEqual({ ok: true, entries: 3, pruned: 2, problems: [], truncated: false });
  });

  test("the mark of a spool changes with the entries, never moves backwards, and is forgotten", async () => {
    const { ledger } = await open();
    const mark = (through: number) => ({ instanceId: "ins_a", through });
    const seen: number[] = [];
    const request = (through: number) => ({
      durability: "durable" as const,
      closes: [],
      spooled: mark(through),
      build: (view: AppendView): readonly StoredEntry[] => {
        seen.push(view.spooledThrough("ins_a"), view.spooledThrough("ins_b"));
        return [];
      },
    });
    await ledger.append(request(3));
    await ledger.append(request(2));
    expect(await ledger.spools(10)).toEqual([mark(3)]);
    await expect(
      ledger.append({
        ...request(9),
        build: () => {
          throw new Error("no");
        },
      }),
    ).rejects.toThrow("no");
    expect(await ledger.spools(10)).toEqual([mark(3)]);
    await ledger.forgetSpool("ins_a");
    await ledger.forgetSpool("ins_b");
    expect([await ledger.spools(10), seen]).toEqual([[], [0, 0, 3, 0]]);
  });

  test("spooled events that the ledger holds already are left out, the others keep their order", async () => {
    const { ledger } = await open();
    const event = (counter: number) => ({ counter, entry: pending(`r${counter}`) });
    const batch = { events: [event(1), event(0), event(2)], mark: { instanceId: "ins_a", through: 2 } };
    expect(await appendSpooled(ledger, batch, systemRandom)).toEqual([1, 2, 3]);
    expect(
      await appendSpooled(
        ledger,
        { events: [event(2), event(3)], mark: { instanceId: "ins_a", through: 3 } },
        systemRandom,
      ),
    ).toEqual([0, 4]);
    expect(
      await appendSpooled(
        ledger,
        { events: [event(4)], mark: { instanceId: "ins_a", through: 4 }, stands: () => false },
        systemRandom,
      ),
    ).toEqual([0]);
    expect((await ledger.read(1, 10)).map((row) => ledgerRecord(row).entry.requestId)).toEqual([
      "r1",
      "r0",
      "r2",
      "r3",
    ]);
    expect((await verifyLedger(ledger)).problems).toEqual([]);
  });

  test("sync after a buffered append keeps the chain", async () => {
    const { ledger } = await open();
    await appendBatch(ledger, [pendingEntry(sampleEvent("one"), "buffered")], {
      instanceId: "ins_a",
      random: systemRandom,
    });
    await ledger.sync();
    expect((await ledger.head()).sequence).toBe(1);
    expect(await ledger.integrity()).toEqual([]);
  });
}

function instanceContract(openTwice: OpenTwice): void {
  test("a claimed instance is alive for everybody until it is released", async () => {
    const [left, right] = await openTwice();
    const instance = await left.instances.claim();
    expect([await left.instances.isAlive(instance.id), await right.instances.isAlive(instance.id)]).toEqual([
      true,
      true,
    ]);
    await instance.release();
    expect([await left.instances.isAlive(instance.id), await right.instances.isAlive(instance.id)]).toEqual([
      false,
      false,
    ]);
  });

  test("another claim leaves living instances alive", async () => {
    const [left, right] = await openTwice();
    const first = await left.instances.claim();
    const second = await right.instances.claim();
    expect(first.id).not.toBe(second.id);
    expect(await right.instances.isAlive(first.id)).toBe(true);
    await first.release();
    await second.release();
  });

  test("an id that was never claimed is dead, one of another shape is refused", async () => {
    const [{ instances }] = await openTwice();
    expect(await instances.isAlive(`ins_${"A".repeat(22)}`)).toBe(false);
    await expect(instances.isAlive("../../etc/passwd")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
}

function sessionContract(open: Open, openTwice: OpenTwice): void {
  test("a session is found as it was inserted, an unknown one is not", async () => {
    const { sessions } = await open();
    const full: Session = {
      ...SAMPLE_SESSION,
      id: "ses_full",
      skill: "review",
      isolationLevel: "SHARED",
      revokedAtMs: 7,
      frozenAtMs: 8,
    };
    await sessions.insertSession(SAMPLE_SESSION);
    await sessions.insertSession(full);
    expect(await sessions.findSession("ses_one")).toEqual(SAMPLE_SESSION);
    expect(await sessions.findSession("ses_full")).toEqual(full);
    expect(await sessions.findSession("ses_none")).toBeUndefined();
  });

  test("an id is taken once", async () => {
    const { sessions } = await open();
    await sessions.insertSession(SAMPLE_SESSION);
    await expect(sessions.insertSession({ ...SAMPLE_SESSION, role: "sre" })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect(await sessions.findSession("ses_one")).toEqual(SAMPLE_SESSION);
  });

  test("listings show the newest first", async () => {
    const { sessions } = await open();
    await sessions.insertSession(SAMPLE_SESSION);
    await sessions.insertSession({ ...SAMPLE_SESSION, id: "ses_two", createdAtMs: 2000 });
    expect((await sessions.listSessions()).map(({ id }) => id)).toEqual(["ses_two", "ses_one"]);
  });

  test("a revocation by another kernel is seen by the very next find", async () => {
    const [left, right] = await openTwice();
    await left.sessions.insertSession(SAMPLE_SESSION);
    expect(await left.sessions.findSession("ses_one")).toEqual(SAMPLE_SESSION);
    expect(await left.sessions.findSession("ses_one")).toEqual(SAMPLE_SESSION);
    await right.sessions.updateSession("ses_one", { revokedAtMs: 3000 });
    expect(await left.sessions.findSession("ses_one")).toEqual({ ...SAMPLE_SESSION, revokedAtMs: 3000 });
  });

  test("one's own revocation is seen by the very next find, and is final", async () => {
    const { sessions } = await open();
    await sessions.insertSession(SAMPLE_SESSION);
    await sessions.findSession("ses_one");
    await sessions.updateSession("ses_one", { revokedAtMs: 3000 });
    expect((await sessions.findSession("ses_one"))?.revokedAtMs).toBe(3000);
    expect((await sessions.updateSession("ses_one", { revokedAtMs: 4000 }))?.revokedAtMs).toBe(3000);
  });

  test("a session is frozen, thawed and prolonged; an unknown one is not", async () => {
    const { sessions } = await open();
    await sessions.insertSession(SAMPLE_SESSION);
    expect(await sessions.updateSession("ses_one", { frozenAtMs: 10 })).toEqual({ ...SAMPLE_SESSION, frozenAtMs: 10 });
    expect(await sessions.updateSession("ses_one", { frozenAtMs: null, expiresAtMs: 9000 })).toEqual({
      ...SAMPLE_SESSION,
      expiresAtMs: 9000,
    });
    expect(await sessions.updateSession("ses_none", { frozenAtMs: 10 })).toBeUndefined();
  });

  test("a lease is found as it was inserted, renewed and released, by every kernel", async () => {
    const [left, right] = await openTwice();
    const derived: Lease = { ...SAMPLE_LEASE, id: "lea_two", parentId: "lea_one", createdAtMs: 2000, budget: {} };
    await left.sessions.insertLease(SAMPLE_LEASE);
    await left.sessions.insertLease(derived);
    expect(await left.sessions.findLease("lea_one")).toEqual(SAMPLE_LEASE);
    expect(await right.sessions.findLease("lea_two")).toEqual(derived);
    await right.sessions.updateLease("lea_one", { expiresAtMs: 9000 });
    expect(await left.sessions.findLease("lea_one")).toEqual({ ...SAMPLE_LEASE, expiresAtMs: 9000 });
    await right.sessions.updateLease("lea_one", { releasedAtMs: 4000 });
    await right.sessions.updateLease("lea_one", { releasedAtMs: 6000 });
    expect((await left.sessions.findLease("lea_one"))?.releasedAtMs).toBe(4000);
    expect((await left.sessions.listLeases()).map(({ id }) => id)).toEqual(["lea_two", "lea_one"]);
    expect(await left.sessions.findLease("lea_none")).toBeUndefined();
  });
}

function lockContract(open: Open, openTwice: OpenTwice): void {
  const wish = { key: "/srv/a", owner: "cal_1", staleAfterMs: 30_000, nowMs: 100_000 };

  test("a held lock is busy for everybody, its own holder too, until it is released", async () => {
    const [left, right] = await openTwice();
    expect(await left.locks.acquire(wish)).toEqual({ kind: "acquired" });
    expect(await right.locks.acquire({ ...wish, owner: "cal_2" })).toEqual({
      kind: "busy",
      owner: "cal_1",
      sinceMs: 100_000,
    });
    expect(await left.locks.acquire(wish)).toEqual({ kind: "busy", owner: "cal_1", sinceMs: 100_000 });
    expect(await right.locks.acquire({ ...wish, key: "/srv/b", owner: "cal_2" })).toEqual({ kind: "acquired" });
    expect(await left.locks.release(wish)).toBe(true);
    expect(await right.locks.acquire({ ...wish, owner: "cal_2" })).toEqual({ kind: "acquired" });
  });

  test("a stale lock is taken over and its holder named; one millisecond earlier it is busy", async () => {
    const { locks } = await open();
    await locks.acquire(wish);
    expect((await locks.acquire({ ...wish, owner: "cal_2", nowMs: 129_999 })).kind).toBe("busy");
    expect(await locks.acquire({ ...wish, owner: "cal_2", nowMs: 130_000 })).toEqual({
      kind: "acquired",
      brokenOwner: "cal_1",
    });
    expect(await locks.release(wish)).toBe(false);
    expect((await locks.acquire({ ...wish, owner: "cal_3", nowMs: 130_001 })).kind).toBe("busy");
  });

  test("a clock that went backwards makes no lock stale", async () => {
    const { locks } = await open();
    await locks.acquire(wish);
    expect((await locks.acquire({ ...wish, owner: "cal_2", nowMs: 0 })).kind).toBe("busy");
  });

  test("of many that want a lock one gets it", async () => {
    const [left, right] = await openTwice();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? left : right).locks.acquire({ ...wish, owner: `cal_${index}` }),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind === "acquired")).toHaveLength(1);
  });
}
