// What a command does to get at what its scope keeps from it in the workspace: by links, by moving things about, by
// replacing what others obey, in one command or in several.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BUILT_IN_ZONE_RULES, compileZones, type ZoneRules } from "../../../src/model/place/zone.ts";
import type { ScopeJudge } from "../../../src/sandbox/sandbox.ts";
import {
  newSandboxPlace,
  own,
  type SandboxPlace,
  sandboxUser,
  testedViews,
  type Without,
} from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

/** Files of the workspace, by path, all owned by the sandbox's user. */
function files(texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    const made = dirname(path).split("/");
    for (let depth = 1; depth <= made.length; depth += 1) {
      const directory = join(place.root, ...made.slice(0, depth));
      if (existsSync(directory)) continue;
      mkdirSync(directory);
      own(directory);
    }
    writeFileSync(join(place.root, path), text);
    own(join(place.root, path));
  }
}

function zoneJudge(more: Partial<ZoneRules> = {}): ScopeJudge {
  const zones = compileZones({ ...BUILT_IN_ZONE_RULES, ...more }, "");
  const zoneOf = (path: string) => zones.classify({ root: "service", path });
  const reach = { own: "write", protected: "read", shared: "read", managed: "read", secret: "hidden" } as const;
  return {
    entry: (path) => reach[zoneOf(path)],
    below: (directory) => (zoneOf(directory === "." ? "new" : `${directory}/new`) === "own" ? "write" : "read"),
    isWhole: (directory) => zoneOf(directory) === "managed",
    allowsLink: (path) => !zones.isAboveRule({ root: "service", path }),
  };
}

/** Without the mounts at these places below the workspace. */
function withoutMounts(...targets: readonly string[]): Without {
  return {
    plan: (plan) => ({
      ...plan,
      mounts: plan.mounts.filter(({ target }) => !targets.includes(target.slice("/workspace/".length))),
    }),
  };
}

function text(path: string): string {
  return readFileSync(join(place.root, path), "utf8");
}

test("secrets are not there, by their own names, by links and by moving them", async () => {
  files({ ".env": "TOKEN", "secrets/key": "KEY", "a.txt": "plain" });
  symlinkSync(".env", join(place.root, "link"));
  symlinkSync("secrets", join(place.root, "way"));
  const command =
    "cat .env secrets/key link way/key 2>/dev/null; mv secrets open 2>/dev/null; cat open/key 2>/dev/null; ln .env hard 2>/dev/null; cat hard 2>/dev/null";
  const judge = zoneJudge();
  expect((await place.run(command, { judge })).stdout).toBe("");
  expect(lstatSync(join(place.root, "secrets")).isDirectory()).toBe(true);
  const control = await place.runWithout(withoutMounts(".env", "secrets"), command, { judge });
  expect(control.stdout).toBe("TOKENKEYTOKENKEYKEYTOKEN");
});

test("what hides cannot be taken away", async () => {
  files({ "secrets/key": "KEY" });
  const judge = zoneJudge();
  const command =
    "umount secrets 2>/dev/null; umount -l /workspace/secrets 2>/dev/null; rm -rf secrets 2>/dev/null; mkdir -p secrets; echo mine 2>/dev/null >secrets/key; cat secrets/key 2>/dev/null";
  expect((await place.run(command, { judge })).stdout).toBe("");
  expect(text("secrets/key")).toBe("KEY");
  expect((await place.runWithout(withoutMounts("secrets"), command, { judge })).stdout).toBe("mine\n");
});

test("links that lead out of the workspace lead nowhere", async () => {
  files({ "a.txt": "" });
  writeFileSync(join(place.outside, "mark"), "outside");
  symlinkSync(place.outside, join(place.root, "out"));
  symlinkSync("../outside/mark", join(place.root, "mark"));
  const command = "cat out/mark mark 2>/dev/null; echo new 2>/dev/null >out/new";
  expect((await place.run(command)).stdout).toBe("");
  expect(existsSync(join(place.outside, "new"))).toBe(false);
  const shown: Without = {
    plan: (plan) => ({
      ...plan,
      mounts: [...plan.mounts, { kind: "read_only", source: place.outside, target: place.outside }],
    }),
  };
  expect((await place.runWithout(shown, command)).stdout).toBe("outside");
});

