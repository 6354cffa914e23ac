/**
 * Branches of an ordinary user's kernel in a workspace with files of others, and with files that nobody lets it read:
 * in real processes of the product.
 */
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { handrail } from "../../../../support/command-line.ts";
import { commandOf, textsOf } from "../../../../support/mcp-result.ts";
import { givenTo, ORDINARY_USER_ID } from "../../../../support/other-user.ts";
import { makePlace } from "../../../../support/place.ts";
import { connectRpc } from "../../../../support/rpc-client.ts";

const own = process.geteuid?.() ?? 0;
/** Only root can make files of others. */
const OTHERS = own === 0 ? [ORDINARY_USER_ID] : [];
const GROUP = 61_236;
const COPIES = "sandbox: { views: copy }\n";
const TEST_MS_MAX = 120_000;

/** A workspace of the user's, with files in it. */
function userPlace(files: Readonly<Record<string, string>>, settings = "") {
  const made = makePlace();
  onTestFinished(made.remove);
  if (settings !== "") made.put("config/handrail.yaml", settings);
  for (const [path, content] of Object.entries(files)) made.put(`workspace/${path}`, content);
  const place = own === 0 ? givenTo(made, ORDINARY_USER_ID) : made;
  const at = (path: string) => join(place.workspace, path);
  const branches = (...args: readonly string[]) =>
    handrail(place, ["branches", ...args, "--workspace", place.workspace]);
  return { place, at, branches };
}

const ownersOf = (path: string) => {
  const { uid, gid } = statSync(path);
  return [uid, gid];
};

test.each(OTHERS)(
  "a merge that would change whose a file is says so, and merges nothing (user %i)",
  { timeout: TEST_MS_MAX },
  async (user) => {
    const { place, at, branches } = userPlace({ "roots.txt": "root's\n", "g.txt": "group's\n", "own.txt": "own\n" });
    chownSync(at("roots.txt"), 0, 0);
    chmodSync(at("roots.txt"), 0o644);
    chownSync(at("g.txt"), user, GROUP);
    mkdirSync(at("sg"));
    chownSync(at("sg"), user, GROUP);
    chmodSync(at("sg"), 0o2775);
    const agent = await connectRpc(place, ["--preset", "open"]);
    for (const [path, name] of [
      ["roots.txt", "roots"],
      ["g.txt", "groups"],
      ["sg/new.txt", "new"],
      ["sg/d/new.txt", "inner"],
    ] as const) {
      await agent.call("create_branch", { name });
      const command = `mkdir -p $(dirname ${path}); echo branch > ${path}; echo more >> own.txt`;
      expect(commandOf(await agent.call("shell", { command }))).toMatchObject({
        status: "success",
        data: { exit_code: 0 },
      });
      const diff = textsOf(await agent.call("branch_diff", { name })).join("\n");
      const named = name === "inner" ? "sg/d" : path;
      expect(diff).toMatch(new RegExp(`^\\w+ ${named} \\(.*not merged: owner_not_kept`, "m"));
      expect((await branches("diff", name)).stdout).toContain(`no merge takes these, and nothing else with them:\n`);
      expect(textsOf(await agent.call("merge_branch", { name })).join("\n")).toContain(
        `\`${named}\` (belongs to another user or group, which a merge cannot keep)`,
      );
      const merged = await branches("merge", name, "--yes");
      expect([merged.code, merged.stdout]).toEqual([2, expect.stringContaining(`${named}  (owner not kept)`)]);
      await agent.call("drop_branch", { name });
    }
    expect(readFileSync(at("own.txt"), "utf8")).toBe("own\n");
    expect([ownersOf(at("roots.txt")), ownersOf(at("g.txt"))]).toEqual([
      [0, 0],
      [user, GROUP],
    ]);
    // the control: what is the user's alone is merged
    await agent.call("create_branch", { name: "own" });
    await agent.call("shell", { command: "echo more >> own.txt" });
    expect((await branches("merge", "own", "--yes")).stdout).toContain("merged: 0 made, 1 changed");
  },
);

