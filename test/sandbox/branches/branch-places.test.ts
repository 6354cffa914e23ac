// Who finds a place for a branch where there are many, and in which order a chain of them can be dropped.
import { expect, test } from "vitest";
import type { Branch } from "../../../src/model/place/branch.ts";
import {
  BRANCHES_DEEP_MAX,
  BRANCHES_MAX,
  BRANCHES_OF_AGENT_MAX,
  whyNoPlace,
  withChildren,
} from "../../../src/sandbox/branches/branch-places.ts";

function branches(count: number, agentOf: (index: number) => string = (index) => `agent-${index % 4}`): Branch[] {
  return Array.from({ length: count }, (_, index) => branch(`b${index}`, { agentId: agentOf(index) }));
}

function branch(id: string, more: Partial<Branch> = {}): Branch {
  const who = { userId: "bob", agentId: "helper", instanceId: "ins", serviceRoot: "/w" };
  return { id, name: id, state: "ready", way: "copy", entries: 1, createdAtMs: 0, ...who, ...more };
}

const wish = { userId: "bob", agentId: "new" };

test("calls leave places for people and new sessions, sessions some for people", () => {
  const room = (maker: "call" | "session" | "person") => {
    for (let count = 0; ; count += 1) if (whyNoPlace(branches(count), { ...wish, maker }) !== undefined) return count;
  };
  expect([room("call"), room("session"), room("person")]).toEqual([24, 30, BRANCHES_MAX]);
  expect(whyNoPlace(branches(24), { ...wish, maker: "call" })).toMatchObject({
    code: "NOT_SUPPORTED",
    message: expect.stringContaining("are for people and new sessions"),
    suggestion: expect.stringContaining("--with-children"),
  });
});

test("one agent of one user takes no more than its share by calls", () => {
  const others = branches(BRANCHES_OF_AGENT_MAX, () => "helper");
  const call = { ...wish, agentId: "helper", maker: "call" } as const;
  expect(whyNoPlace(others, call)?.message).toContain(`${BRANCHES_OF_AGENT_MAX} branches of this agent`);
  expect(whyNoPlace(others.slice(1), call)).toBeUndefined();
  expect(whyNoPlace(others, { ...call, userId: "eve" })).toBeUndefined();
  expect(whyNoPlace(others, { ...call, maker: "session" })).toBeUndefined();
});

test("branches nest only so deep, and a chain is dropped innermost first", () => {
  const chain = [branch("b0")];
  while (chain.length < BRANCHES_DEEP_MAX) chain.push(branch(`b${chain.length}`, { parentId: chain.at(-1)?.id ?? "" }));
  const above = (parentId: string) => whyNoPlace(chain, { ...wish, parentId, maker: "call" });
  expect(above("b2")).toBeUndefined();
  expect(above("b3")?.message).toContain(`${BRANCHES_DEEP_MAX} deep`);
  const all = [branch("other"), ...chain.toReversed(), branch("side", { parentId: "b0" })];
  const ids = withChildren(all, chain[0] ?? branch("none")).map(({ id }) => id);
  expect([ids.slice(0, 2), ids.slice(2, 4).sort(), ids.slice(4)]).toEqual([["b3", "b2"], ["b1", "side"], ["b0"]]);
  expect(withChildren(all, branch("side", { parentId: "b0" })).map(({ id }) => id)).toEqual(["side"]);
});

test("what goes round in the store holds nothing up", () => {
  const round = [branch("one", { parentId: "two" }), branch("two", { parentId: "one" })];
  expect(whyNoPlace(round, { ...wish, parentId: "one", maker: "call" })).toBeUndefined();
  expect(withChildren(round, branch("one", { parentId: "two" }))).toHaveLength(2);
});