test("a workspace whose place was taken by a link is not followed", async () => {
  writeFileSync(join(place.outside, "mark"), "outside");
  const moved = join(place.base, "link");
  symlinkSync(place.outside, moved);
  // the kernel passes real paths; where one becomes a link afterwards, mounts and their check follow the same link, and
  // no part of it another
  mkdirSync(join(place.outside, "sub"));
  const judge: ScopeJudge = {
    entry: (path) => (path === "sub" ? "read" : "write"),
    below: (path) => (path === "sub" ? "read" : "write"),
    isWhole: () => false,
  };
  const wrong: Without = {
    plan: (plan) => ({
      ...plan,
      mounts: plan.mounts.map((mount) => (mount.target === "/workspace/sub" ? { ...mount, source: "/usr" } : mount)),
    }),
  };
  await expect(place.runWithout(wrong, "cat mark", { judge, root: moved })).rejects.toMatchObject({
    code: "RESOURCE_BUSY",
  });
});

test("a directory above a protected file cannot be renamed, in this command for the next", async () => {
  files({ ".github/workflows/ci.yml": "safe", "src/a.ts": "" });
  const judge = zoneJudge();
  const first = "mv .github other 2>/dev/null || echo refused";
  const second = "printf mine >other/workflows/ci.yml && mv other .github";
  expect((await place.run(first, { judge })).stdout).toBe("refused\n");
  expect(text(".github/workflows/ci.yml")).toBe("safe");
  await place.runWithout(withoutMounts(".github"), first, { judge });
  await place.runWithout({}, second, { judge });
  expect(text(".github/workflows/ci.yml")).toBe("mine");
});

test("a secret that a path names stays hidden however deep it lies", async () => {
  files({ "config/prod/key.txt": "KEY", "config/dev/key.txt": "open" });
  const judge = zoneJudge({ secret: [...BUILT_IN_ZONE_RULES.secret, "config/prod/key.txt"] });
  const first = "mv config/prod config/moved 2>/dev/null; mv config moved 2>/dev/null; true";
  const second = "cat config/moved/key.txt moved/prod/key.txt moved/moved/key.txt 2>/dev/null";
  await place.run(first, { judge });
  expect((await place.run(second, { judge })).stdout).toBe("");
  await place.runWithout(withoutMounts("config", "config/prod"), first, { judge });
  expect((await place.run(second, { judge })).stdout).toBe("KEY");
});

test("the repository's own settings and hooks can be neither written, replaced nor moved", async () => {
  files({ ".git/config": "[core]", ".git/hooks/pre-commit": "safe", ".git/objects/x": "" });
  const command =
    "echo mine 2>/dev/null >>.git/config; mv .git old 2>/dev/null; mkdir -p .git/hooks 2>/dev/null; echo mine 2>/dev/null >.git/hooks/pre-commit; true";
  const judge = zoneJudge();
  await place.run(command, { judge });
  expect([text(".git/config"), text(".git/hooks/pre-commit")]).toEqual(["[core]", "safe"]);
  // to cover the hooks alone is not enough: the directory above is moved away
  const hooksAlone: Without = {
    plan: (plan) => ({
      ...plan,
      mounts: plan.mounts.map((mount) =>
        mount.target === "/workspace/.git"
          ? { ...mount, source: `${place.root}/.git/hooks`, target: "/workspace/.git/hooks" }
          : mount,
      ) as typeof plan.mounts,
    }),
  };
  await place.runWithout(hooksAlone, command, { judge });
  expect(text(".git/hooks/pre-commit")).toBe("mine\n");
});

test("files that people's tools obey can be neither written nor replaced", async () => {
  const obeyed = ["AGENTS.md", "handrail.yaml", ".vscode/tasks.json", ".husky/pre-push", "sub/CLAUDE.md"];
  files(Object.fromEntries(obeyed.map((path) => [path, "safe"])));
  const command = obeyed
    .map(
      (path) =>
        `echo mine 2>/dev/null >${path}; rm -f ${path} 2>/dev/null; echo mine 2>/dev/null >${path}; mv ${path} x 2>/dev/null; true`,
    )
    .join("; ");
  const judge = zoneJudge();
  const { end } = await place.run(command, { judge });
  expect(obeyed.map(text)).toEqual(obeyed.map(() => "safe"));
  expect(end.landed?.notKept).toEqual([]);
  await place.runWithout(withoutMounts(...obeyed, ".vscode", ".husky"), command, { judge });
  expect(obeyed.filter((path) => existsSync(join(place.root, path)) && text(path) === "safe")).toEqual([]);
});

