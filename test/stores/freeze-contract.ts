/** What every store of freezes, and of the violations that lead to them, must do. */
import { expect, test } from "vitest";
import type { Freeze, FreezeTarget } from "../../src/flow/freeze-store.ts";
import type { MarkOwner } from "../../src/flow/mark-store.ts";
import type { Backend } from "./contract.ts";

const owner: MarkOwner = { userId: "ann", agentId: "agent", serviceRoot: "/srv/project/service" };
const elsewhere: MarkOwner = { ...owner, serviceRoot: "/srv/other" };
const bob: MarkOwner = { ...owner, userId: "bob" };
const WORKSPACE: FreezeTarget = { scope: "workspace", ...owner };
const PRINCIPAL: FreezeTarget = { scope: "principal", userId: "ann", agentId: "agent" };
const ALL: FreezeTarget = { scope: "all" };

const freezeOf = (target: FreezeTarget, change: Partial<Freeze> = {}): Freeze => ({
  target,
  cause: "operator",
  reason: "looked odd",
  by: "operator:ann",
  atMs: 7,
  ...change,
});

/** The contract of freezes. */
export function freezeContract(backend: Backend): void {
  test.each([
    ["a workspace", WORKSPACE, [true, false, false]],
    ["a principal", PRINCIPAL, [true, true, false]],
    ["everybody", ALL, [true, true, true]],
  ] as const)("a freeze of %s holds whom it names, and nobody once it is lifted", async (_, target, held) => {
    const { freezes } = await (await backend.freshPlace()).open();
    const holds = () =>
      Promise.all([owner, elsewhere, bob].map(async (one) => (await freezes.findFreeze(one)) !== undefined));
    expect(await holds()).toEqual([false, false, false]);
    expect(await freezes.insertFreeze(freezeOf(target))).toBe(true);
    expect(await holds()).toEqual(held);
    expect(await freezes.findFreeze(owner)).toEqual(freezeOf(target));
    expect(await freezes.removeFreeze(target)).toEqual(freezeOf(target));
    expect(await holds()).toEqual([false, false, false]);
    expect(await freezes.removeFreeze(target)).toBeUndefined();
  });

  test("a second freeze of the same target changes nothing, and of several the widest is told", async () => {
    const { freezes } = await (await backend.freshPlace()).open();
    const first = freezeOf(WORKSPACE, { cause: "alert", by: "kernel" });
    expect(await freezes.insertFreeze(first)).toBe(true);
    expect(await freezes.insertFreeze(freezeOf(WORKSPACE, { reason: "again" }))).toBe(false);
    expect(await freezes.findFreeze(owner)).toEqual(first);
    await freezes.insertFreeze(freezeOf(ALL));
    await freezes.insertFreeze(freezeOf(PRINCIPAL));
    expect((await freezes.listFreezes()).map(({ target }) => target.scope)).toEqual(["all", "principal", "workspace"]);
    expect((await freezes.findFreeze(owner))?.target.scope).toBe("all");
    await freezes.removeFreeze(ALL);
    expect((await freezes.findFreeze(owner))?.target.scope).toBe("principal");
    await freezes.removeFreeze(PRINCIPAL);
    expect(await freezes.findFreeze(owner)).toEqual(first);
  });

  test("a name that is empty is nobody else's", async () => {
    const { freezes } = await (await backend.freshPlace()).open();
    const nameless: MarkOwner = { userId: "", agentId: "", serviceRoot: "" };
    await freezes.insertFreeze(freezeOf({ scope: "workspace", ...nameless }));
    await freezes.insertFreeze(freezeOf({ scope: "principal", userId: "", agentId: "" }));
    expect(await freezes.findFreeze(nameless)).toBeDefined();
    expect(await freezes.findFreeze(owner)).toBeUndefined();
  });

  test("another kernel sees a freeze and its end at once", async () => {
    const place = await backend.freshPlace();
    const [left, right] = [await place.open(), await place.open()];
    expect(await left.freezes.findFreeze(owner)).toBeUndefined();
    await right.freezes.insertFreeze(freezeOf(ALL));
    expect(await left.freezes.findFreeze(owner)).toEqual(freezeOf(ALL));
    await right.freezes.removeFreeze(ALL);
    expect(await left.freezes.findFreeze(owner)).toBeUndefined();
  });

  const violation = (atMs: number, of: MarkOwner = owner) => ({ owner: of, atMs, windowMs: 100, countMax: 4 });

  test("violations of one principal in one workspace are counted for as long as they matter, and no further than that", async () => {
    const { violations } = await (await backend.freshPlace()).open();
    const counted: number[] = [];
    for (const atMs of [0, 50, 99, 100, 101]) counted.push(await violations.count(violation(atMs)));
    expect(counted).toEqual([1, 2, 3, 3, 4]);
    expect(await violations.count(violation(102))).toBe(4);
    expect(await violations.count(violation(102, elsewhere))).toBe(1);
    expect(await violations.count(violation(102, bob))).toBe(1);
    expect(await violations.count(violation(1000))).toBe(1);
  });

  test("violations are counted anew after they were forgotten, those of others are not", async () => {
    const { violations } = await (await backend.freshPlace()).open();
    for (const of of [owner, owner, bob]) await violations.count(violation(1, of));
    await violations.forget(owner);
    expect(await violations.count(violation(2))).toBe(1);
    expect(await violations.count(violation(2, bob))).toBe(2);
  });

  test("violations that several kernels count at the same time get a number each", async () => {
    const place = await backend.freshPlace();
    const [left, right] = [await place.open(), await place.open()];
    const counted = await Promise.all(
      [left, right, left, right].map(({ violations }, at) => violations.count({ ...violation(at), countMax: 10 })),
    );
    expect([...counted].sort()).toEqual([1, 2, 3, 4]);
  });
}
