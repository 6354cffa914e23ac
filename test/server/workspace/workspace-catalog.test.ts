// Workspaces: Handrail's own directories stay hidden however they are reached, a workspace that moved is opened anew,
// and no more than a bounded number is kept open.

import { lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import { defaultSettings, parseSettings } from "../../../src/config/config.ts";
import type { Session } from "../../../src/model/people/session.ts";
import {
  createWorkspaceCatalog,
  WORKSPACES_OPEN_MAX,
  type WorkspaceRules,
} from "../../../src/server/workspace/workspace-catalog.ts";
import { freshPlace, type Place } from "../../support/place.ts";

let place: Place;
beforeEach(() => {
  place = freshPlace();
});

const sessionOf = (serviceRoot: string, projectRoot = serviceRoot): Session => ({
  id: "ses_test",
  tokenHash: "",
  userId: "u",
  agentId: "a",
  role: "dev",
  serviceRoot,
  projectRoot,
  isolationLevel: "STRICT",
  leaseId: "lea_test",
  mode: "default",
  preset: "dev",
  createdAtMs: 0,
  expiresAtMs: 1,
});

const catalogOf = (hidden: readonly string[], settings = defaultSettings()) => {
  const catalog = createWorkspaceCatalog(() => ({ settings }), hidden);
  onTestFinished(() => catalog.close());
  return catalog;
};

/** Makes a directory below the place's base. */
const directory = (path: string) => {
  const made = join(place.base, path);
  mkdirSync(made, { recursive: true });
  return made;
};

const zoneOf = async (
  hidden: string,
  path: string,
  root: "service" | "project" = "service",
  service = place.workspace,
) =>
  (
    await catalogOf([hidden]).open(sessionOf(service, root === "project" ? place.workspace : service))
  ).workspace.zones.classify({
    root,
    path,
  });

test("a directory of Handrail that is reached through a link is hidden where it lies", async () => {
  directory("workspace/real/state");
  symlinkSync(join(place.workspace, "real"), join(place.base, "link"));
  expect(await zoneOf(join(place.base, "link/state"), "real/state/ledger.db")).toBe("secret");
  expect(await zoneOf(join(place.base, "link/state"), "real/other")).toBe("own");
});

test("a directory that is yet to be made is hidden, also where a link leads to nothing so far", async () => {
  directory("workspace/real");
  symlinkSync(join(place.workspace, "real"), join(place.base, "link"));
  expect(await zoneOf(join(place.base, "link/later/config"), "real/later/config/handrail.yaml")).toBe("secret");
  symlinkSync("workspace/dangling", join(place.base, "nowhere"));
  expect(await zoneOf(join(place.base, "nowhere"), "dangling/policy/own.cedar")).toBe("secret");
});

test("a directory whose name begins with two dots lies inside", async () => {
  expect(await zoneOf(directory("workspace/..st"), "..st/ledger.db")).toBe("secret");
  const service = directory("workspace/..services/orders");
  await expect(catalogOf([]).open(sessionOf(service, place.workspace))).resolves.toBeDefined();
});

test("a directory in the project's shared directories is hidden from the services", async () => {
  const state = directory("workspace/shared/state");
  const service = directory("workspace/services/orders");
  expect(await zoneOf(state, "shared/state/ledger.db", "project", service)).toBe("secret");
  expect(await zoneOf(state, "shared/types.ts", "project", service)).toBe("shared");
});

test.each([".", "inside/deeper"])("a workspace at %s of Handrail's own directory is refused", async (path) => {
  const workspace = directory(join("kept", path));
  const opening = catalogOf([join(place.base, "kept")]).open(sessionOf(workspace));
  await expect(opening).rejects.toThrow(/lies in Handrail's own directory/);
});

test("a workspace beside its project is refused", async () => {
  const opening = catalogOf([]).open(sessionOf(place.workspace, place.outside));
  await expect(opening).rejects.toThrow(/does not lie in its project/);
});

test("a workspace that was moved away and made again is opened anew, with its rules as they are now", async () => {
  const catalog = catalogOf([]);
  const session = sessionOf(place.workspace);
  const first = await catalog.open(session);
  expect(await catalog.open(session)).toBe(first);
  renameSync(place.workspace, join(place.base, "moved"));
  await nextTurn(); // a place is looked at once a turn
  await expect(catalog.open(session)).rejects.toThrow(/not a directory that can be opened/);
  mkdirSync(place.workspace);
  writeFileSync(join(place.workspace, "handrail.yaml"), "tools: { disabled: [write_file] }\n");
  const [one, two] = await Promise.all([catalog.open(session), catalog.open(session)]);
  expect(one).not.toBe(first);
  expect(two).toBe(one);
  expect([...one.disabledTools]).toEqual(["write_file"]);
});

test("a handle that a call may still use stays open after its workspace was replaced", async () => {
  const catalog = catalogOf([]);
  const first = await catalog.open(sessionOf(place.workspace));
  place.put("workspace/a.txt", "a");
  renameSync(place.workspace, join(place.base, "moved"));
  await nextTurn(); // a place is looked at once a turn
  mkdirSync(place.workspace);
  await catalog.open(sessionOf(place.workspace));
  expect(readdirSync(`/proc/self/fd/${first.roots.service.descriptor}`)).toEqual(["a.txt"]);
  first.roots.close();
});

test("handles of a replaced workspace are closed once nothing refers to them", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const catalog = catalogOf([]);
  await catalog.open(sessionOf(place.workspace));
  const moved = join(place.base, "moved");
  renameSync(place.workspace, moved);
  mkdirSync(place.workspace);
  await catalog.open(sessionOf(place.workspace));
  const isOpen = () => openPaths().includes(moved);
  expect(isOpen()).toBe(true);
  for (let round = 0; round < 100 && isOpen(); round += 1) {
    collect();
    await new Promise((done) => setImmediate(done));
  }
  expect(isOpen()).toBe(false);
});

test("calls for two workspaces in turn get the one that they are for", async () => {
  const catalog = catalogOf([]);
  const sessions = [
    sessionOf(directory("many/a")),
    sessionOf(directory("many/b")),
    sessionOf(directory("many/a"), directory("many")),
  ];
  const opened = await Promise.all(sessions.map((session) => catalog.open(session)));
  expect(new Set(opened).size).toBe(3);
  for (const index of [0, 1, 1, 2, 0, 0, 2, 1]) {
    expect(await catalog.open(sessions[index] ?? sessionOf(place.workspace))).toBe(opened[index]);
  }
});

test("nothing keeps a workspace that was forgotten", async () => {
  const catalog = catalogOf([]);
  const session = sessionOf(place.workspace);
  const opened = new WeakRef(await catalog.open(session));
  catalog.forget();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 100 && opened.deref() !== undefined; round += 1) {
    await new Promise((done) => setImmediate(done));
    collect();
  }
  expect(opened.deref()).toBeUndefined();
});