test("a protected link stays whatever a command does to it, and what it is moved by does not land", async () => {
  files({ "docs/agents.md": "safe", "sub/a.txt": "" });
  const links = { "AGENTS.md": "docs/agents.md", "sub/CLAUDE.md": "a.txt" };
  for (const [path, points] of Object.entries(links)) symlinkSync(points, join(place.root, path));
  const judge = zoneJudge();
  const command =
    "rm AGENTS.md; echo mine >mine; ln -s mine AGENTS.md; mv sub gone 2>/dev/null; rm -r sub 2>/dev/null; true";
  const { end } = await place.run(command, { judge });
  expect(Object.keys(links).map((path) => readlinkSync(join(place.root, path)))).toEqual(Object.values(links));
  expect(end.landed?.notKept.map(({ path, reason }) => `${reason} ${path}`)).toEqual([
    "not_allowed AGENTS.md",
    "not_allowed gone/CLAUDE.md",
    "not_allowed sub/CLAUDE.md",
    "held_back sub/a.txt",
  ]);
  await place.runWithout({}, command, { judge });
  expect(readlinkSync(join(place.root, "AGENTS.md"))).toBe("mine");
});

test("a link in the place of a directory above a protected file does not land, and nothing that it replaces goes", async () => {
  const judge = zoneJudge({ ownSecret: ["vault/token.txt"], readOnly: ["third/party"] });
  const command = [
    "cp -r .yarn y2; rm -rf .yarn; mkdir -p y2/releases m; echo EVIL >y2/releases/yarn.cjs; ln -s y2 .yarn",
    "for n in mise .docker sub/.kube vault third; do ln -s /workspace/m $n; done; ln -s m plain; echo EVIL >m/config.toml",
    "mkdir -p node_modules; ln -s ../m node_modules/third",
  ].join("; ");
  const refused = [".docker", ".yarn", "mise", "sub/.kube", "third", "vault"];
  const before = { ".yarn/cache/c": "c", "sub/x": "", "node_modules/x": "" };
  const installs: ScopeJudge = {
    ...judge,
    entry: (path, isDirectory) => (path.startsWith("node_modules") ? "write" : judge.entry(path, isDirectory)),
  };
  files(before);
  const { end } = await place.run(command, { judge: installs });
  expect(end.landed?.notKept.map(({ path, reason }) => `${reason} ${path}`)).toEqual([
    "not_allowed .docker",
    "not_allowed .yarn",
    "not_allowed mise",
    "not_allowed sub/.kube",
    "not_allowed third",
    "not_allowed vault",
  ]);
  expect([text(".yarn/cache/c"), existsSync(join(place.root, ".yarn/releases"))]).toEqual(["c", false]);
  expect([readlinkSync(join(place.root, "plain")), readlinkSync(join(place.root, "node_modules/third"))]).toEqual([
    "m",
    "../m",
  ]);
  const { allowsLink: _, ...careless } = installs;
  for (const path of ["y2", "m", "plain", "node_modules/third"]) rmSync(join(place.root, path), { recursive: true });
  const control = await place.run(command, { judge: careless });
  expect(control.end.landed?.notKept).toEqual([]);
  expect(refused.filter((path) => lstatSync(join(place.root, path)).isSymbolicLink())).toEqual(refused);
});

test("such files made anew do not land, and are named", async () => {
  files({ "a.txt": "" });
  symlinkSync("a.txt", join(place.root, "CLAUDE.md"));
  const judge = zoneJudge();
  const command =
    "mkdir -p sub/.husky .vscode && touch sub/.husky/pre-push .vscode/tasks.json handrail.yaml .env notes.md";
  const refused = [".env", ".vscode", "handrail.yaml", "sub/.husky"];
  const { end } = await place.run(command, { judge });
  expect(end.landed?.notKept).toEqual(refused.map((path) => ({ path, reason: "not_allowed" })));
  expect(readdirSync(place.root).sort()).toEqual(["CLAUDE.md", "a.txt", "notes.md", "sub"]);
  await place.runWithout({}, command, { judge });
  expect(refused.filter((path) => existsSync(join(place.root, path)))).toEqual(refused);
});

test("what somebody else makes and removes while a command runs stays as they want it", async () => {
  if (testedViews() === "copy") return; // it would not see that it may go on
  const judge = zoneJudge();
  files({ "AGENTS.md": "orders", "both.txt": "before" });
  symlinkSync("AGENTS.md", join(place.root, "CLAUDE.md"));
  let isDone = false;
  const onOutput = () => {
    if (isDone) return;
    isDone = true;
    rmSync(join(place.root, "CLAUDE.md"));
    files({ Jenkinsfile: "somebody's", "both.txt": "somebody's", "dir/theirs.txt": "somebody's" });
    files({ go: "" });
  };
  const command =
    "echo begun; until ls | grep -qx go; do sleep 0.01; done; echo mine >both.txt; mkdir -p dir; echo mine >dir/mine; touch mine";
  const { end } = await place.run(command, { judge, onOutput });
  expect(end.landed?.notKept).toEqual([{ path: "both.txt", reason: "changed_meanwhile" }]);
  expect(["Jenkinsfile", "both.txt", "dir/theirs.txt", "dir/mine"].map(text)).toEqual([
    "somebody's",
    "somebody's",
    "somebody's",
    "mine\n",
  ]);
  expect(["CLAUDE.md", "mine"].map((path) => existsSync(join(place.root, path)))).toEqual([false, true]);
});

