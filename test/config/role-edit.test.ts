// Granting a role changes one list of handrail.yaml, and keeps everything else as it was written.
import { expect, test } from "vitest";
import { editRoles } from "../../src/config/role-edit.ts";

const edit = (text: string, index: number | undefined, roles: readonly string[]) =>
  editRoles(text, "handrail.yaml", { index, path: "/w", roles });

const WRITTEN = `# Settings of ours.
preset: reader # nobody writes

workspaces:
  # grants
  # the shop
  - path: /srv/shop # where it lies
    roles: [dev] # not more
    isolation: SHARED
  - path: /w
    roles:
      # those who write
      - dev # most
      - sre

alert:
  violations_per_minute: 7
`;

test.each<readonly [string, string, number | undefined, readonly string[], string]>([
  ["a list in one line", WRITTEN, 0, ["dev", "sre"], WRITTEN.replace("[dev]", "[dev, sre]")],
  [
    "a list over several lines",
    WRITTEN,
    1,
    ["dev", "sre", "release_manager"],
    WRITTEN.replace("      - sre\n", "      - sre\n      - release_manager\n"),
  ],
  ["a list that loses a member", WRITTEN, 1, ["dev"], WRITTEN.replace("      - sre\n", "")],
  ["a list that loses all members", WRITTEN, 0, [], WRITTEN.replace("[dev]", "[]")],
  [
    "an entry without roles",
    "workspaces:\n  - path: /w # here\n",
    0,
    ["dev", "sre"],
    "workspaces:\n  - path: /w # here\n    roles: [dev, sre]\n",
  ],
  [
    "a further entry",
    "workspaces:\n  - path: /v\n",
    undefined,
    ["dev", "sre"],
    "workspaces:\n  - path: /v\n  - path: /w\n    roles: [dev, sre]\n",
  ],
  [
    "a first entry",
    "preset: dev\n",
    undefined,
    ["dev", "sre"],
    "preset: dev\nworkspaces:\n  - path: /w\n    roles: [dev, sre]\n",
  ],
  ["an empty list of entries", "workspaces: []\n", undefined, ["sre"], "workspaces:\n  - path: /w\n    roles: [sre]\n"],
  ["an empty file", "", undefined, ["sre"], "workspaces:\n  - path: /w\n    roles: [sre]\n"],
  [
    "roles between spaces",
    "workspaces: [ { path: /w, roles: [ dev ] } ]\n",
    0,
    ["dev", "sre"],
    "workspaces: [ { path: /w, roles: [ dev, sre ] } ]\n",
  ],
])("%s", async (_, text, index, roles, expected) => {
  expect(await edit(text, index, roles)).toBe(expected);
});

test("a file of comments keeps them", async () => {
  const edited = await edit("# Settings.\n\n# preset: dev\n", undefined, ["dev", "sre"]);
  expect(edited).toContain("# Settings.");
  expect(edited).toContain("# preset: dev");
  expect(edited).toContain("workspaces:\n  - path: /w\n    roles: [dev, sre]\n");
});

test.each<readonly [string, string, RegExp]>([
  ["a list that is used twice", "x: 1\n", /unrecognized key/],
  ["an invalid file", "workspaces: [\n", /not valid YAML/],
  [
    "a role that is not defined",
    "workspaces:\n  - path: /w\n    roles: [nobody]\n",
    /workspaces\.0\.roles\.0: the role `nobody` is not defined/,
  ],
  [
    "entries by reference",
    "roles: &r [dev, sre]\nworkspaces:\n  - { path: /v, roles: *r }\n  - &e { path: /w }\n  - *e\n",
    /by hand/,
  ],
])("%s is refused", async (_, text, problem) => {
  await expect(edit(text, text.includes("*e") ? 2 : 0, ["dev", "sre"])).rejects.toThrow(problem);
});

test("a list that is shared by reference is replaced in its own entry alone", async () => {
  const text = "workspaces:\n  - path: /v\n    roles: &r [dev]\n  - path: /w\n    roles: *r\n";
  expect(await edit(text, 1, ["dev", "sre"])).toBe(
    "workspaces:\n  - path: /v\n    roles: &r [dev]\n  - path: /w\n    roles: [dev, sre]\n",
  );
});

test("a list that others refer to is not changed, because they would change with it", async () => {
  const text = "workspaces:\n  - path: /v\n    roles: &r [dev]\n  - path: /w\n    roles: *r\n";
  await expect(edit(text, 0, ["dev", "sre"])).rejects.toThrow();
});
