/** Budgets as the operator gives them, and as agents meet them, on the command line. */
import { expect, test } from "vitest";
import type { Lease } from "../../../../src/model/people/lease.ts";
import { dataIn, handrail, linesOf, oneJsonLine } from "../../../support/command-line.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

type Shown = { readonly id: string; readonly token: string; readonly leaseId: string };

async function json<Shape>(place: Place, args: readonly string[]): Promise<Shape> {
  const { code, stdout, stderr } = await handrail(place, [...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return dataIn<Shape>(stdout);
}

async function read(place: Place, token: string) {
  const { code, stdout } = await handrail(place, [
    "call",
    "read_file",
    "--json",
    '{"path":"a.txt"}',
    "--session",
    token,
  ]);
  return {
    code,
    ...oneJsonLine<{ error?: { code: string; rule_id?: string; retry_after_ms?: number }; metadata: object }>(stdout),
  };
}

test("a budget is given, derived, spent by processes that come and go, shown, and refused when nothing is left", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "a");
  const create = ["sessions", "create", "--workspace", place.workspace];
  const parent = await json<Shown>(place, [...create, "--budget", "calls=2,bytes=1MB"]);
  const [child] = await json<Lease[]>(place, [
    "leases",
    "derive",
    parent.leaseId,
    "--lifetime",
    "1h",
    "--budget",
    "calls=9,cost=2.50",
  ]);
  expect(child?.budget).toEqual({ calls: 2, bytes: 2 ** 20, costMicros: 2_500_000 });
  const worker = await json<Shown>(place, [...create, "--lease", child?.id ?? ""]);

  const first = await read(place, worker.token);
  expect([first.code, first.metadata]).toEqual([0, expect.objectContaining({ budget_consumed: expect.any(Number) })]);
  expect((await read(place, parent.token)).code).toBe(0);
  expect(await read(place, worker.token)).toMatchObject({
    code: 2,
    error: { code: "BUDGET_EXCEEDED", rule_id: `LEASE:${parent.leaseId}` },
  });

  const shown = linesOf((await handrail(place, ["budgets"])).stdout);
  expect(shown.map((line) => line.split(/ {2,}/).slice(0, 7))).toEqual(
    expect.arrayContaining([
      ["OF", "NAME", "AMOUNT", "LIMIT", "SPENT", "RESERVED", "LEFT"],
      ["lease", parent.leaseId, "calls", "2", "2", "0", "0"],
      ["lease", child?.id, "calls", "2", "1", "0", "1"],
      ["lease", child?.id, "cost", "2.50", "0.00", "0.00", "2.50"],
    ]),
  );
  const { accounts } = await json<{ accounts: readonly { name: string; lines: readonly object[] }[] }>(place, [
    "budgets",
  ]);
  expect(accounts.find(({ name }) => name === parent.leaseId)?.lines[0]).toEqual({
    member: "calls",
    limit: 2,
    spent: 2,
    reserved: 0,
    left: 0,
  });
  expect((await handrail(place, ["leases", "list"])).stdout).toContain("calls=2,bytes=1MB");
});

test("a budget that cannot be read is refused, and says how to write it", async () => {
  const place = freshPlace();
  const { code, stderr } = await handrail(place, ["sessions", "create", "--budget", "calls=many"]);
  expect([code, stderr]).toEqual([
    64,
    "handrail: the budget cannot be used: `calls=many`: write a whole number such as 100\n",
  ]);
  expect((await handrail(place, ["budgets"])).stdout).toBe(
    "nothing is limited; give a lease a --budget, or set limits in handrail.yaml\n",
  );
});

test("limits of handrail.yaml hold for every session, and a rate survives processes that come and go", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "a");
  place.put(
    "config/handrail.yaml",
    "limits:\n  per_session: {calls: 2}\n  rate: {calls_per_minute: 1, burst: 64, tools: {read_file: {calls_per_minute: 1, burst: 3}}}\n",
  );
  const made = await json<Shown>(place, ["sessions", "create", "--workspace", place.workspace]);
  expect([(await read(place, made.token)).code, (await read(place, made.token)).code]).toEqual([0, 0]);
  expect(await read(place, made.token)).toMatchObject({
    code: 2,
    error: { code: "BUDGET_EXCEEDED", rule_id: "LIMITS:per_session" },
  });
  const limited = await read(place, made.token);
  expect(limited).toMatchObject({ code: 3, error: { code: "RATE_LIMITED" } });
  expect(limited.error?.retry_after_ms).toBeGreaterThan(0);
  const { rates } = await json<{ rates: readonly { key: string; calls: number }[] }>(place, ["budgets"]);
  expect(rates.find(({ key }) => key.startsWith("principal:"))?.calls).toBeGreaterThanOrEqual(60);
});
