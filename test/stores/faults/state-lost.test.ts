/** `state.db` goes away under a running kernel: a freeze that somebody makes then must not pass it by. */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { openBudgetStores } from "../../../src/stores/embedded/budgets/budget-stores.ts";
import { openStateStores } from "../../../src/stores/embedded/sessions/state-stores.ts";
import { freshDirectory } from "../../support/store-place.ts";

const OWNER = { userId: "ada", agentId: "coder", serviceRoot: "/srv/a" };
const FREEZE = { target: { scope: "all" }, cause: "operator", reason: "stop", by: "operator:ada", atMs: 1 } as const;

async function opened() {
  const directory = await freshDirectory();
  const stores = await openStateStores(directory);
  onTestFinished(() => stores.sessions.close());
  return { directory, path: join(directory, "state.db"), ...stores };
}

test.each([
  ["removed", (path: string) => rm(path)],
  ["moved away", (path: string) => rename(path, `${path}.away`)],
])("once it was %s, nobody is let through as not frozen, and nothing is changed", async (_, lose) => {
  const { path, directory, freezes } = await opened();
  expect(await freezes.findFreeze(OWNER)).toBeUndefined();
  await lose(path);
  const other = await openStateStores(directory);
  await other.freezes.insertFreeze(FREEZE);
  await other.sessions.close();
  // Looking is bounded by a pause: it is refused soon, and from then on.
  await vi.waitFor(
    async () => {
      await nextTurn();
      await expect(freezes.findFreeze(OWNER)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    },
    { timeout: 20_000, interval: 10 },
  );
  await expect(freezes.insertFreeze(FREEZE)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("control: a freeze in the file that is open is seen", async () => {
  const { directory, freezes } = await opened();
  const other = await openStateStores(directory);
  await other.freezes.insertFreeze(FREEZE);
  await other.sessions.close();
  await nextTurn();
  expect(await freezes.findFreeze(OWNER)).toMatchObject({ reason: "stop" });
});

test("budgets whose file was removed are not spent from any more", async () => {
  const directory = await freshDirectory();
  const { rates } = openBudgetStores(directory);
  await rates.purge(0, 1);
  await rm(join(directory, "budget.db"));
  await expect(rates.giveBack("ins_a", [], 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
