/** What every store of marks must do. */
import { expect, test } from "vitest";
import type { MarkOwner } from "../../src/flow/mark-store.ts";
import type { Mark } from "../../src/model/label.ts";
import type { Backend } from "./contract.ts";

const owner: MarkOwner = { userId: "ann", agentId: "agent", serviceRoot: "/srv/project/service" };
const initial: Mark = { trustLevel: "user", dataClass: "internal" };

/** The contract of marks. */
export function markContract(backend: Backend): void {
  test("a principal without a mark has none, and gets one by what it saw", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    expect(await marks.findMark(owner)).toBeUndefined();
    expect(await marks.findMark(owner)).toBeUndefined();
    expect(await marks.raiseMark(owner, initial, { trustLevel: "untrusted", dataClass: "public" }, 7)).toEqual({
      trustLevel: "untrusted",
      dataClass: "internal",
    });
    expect(await marks.findMark(owner)).toEqual({ trustLevel: "untrusted", dataClass: "internal" });
    expect(await marks.listMarks()).toEqual([{ ...owner, mark: { trustLevel: "untrusted", dataClass: "internal" }, changedAtMs: 7 }]);
  });

  test("a mark belongs to one principal in one workspace", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    await marks.raiseMark(owner, initial, { trustLevel: "untrusted", dataClass: "secret" }, 1);
    for (const other of [
      { ...owner, userId: "bob" },
      { ...owner, agentId: "other" },
      { ...owner, serviceRoot: "/srv/project/service2" },
    ]) {
      expect(await marks.findMark(other)).toBeUndefined();
    }
  });

  test("what two kernels saw adds up, and each sees what the other raised", async () => {
    const place = await backend.freshPlace();
    const [left, right] = [await place.open(), await place.open()];
    expect(await left.marks.findMark(owner)).toBeUndefined();
    await right.marks.raiseMark(owner, initial, { trustLevel: "untrusted", dataClass: "public" }, 1);
    expect(await left.marks.findMark(owner)).toEqual({ trustLevel: "untrusted", dataClass: "internal" });
    await left.marks.raiseMark(owner, initial, { trustLevel: "system", dataClass: "sensitive" }, 2);
    expect(await right.marks.findMark(owner)).toEqual({ trustLevel: "untrusted", dataClass: "sensitive" });
  });

  test("a declassification sets the mark and says what it was; there must be one", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    expect(await marks.replaceMark(owner, initial, 1)).toBeUndefined();
    expect(await marks.findMark(owner)).toBeUndefined();
    await marks.raiseMark(owner, initial, { trustLevel: "untrusted", dataClass: "secret" }, 2);
    expect(await marks.replaceMark(owner, initial, 3)).toEqual({ trustLevel: "untrusted", dataClass: "secret" });
    expect(await marks.findMark(owner)).toEqual(initial);
  });
}
