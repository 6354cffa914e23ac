// Sessions: a token authenticates exactly its own session, and only while session and leases hold.
import { describe, expect, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import { SESSION_LIFETIME_MAX_MS } from "../../../src/base/limits.ts";
import { type Lease, UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import type { Session } from "../../../src/model/people/session.ts";
import { authenticate, mintSession, type NewSession } from "../../../src/session/session.ts";
import type { SessionStore } from "../../../src/session/session-store.ts";

const NOW = 1_800_000_000_000;
const lease = (id: string, more: Partial<Lease> = {}): Lease => ({
  id,
  scope: UNRESTRICTED_SCOPE,
  budget: {},
  createdAtMs: NOW,
  expiresAtMs: NOW + 60_000,
  ...more,
});
const wanted: NewSession = {
  userId: "user",
  agentId: "agent",
  role: "dev",
  serviceRoot: "/w",
  projectRoot: "/w",
  isolationLevel: "STRICT",
  leaseId: "lea_1",
  preset: "dev",
  lifetimeMs: 1000,
};

function memoryStore(leases: readonly Lease[]) {
  const sessions = new Map<string, Session>();
  const known = new Map(leases.map((entry) => [entry.id, entry]));
  const store: SessionStore = {
    insertSession: async (session) => void sessions.set(session.id, session),
    findSession: async (id) => sessions.get(id),
    listSessions: async () => [...sessions.values()],
    updateSession: async (id, patch) => {
      const found = sessions.get(id);
      if (!found) return undefined;
      const { frozenAtMs, branchId: _stays, ...rest } = patch;
      const changed = { ...found, ...rest, ...(typeof frozenAtMs === "number" && { frozenAtMs }) };
      sessions.set(id, changed);
      return changed;
    },
    insertLease: async (entry) => void known.set(entry.id, entry),
    findLease: async (id) => known.get(id),
    listLeases: async () => [...known.values()],
    updateLease: async () => undefined,
    close: async () => undefined,
  };
  return store;
}

async function minted(leases: readonly Lease[] = [lease("lea_1")]) {
  const store = memoryStore(leases);
  return { store, ...(await mintSession(store, wanted, { nowMs: NOW, random: systemRandom })) };
}

const reasonOf = async (store: SessionStore, token: string, nowMs = NOW) => {
  const verdict = await authenticate(store, token, nowMs);
  return verdict.ok ? "ok" : verdict.denial.reason;
};

describe("a token", () => {
  test("has 256 random bits and is stored only as a hash", async () => {
    const { session, token } = await minted();
    expect(Buffer.from(token.split(".")[1] ?? "", "base64url")).toHaveLength(32);
    expect(JSON.stringify(session)).not.toContain(token.split(".")[1]);
    expect(session.tokenHash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("authenticates its own session and lease", async () => {
    const { store, session, token } = await minted();
    expect(await authenticate(store, token, NOW)).toEqual({ ok: true, value: { session, lease: lease("lea_1") } });
  });

  test.each([
    ["an empty token", () => ""],
    ["a token without a secret", (token: string) => `${token.split(".")[0]}.`],
    ["a changed secret", (token: string) => `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`],
    ["a longer secret", (token: string) => `${token}A`],
    ["another session's secret", (token: string) => `ses_unknown.${token.split(".")[1]}`],
    ["text that is no token", () => "not a token"],
  ])("%s is refused", async (_what, change) => {
    const { store, token } = await minted();
    expect(await reasonOf(store, change(token))).toBe("session_invalid");
  });
});

describe("a session is refused", () => {
  test("from the moment it expires, not before", async () => {
    const { store, token } = await minted();
    expect(await reasonOf(store, token, NOW + 999)).toBe("ok");
    expect(await reasonOf(store, token, NOW + 1000)).toBe("session_expired");
  });

  test("once it is revoked", async () => {
    const { store, session, token } = await minted();
    await store.updateSession(session.id, { revokedAtMs: NOW });
    expect(await reasonOf(store, token)).toBe("session_revoked");
  });

  test("while it is frozen", async () => {
    const { store, session, token } = await minted();
    await store.updateSession(session.id, { frozenAtMs: NOW });
    expect(await reasonOf(store, token)).toBe("session_frozen");
  });

  test("when its lease is gone", async () => {
    const { store, token } = await minted([]);
    expect(await reasonOf(store, token)).toBe("session_invalid");
  });
});

test("the release of any ancestor lease counts as the release of the lease", async () => {
  const chain = [
    lease("lea_1", { parentId: "lea_2" }),
    lease("lea_2", { parentId: "lea_3" }),
    lease("lea_3", { releasedAtMs: NOW }),
  ];
  const { store, token } = await minted(chain);
  const verdict = await authenticate(store, token, NOW);
  expect(verdict.ok && verdict.value.lease.releasedAtMs).toBe(NOW);
});

test("a lease ends no later than any lease it derives from, although it was granted for longer", async () => {
  const chain = [
    lease("lea_1", { parentId: "lea_2", expiresAtMs: NOW + 3000 }),
    lease("lea_2", { parentId: "lea_3", expiresAtMs: NOW + 1000 }),
    lease("lea_3", { expiresAtMs: NOW + 2000 }),
  ];
  const { store, token } = await minted(chain);
  const verdict = await authenticate(store, token, NOW);
  expect(verdict.ok && verdict.value.lease.expiresAtMs).toBe(NOW + 1000);
});

test("a lease that derives from itself authenticates nobody", async () => {
  const { store, token } = await minted([lease("lea_1", { parentId: "lea_1" })]);
  expect(await reasonOf(store, token)).toBe("session_invalid");
});

test.each([0, -1, SESSION_LIFETIME_MAX_MS + 1, Number.NaN])("a lifetime of %s ms is refused", async (lifetimeMs) => {
  await expect(
    mintSession(memoryStore([]), { ...wanted, lifetimeMs }, { nowMs: NOW, random: systemRandom }),
  ).rejects.toThrow(/thirty days/);
});