/** What the descriptors of this process lead to. */
function openPaths(): readonly string[] {
  return readdirSync("/proc/self/fd").map((name) => {
    const path = join("/proc/self/fd", name);
    return lstatSync(path, { throwIfNoEntry: false }) ? readlinkSync(path) : "";
  });
}

test("only so many workspaces are kept, those that were used last", async () => {
  const catalog = catalogOf([]);
  const sessions = Array.from({ length: WORKSPACES_OPEN_MAX + 1 }, (_, index) => sessionOf(directory(`many/${index}`)));
  const [first, second] = sessions;
  if (!first || !second) throw new Error("no sessions");
  const opened = [await catalog.open(first), await catalog.open(second)];
  for (const session of sessions.slice(2, -1)) await catalog.open(session);
  expect(await catalog.open(first)).toBe(opened[0]); // used again: the second is the oldest now
  for (const session of sessions.slice(-1)) await catalog.open(session);
  expect(await catalog.open(first)).toBe(opened[0]);
  expect(await catalog.open(second)).not.toBe(opened[1]);
});

test("the operator's rules for a workspace hold however its path is written", async () => {
  const link = join(place.base, "link");
  symlinkSync(place.workspace, link);
  for (const path of [`${place.workspace}/`, link]) {
    const settings = await parseSettings(
      `workspaces: [{ path: ${path}, files: { secret: [mine] } }]\n`,
      "handrail.yaml",
    );
    const { workspace } = await catalogOf([], settings).open(sessionOf(place.workspace));
    expect(workspace.zones.classify({ root: "service", path: "mine" })).toBe("secret");
  }
});

