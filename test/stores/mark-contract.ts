/** What every store of marks must do. */
import { expect, test } from "vitest";
import type { MarkOwner } from "../../src/flow/mark-store.ts";
import type { Mark } from "../../src/model/outcome/label.ts";
import type { Backend } from "./contract.ts";

const owner: MarkOwner = { userId: "ann", agentId: "agent", serviceRoot: "/srv/project/service" };
const initial: Mark = { trustLevel: "user", dataClass: "internal" };

/** The contract of marks. */
export function markContract(backend: Backend): void {
  test("a principal without a mark has none, and gets one by what it saw", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    expect(await marks.findMark(owner)).toBeUndefined();
    expect(await marks.findMark(owner)).toBeUndefined();
    expect(
      await marks.raiseMark(owner, { initial, seen: { trustLevel: "untrusted", dataClass: "public" } }, 7),
    ).toEqual({
      before: initial,
      after: { trustLevel: "untrusted", dataClass: "internal" },
    });
    expect(await marks.findMark(owner)).toEqual({ trustLevel: "untrusted", dataClass: "internal" });
    expect(await marks.listMarks({})).toEqual([
      { ...owner, mark: { trustLevel: "untrusted", dataClass: "internal" }, changedAtMs: 7 },
    ]);
  });

  test("a mark belongs to one principal in one workspace", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    await marks.raiseMark(owner, { initial, seen: { trustLevel: "untrusted", dataClass: "secret" } }, 1);
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
    await right.marks.raiseMark(owner, { initial, seen: { trustLevel: "untrusted", dataClass: "public" } }, 1);
    expect(await left.marks.findMark(owner)).toEqual({ trustLevel: "untrusted", dataClass: "internal" });
    await left.marks.raiseMark(owner, { initial, seen: { trustLevel: "system", dataClass: "sensitive" } }, 2);
    expect(await right.marks.findMark(owner)).toEqual({ trustLevel: "untrusted", dataClass: "sensitive" });
  });

  test("a raise says what was before, and what changes nothing is not written", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    expect(await marks.raiseMark(owner, { initial, seen: { trustLevel: "system", dataClass: "public" } }, 1)).toEqual({
      before: initial,
      after: initial,
    });
    expect(await marks.findMark(owner)).toBeUndefined();
    const secret: Mark = { trustLevel: "user", dataClass: "secret" };
    expect(await marks.raiseMark(owner, { initial, seen: secret }, 2)).toEqual({ before: initial, after: secret });
    expect(
      await marks.raiseMark(owner, { initial, seen: { trustLevel: "system", dataClass: "sensitive" } }, 3),
    ).toEqual({
      before: secret,
      after: secret,
    });
    expect(await marks.listMarks({})).toEqual([{ ...owner, mark: secret, changedAtMs: 2 }]);
  });

  test("of raises at the same time one changes the mark", async () => {
    const place = await backend.freshPlace();
    const [left, right] = [await place.open(), await place.open()];
    const seen: Mark = { trustLevel: "untrusted", dataClass: "public" };
    const raised = await Promise.all(
      [left, right, left, right, left].map(({ marks }, at) => marks.raiseMark(owner, { initial, seen }, at)),
    );
    expect(raised.filter(({ before, after }) => before.trustLevel !== after.trustLevel)).toHaveLength(1);
  });

  test("a declassification sets a mark that is as expected, and leaves alone what it is not about", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    const [seen, more] = [
      { trustLevel: "untrusted", dataClass: "internal" },
      { trustLevel: "untrusted", dataClass: "secret" },
    ] as const;
    expect(await marks.replaceMark(owner, { expected: initial, mark: initial }, 1)).toBeUndefined();
    expect(await marks.findMark(owner)).toBeUndefined();
    await marks.raiseMark(owner, { initial, seen: more }, 2);
    expect(await marks.replaceMark(owner, { expected: seen, mark: initial }, 3)).toEqual(more);
    expect(await marks.findMark(owner)).toEqual(more);
    expect(await marks.replaceMark(owner, { expected: more, mark: initial }, 4)).toEqual(more);
    expect(await marks.findMark(owner)).toEqual(initial);
  });

  test("marks are selected by user, agent and workspace", async () => {
    const { marks } = await (await backend.freshPlace()).open();
    const owners = [
      owner,
      { ...owner, userId: "bob" },
      { ...owner, agentId: "other" },
      { ...owner, serviceRoot: "/elsewhere" },
    ];
    for (const [at, one] of owners.entries())
      await marks.raiseMark(one, { initial, seen: { trustLevel: "untrusted", dataClass: "public" } }, at);
    const selected = async (selection: Partial<MarkOwner>) =>
      (await marks.listMarks(selection)).map(({ changedAtMs }) => changedAtMs).sort();
    expect(await selected({})).toEqual([0, 1, 2, 3]);
    expect(await selected({ serviceRoot: owner.serviceRoot })).toEqual([0, 1, 2]);
    expect(await selected({ serviceRoot: owner.serviceRoot, userId: "bob" })).toEqual([1]);
    expect(await selected({ agentId: "other" })).toEqual([2]);
    expect(await selected({ userId: "nobody" })).toEqual([]);
  });
}
