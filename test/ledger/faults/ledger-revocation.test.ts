/** A revocation by another process. */
import { expect, test } from "vitest";
import { openStateStores } from "../../../src/stores/embedded/sessions/state-stores.ts";
import { SAMPLE_LEASE, SAMPLE_SESSION } from "../../stores/contract.ts";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

test("what another process revoked is revoked at the very next look", async () => {
  const directory = await freshDirectory();
  const { sessions: store } = await openStateStores(directory);
  await store.insertSession(SAMPLE_SESSION);
  await store.insertLease(SAMPLE_LEASE);
  expect(await Promise.all([store.findSession(SAMPLE_SESSION.id), store.findLease(SAMPLE_LEASE.id)])).toEqual([
    SAMPLE_SESSION,
    SAMPLE_LEASE,
  ]);
  const other = startChild("revoke", [directory, SAMPLE_SESSION.id, SAMPLE_LEASE.id]);
  await other.printed("revoked");
  expect(await store.findSession(SAMPLE_SESSION.id)).toEqual({ ...SAMPLE_SESSION, revokedAtMs: 3000 });
  expect(await store.findLease(SAMPLE_LEASE.id)).toEqual({ ...SAMPLE_LEASE, releasedAtMs: 3000 });
  expect(await other.ended).toBe("0");
  await store.close();
});
