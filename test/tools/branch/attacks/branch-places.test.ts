// One agent must not take all branches of a workspace from everybody else, one after the other, all at once or nested.
import { expect, test } from "vitest";
import { branchPlace } from "../../../support/branch-place.ts";
import { handrail } from "../../../support/command-line.ts";

test("one agent nests four deep, makes eight in all, also at once, and everybody else finds room", async () => {
  const place = await branchPlace();
  const one = await place.session();
  for (const name of ["c0", "c1", "c2", "c3"]) expect((await one("create_branch", { name })).kind).toBe("success");
  expect(await one("create_branch", { name: "c4" })).toMatchObject({
    code: "NOT_SUPPORTED",
    message: expect.stringContaining("4 deep"),
  });
  const sessions = await Promise.all(Array.from({ length: 12 }, () => place.session()));
  const made = await Promise.all(sessions.map((call, index) => call("create_branch", { name: `at-once-${index}` })));
  expect(made.filter(({ kind }) => kind === "success")).toHaveLength(4);
  for (const { kind, code, message } of made)
    if (kind !== "success") expect([code, message]).toEqual(["NOT_SUPPORTED", expect.stringContaining("8 branches")]);
  expect(await place.kernel.branches.list()).toHaveLength(8);

  const other = await place.session({ agentId: "other" });
  expect((await other("create_branch", { name: "others" })).kind).toBe("success");
  const unattended = await place.session({ preset: "autonomous" });
  expect((await unattended("write_file", { path: "new.txt", content: "x" })).kind).toBe("success");
});

test("a person drops a chain at once, after it was named, innermost first", async () => {
  const place = await branchPlace();
  const call = await place.session();
  for (const name of ["c0", "c1", "c2"]) expect((await call("create_branch", { name })).kind).toBe("success");
  expect((await (await place.session())("create_branch", { name: "beside" })).kind).toBe("success");
  const drop = (...args: readonly string[]) =>
    handrail(place, ["branches", "drop", ...args, "--workspace", place.workspace], { fromSources: true });
  const refused = await drop("c0", "--yes");
  expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining("`--with-children`")]);
  const asks = await drop("c0", "--with-children");
  expect([asks.code, asks.stdout]).toEqual([
    64,
    expect.stringMatching(/^ {2}c2 .*1 session.*\n {2}c1 .*\n {2}c0 .*\n$/),
  ]);
  expect(await place.kernel.branches.list()).toHaveLength(4);
  const dropped = await drop("c0", "--with-children", "--yes");
  expect([dropped.code, dropped.stderr]).toEqual([0, ""]);
  expect(dropped.stdout).toMatch(/the branch c2 is gone\nthe branch c1 is gone\nthe branch c0 is gone\n$/);
  expect((await place.kernel.branches.list()).map(({ name }) => name)).toEqual(["beside"]);
  expect((await call("read_file", { path: "a.txt" })).kind).not.toBe("success");
});
