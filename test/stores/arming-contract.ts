/** What every store of armings must do. */
import { expect, test } from "vitest";
import type { Arming } from "../../src/session/arming-store.ts";
import type { Backend } from "./contract.ts";

const ONE: Arming = { sessionId: "ses_one", armedAtMs: 100, untilMs: 200, armedBy: "ada" };
const ALL: Arming = { armedAtMs: 100, untilMs: 300, armedBy: "bob" };

/** The contract of armings. */
export function armingContract(backend: Backend): void {
  test("an arming covers its own session and no other", async () => {
    const { armings } = await (await backend.freshPlace()).open();
    expect(await armings.findArmedUntil("ses_one")).toBe(0);
    await armings.putArming(ONE);
    expect(await armings.findArmedUntil("ses_one")).toBe(200);
    expect(await armings.findArmedUntil("ses_two")).toBe(0);
    expect(await armings.findArmedUntil("")).toBe(0);
  });

  test("an arming of all covers every session, and the longer one counts", async () => {
    const { armings } = await (await backend.freshPlace()).open();
    await armings.putArming(ONE);
    await armings.putArming(ALL);
    expect([await armings.findArmedUntil("ses_one"), await armings.findArmedUntil("ses_two")]).toEqual([300, 300]);
    await armings.putArming({ ...ALL, untilMs: 150 });
    expect([await armings.findArmedUntil("ses_one"), await armings.findArmedUntil("ses_two")]).toEqual([200, 150]);
    expect(await armings.listArmings()).toEqual([{ ...ALL, untilMs: 150 }, ONE]);
  });

  test("what was armed anew stands in place of what was armed before, and lapsed armings go", async () => {
    const { armings } = await (await backend.freshPlace()).open();
    await armings.putArming(ONE);
    await armings.putArming({ ...ALL, armedAtMs: 200, untilMs: 400 });
    expect(await armings.listArmings()).toEqual([{ ...ALL, armedAtMs: 200, untilMs: 400 }]);
  });

  test("a session is disarmed alone, or everything at once", async () => {
    const { armings } = await (await backend.freshPlace()).open();
    await armings.putArming(ONE);
    await armings.putArming(ALL);
    expect(await armings.removeArmings("ses_one")).toEqual([ONE]);
    expect(await armings.findArmedUntil("ses_one")).toBe(300);
    await armings.putArming(ONE);
    expect(await armings.removeArmings(undefined)).toHaveLength(2);
    expect(await armings.findArmedUntil("ses_one")).toBe(0);
    expect(await armings.removeArmings(undefined)).toEqual([]);
  });

  test("another kernel sees at once what was armed and disarmed", async () => {
    const place = await backend.freshPlace();
    const [left, right] = [await place.open(), await place.open()];
    expect(await left.armings.findArmedUntil("ses_one")).toBe(0);
    await right.armings.putArming(ONE);
    await new Promise(setImmediate);
    expect(await left.armings.findArmedUntil("ses_one")).toBe(200);
    await right.armings.removeArmings(undefined);
    await new Promise(setImmediate);
    expect(await left.armings.findArmedUntil("ses_one")).toBe(0);
  });
}