test.each(OTHERS)(
  "neither a copy of the workspace nor an undo changes whose a file is (user %i)",
  { timeout: TEST_MS_MAX },
  async (user) => {
    const { place, at } = userPlace({ "roots.txt": "root's\n", "g.txt": "group's\n" }, COPIES);
    chownSync(at("roots.txt"), 0, 0);
    chmodSync(at("roots.txt"), 0o644);
    mkdirSync(at("sg"));
    chownSync(at("sg"), user, GROUP);
    chmodSync(at("sg"), 0o2775);
    const agent = await connectRpc(place, ["--preset", "open"]);
    for (const [command, path] of [
      ["echo c >> roots.txt", "roots.txt"],
      ["echo c > sg/new.txt", "sg/new.txt"],
      ["mkdir -p sg/d && echo c > sg/d/f", "sg/d"],
    ])
      expect(commandOf(await agent.call("shell", { command })).data).toMatchObject({
        exit_code: 0,
        not_kept: [{ path, reason: "owner_not_kept" }],
      });
    expect(readFileSync(at("roots.txt"), "utf8")).toBe("root's\n");
    await agent.call("write_file", { path: "g.txt", content: "agent's\n" });
    chownSync(at("g.txt"), user, GROUP);
    const history = await handrail(place, ["history", "g.txt", "--workspace", place.workspace, "--json"]);
    const call = /"call": ?"([^"]+)"/.exec(history.stdout)?.[1] ?? "";
    const undone = await handrail(place, ["undo", call]);
    expect([undone.code, undone.stdout]).toEqual([1, expect.stringContaining("belongs to another user or group")]);
    expect([ownersOf(at("g.txt")), readFileSync(at("g.txt"), "utf8")]).toEqual([[user, GROUP], "agent's\n"]);
    chownSync(at("g.txt"), user, user); // the control
    expect((await handrail(place, ["undo", call])).code).toBe(0);
    expect(readFileSync(at("g.txt"), "utf8")).toBe("group's\n");
  },
);

test("what is written in the place of a file that the kernel cannot read is told, and keeps the branch", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { place, at, branches } = userPlace({ closed: "mine\n", "dir/in": "in\n", "own.txt": "own\n" });
  chmodSync(at("closed"), 0);
  chmodSync(at("dir"), 0);
  const agent = await connectRpc(place, ["--preset", "open"]);
  await agent.call("create_branch", { name: "b" });
  expect(textsOf(await agent.call("branch_diff", { name: "b" }))[0]).toMatch(/: 0 changes$/);
  await agent.call("shell", { command: "echo work > closed; echo work > dir/in; : > dir/empty; echo more >> own.txt" });
  const diff = textsOf(await agent.call("branch_diff", { name: "b" })).join("\n");
  expect(diff.split("\n").filter((line) => /^(modify|create|delete|rename|mode) /.test(line))).toEqual([
    expect.stringMatching(/^modify closed \(.*not merged: hidden_from_branch/),
    expect.stringMatching(/^create dir\/empty \(.*not merged: hidden_from_branch/),
    expect.stringMatching(/^create dir\/in \(.*not merged: hidden_from_branch/),
    expect.stringMatching(/^modify own.txt/),
  ]);
  expect(diff).not.toContain("+work");
  expect((await branches("diff", "b")).stdout).toContain(
    "closed: something stands there that the branch does not hold",
  );
  const merged = await branches("merge", "b", "--yes");
  expect([merged.code, merged.stdout]).toEqual([2, expect.stringContaining("closed  (hidden from branch)")]);
  expect(textsOf(await agent.call("merge_branch", { name: "b" })).join("\n")).toContain(
    "`dir/in` (written on the branch in the place of something that branches do not hold)",
  );
  chmodSync(at("closed"), 0o600);
  expect([readFileSync(at("closed"), "utf8"), readFileSync(at("own.txt"), "utf8")]).toEqual(["mine\n", "own\n"]);
  // the control: without them the rest is merged
  await agent.call("shell", { command: ": > closed; rm dir/in dir/empty" });
  expect((await branches("merge", "b", "--yes")).stdout).toContain("merged: 0 made, 1 changed");
  chmodSync(at("dir"), 0o700);
  expect(readFileSync(at("dir/in"), "utf8")).toBe("in\n");
});