test("a file that was refused stays refused without being read, until it changes", async () => {
  const file = place.put("workspace/handrail.yaml", "tools: [\n");
  const catalog = catalogOf([]);
  const refused = () => Promise.resolve(catalog.open(sessionOf(place.workspace))).catch((error: unknown) => error);
  const first = await refused();
  expect(first).toMatchObject({ code: "WORKSPACE_INVALID" });
  // The very same refusal: nothing was parsed for it.
  expect(await refused()).toBe(first);
  writeFileSync(file, "tools: { disabled: [write_file] }\n");
  expect((await catalog.open(sessionOf(place.workspace))).disabledTools).toContain("write_file");
});

test("a pattern that cannot be used is the fault of the workspace that has it", async () => {
  place.put("workspace/handrail.yaml", "files: { read_only: ['a['] }\n");
  await expect(catalogOf([]).open(sessionOf(place.workspace))).rejects.toMatchObject({ code: "WORKSPACE_INVALID" });
});

test("what a workspace is tested with is looked at anew for each call, and its own wish counts once it is trusted", async () => {
  place.put("workspace/handrail.yaml", "toolchain:\n  test: [make, everything]\n");
  const own = { "handrail.yaml": blake3Hex("toolchain:\n  test: [make, everything]\n") };
  const pin = {
    version: 1,
    workspace: place.workspace,
    files: own,
    trustedAt: "2026-01-01T00:00:00.000Z",
    trustedBy: "ada",
  } as const;
  const settings = defaultSettings();
  const opened = async (rules: WorkspaceRules) => {
    const catalog = createWorkspaceCatalog(rules, []);
    onTestFinished(() => catalog.close());
    return catalog.open(sessionOf(place.workspace));
  };
  const untrusted = await opened(() => ({ settings }));
  const trusted = await opened(() => ({ settings, trusted: [pin] }));
  expect(untrusted.toolchain?.()).toEqual({ files: {}, chosen: {} });
  expect(trusted.toolchain?.()).toEqual({ files: {}, chosen: { test: ["make", "everything"] } });
  // A call that waited meanwhile is refused: it was decided by other rules.
  expect(trusted.rules).not.toBe(untrusted.rules);
  place.put("workspace/go.mod", "");
  expect(untrusted.toolchain?.()).toEqual({ files: { "go.mod": {} }, chosen: {} });

  const granted = await parseSettings(
    `workspaces:\n  - path: ${place.workspace}\n    toolchain: { test: [npm, run, ci], timeout_seconds: 600 }\n`,
    "handrail.yaml",
  );
  const both = await opened(() => ({ settings: granted, trusted: [pin] }));
  expect(both.toolchain?.().chosen).toEqual({ test: ["npm", "run", "ci"], timeoutMs: 600_000 });
});

test("what git asks of branches and messages is the operator's word at the time, and the workspace can only protect more", async () => {
  place.put("workspace/handrail.yaml", "git: { protected_branches: [stable] }\n");
  place.put("workspace/.git/HEAD", "ref: refs/heads/work\n");
  place.put("workspace/.git/config", "");
  directory("workspace/.git/objects");
  directory("workspace/.git/refs");
  let settings = defaultSettings();
  const catalog = createWorkspaceCatalog(() => ({ settings }), []);
  onTestFinished(() => catalog.close());
  const opened = async () => {
    const { repository, rules } = await catalog.open(sessionOf(place.workspace));
    const found = repository?.(".");
    if (found?.kind !== "found") throw new Error(JSON.stringify(found));
    return { git: found.rules, rules };
  };
  const before = await opened();
  expect(before.git).toEqual({ protectedBranches: ["main", "master", "release/*", "stable"] });

  settings = await parseSettings(
    `git: { protected_branches: [trunk], message_pattern: "[A-Z]+-[0-9]+: .+" }
workspaces: [{ path: ${place.workspace}, git: { branch_pattern: "(feature|fix)/[a-z]+" } }]\n`,
    "handrail.yaml",
  );
  catalog.forget(); // as a reload does
  const after = await opened();
  expect(after.rules).not.toBe(before.rules);
  expect(after.git.protectedBranches).toEqual(["trunk", "stable"]);
  const { branchPattern, messagePattern } = after.git;
  expect(
    ["feature/x", "fix/", "my-feature/x", "feature/x\n", `feature/${"x".repeat(2000)}`].map((name) =>
      branchPattern?.matches(name),
    ),
  ).toEqual([true, false, false, false, false]);
  expect(["AB-12: say why", "say why"].map((subject) => messagePattern?.matches(subject))).toEqual([true, false]);
});
