// Names of branches: those that could lead elsewhere, or be taken for something else on a screen, name none.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../support/branch-place.ts";

const BAD = [
  ...["", ".", "..", "../up", "a/../../up", "a/..", "/a", "a/", "a//b", ".git", "a/.git", "-a", "a/-b", "a.", "a b"],
  ...[
    "a\\b",
    "a\u0000",
    "a\nb",
    "\u001b[2Jb",
    "a\u202eb",
    "a\u200bb",
    "\u3164",
    "e\u0301",
    "a*",
    "a:b",
    "a".repeat(101),
  ],
];

test("slashes part names; what leads elsewhere, cannot be seen or is no name is refused by every tool and command", async () => {
  const place = await branchPlace();
  const call = await place.session();
  const tools = ["create_branch", "branch_diff", "merge_branch", "drop_branch"];
  for (const name of BAD) {
    const answers = await Promise.all(tools.map((tool) => call(tool, { name })));
    expect([name, answers.map(({ code }) => code)]).toEqual([name, tools.map(() => "tool_input_invalid")]);
    const made = { serviceRoot: place.workspace, projectRoot: place.workspace, userId: "bob", agentId: "person" };
    await expect(place.kernel.branches.create({ name, ...made })).rejects.toMatchObject({ code: "USAGE" });
    await expect(place.session({ branch: name })).rejects.toMatchObject({ code: expect.any(String) });
  }
  expect([await place.kernel.branches.list(), readdirSync(place.base).includes("up")]).toEqual([[], false]);
  for (const name of ["feature/über_1+2.3-x/y", "a".repeat(100)]) {
    expect((await call("create_branch", { name })).kind).toBe("success");
    expect(await call("drop_branch", { name })).toMatchObject({ kind: "success" });
  }
  expect(readdirSync(join(place.state, "branches"))).toEqual([]);
});