test("a secret that comes where was looked already is hidden, too, before the command begins", async () => {
  const command = "cat one/.env two/.env 2>/dev/null; true";
  const later = async (run: (judge: ScopeJudge) => Promise<{ readonly stdout: string }>): Promise<string> => {
    files({ "one/a": "", "two/a": "" });
    for (const path of ["one/.env", "two/.env"]) rmSync(join(place.root, path), { force: true });
    await new Promise((resolve) => setTimeout(resolve, 60)); // so that nothing has changed right before it is looked at
    const judge = zoneJudge();
    const seen = new Set<string>();
    const isWhole = (directory: string): boolean => {
      if (directory !== "." && !seen.has(directory)) {
        const [first] = seen.add(directory);
        if (seen.size === 2) files({ [`${first}/.env`]: "TOKEN" });
      }
      return judge.isWhole(directory);
    };
    return (await run({ ...judge, isWhole })).stdout;
  };
  expect(await later((judge) => place.run(command, { judge }))).toBe("");
  // the same with nothing looked at again
  expect(await later((judge) => place.runWithout({}, command, { judge }))).toBe("TOKEN");
});

test("mounts of something else than was judged end the command before it begins", async () => {
  files({ "sub/a.txt": "" });
  writeFileSync(join(place.outside, "mark"), "outside");
  const judge: ScopeJudge = {
    entry: (path) => (path.startsWith("sub") ? "read" : "write"),
    below: (path) => (path === "sub" ? "read" : "write"),
    isWhole: () => false,
  };
  const command = "cat sub/mark; touch ran";
  const swapped: Without = {
    plan: (plan) => ({
      ...plan,
      mounts: plan.mounts.map((mount) =>
        mount.target === "/workspace/sub" ? { ...mount, source: place.outside } : mount,
      ),
    }),
  };
  await expect(place.runWithout(swapped, command, { judge })).rejects.toMatchObject({ code: "RESOURCE_BUSY" });
  expect(existsSync(join(place.root, "ran"))).toBe(false);
  const usr = [
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
  ];
  const isRoot = process.geteuid?.() === 0;
  const unchecked = [
    ...usr,
    "--bind",
    place.root,
    "/workspace",
    "--ro-bind",
    place.outside,
    "/workspace/sub",
    "--chdir",
    "/workspace",
  ];
  const control = spawnSync("/usr/bin/bwrap", ["--unshare-all", ...unchecked, "sh", "-c", command], {
    cwd: "/",
    encoding: "utf8",
    ...(isRoot && { uid: sandboxUser(), gid: sandboxUser() }),
  });
  expect(control.stdout).toBe("outside");
});

test("a command that swaps directories for links does so for no other command that starts meanwhile", async () => {
  files({ "secrets/key": "KEY", "sub/a.txt": "", "sub/AGENTS.md": "safe" });
  const judge = zoneJudge();
  const swap =
    "mv secrets kept 2>/dev/null && ln -s sub secrets; mv sub gone 2>/dev/null && ln -s /etc sub; rm -f kept gone";
  const ending = new AbortController();
  const swapping = place.run(`while :; do ${swap}; done`, { judge, signal: ending.signal });
  const ends: string[] = [];
  for (let round = 0; round < 10; round += 1)
    ends.push((await place.run("cat secrets/key kept/key sub/AGENTS.md 2>/dev/null; true", { judge })).stdout);
  ending.abort();
  await swapping;
  expect(ends).toEqual(Array(10).fill("safe"));
  await place.runWithout(withoutMounts("secrets", "sub"), swap, { judge });
  expect([
    lstatSync(join(place.root, "secrets")).isSymbolicLink(),
    lstatSync(join(place.root, "sub")).isSymbolicLink(),
  ]).toEqual([true, true]);
});

test("a directory whose name is what stands for other bytes keeps no later command out; one with such bytes does, until it is renamed", async () => {
  const { end } = await place.run("mkdir $'\\xef\\xbf\\xbd'; echo 1 >$'\\xef\\xbf\\xbd/in'");
  expect([end.landed?.notKept, text("\u{fffd}/in")]).toEqual([[], "1\n"]);
  expect((await place.run("cat */in; rm -r */")).stdout).toBe("1\n");
  expect(readdirSync(place.root)).toEqual([]);
  mkdirSync(Buffer.concat([Buffer.from(`${place.root}/`), Buffer.of(0xff)]));
  await expect(place.run("echo 1")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
});
