/** Budgets and rates of several kernel processes that share a state directory, one of which dies. */
import { expect, onTestFinished, test } from "vitest";
import type { LeaseBudget } from "../../../../src/model/people/lease.ts";
import { UNRESTRICTED_SCOPE } from "../../../../src/model/people/lease.ts";
import { NOTHING } from "../../../../src/model/spending/budget.ts";
import { createKernel } from "../../../../src/server/doors/library.ts";
import { openBudgetStores } from "../../../../src/stores/embedded/budgets/budget-stores.ts";
import { type Child, startChild } from "../../../support/children/run.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const PERMIT = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"hold", resource);\n`;

/** A place with a lease, and a way to start kernels that spend it. */
async function leased(budget: LeaseBudget, settings = "") {
  const place = freshPlace();
  place.put("workspace/a.txt", "a");
  if (settings !== "") place.put("config/handrail.yaml", settings);
  place.put("config/policy/test.cedar", PERMIT);
  const lease = await withKernel(place, (kernel) =>
    kernel.administration.createLease(UNRESTRICTED_SCOPE, 60_000, budget),
  );
  const spend = (calls: string): Child =>
    startChild("spend", [place.state, place.config, place.workspace, lease.id, calls]);
  return { place, lease, spend };
}

async function withKernel<T>(
  place: Place,
  work: (kernel: Awaited<ReturnType<typeof createKernel>>) => Promise<T>,
): Promise<T> {
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: () => undefined,
  });
  try {
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}

async function accountsOf({ state }: Place) {
  const { budgets } = openBudgetStores(state);
  onTestFinished(() => budgets.close());
  return budgets.listAccounts(10);
}

/** Lets all children begin at once, and adds up how their calls ended. */
async function raced(children: readonly Child[]): Promise<Readonly<Record<string, number>>> {
  await Promise.all(children.map((child) => child.printed("ready")));
  for (const child of children) child.process.stdin?.end();
  const ends: Record<string, number> = {};
  for (const line of await Promise.all(children.map((child) => child.printed("done")))) {
    for (const [end, count] of Object.entries(JSON.parse(line.slice("done ".length)) as Record<string, number>))
      ends[end] = (ends[end] ?? 0) + count;
  }
  await Promise.all(children.map(({ ended }) => ended));
  return ends;
}

test("two processes at once spend a lease to its end and no further", async () => {
  const { place, lease, spend } = await leased({ calls: 70 });
  expect(await raced([spend("60"), spend("60")])).toEqual({ success: 70, budget_exceeded: 50 });
  expect(await accountsOf(place)).toMatchObject([
    { key: `lease:${lease.id}`, spent: { calls: 70 }, reserved: NOTHING },
  ]);
});

test("two processes at once make no more calls than the rate allows", async () => {
  const { spend } = await leased({}, "limits:\n  rate:\n    calls_per_minute: 1\n    burst: 40\n");
  const startedMs = Date.now();
  const { success = 0, RATE_LIMITED = 0 } = await raced([spend("60"), spend("60")]);
  const refilled = (Date.now() - startedMs) / 60_000;
  expect(success + RATE_LIMITED).toBe(120);
  expect(success).toBeLessThanOrEqual(40 + Math.ceil(refilled));
  expect(success).toBeGreaterThanOrEqual(30);
});

test("what a killed kernel had reserved stays reserved, and the next kernels count all of it as spent, once, and record it", async () => {
  const { place, lease, spend } = await leased({ calls: 2 });
  const dying = spend("hold");
  await dying.printed("held");
  dying.process.kill("SIGKILL");
  await dying.ended;
  expect(await accountsOf(place)).toMatchObject([{ spent: NOTHING, reserved: { calls: 1 } }]);
  expect(await raced([spend("3"), spend("3"), spend("3")])).toEqual({ success: 1, budget_exceeded: 8 });
  expect(await accountsOf(place)).toMatchObject([{ spent: { calls: 2 }, reserved: NOTHING }]);
  const settled = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "budget_settled");
  expect(settled).toHaveLength(1);
  expect(settled[0]?.payload).toMatchObject({
    reason: "instance_gone",
    accounts: [`lease:${lease.id}`],
    consumed: { calls: 1 },
  });
});

test("what a living kernel has reserved is left alone", async () => {
  const { place, spend } = await leased({ calls: 5 });
  const living = spend("hold");
  await living.printed("held");
  await withKernel(place, async () => undefined);
  expect(await accountsOf(place)).toMatchObject([{ spent: NOTHING, reserved: { calls: 1 } }]);
});
