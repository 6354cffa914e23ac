// Which files of a workspace its repository's configuration makes git run or read.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { filesThatGitNames } from "../../../src/server/workspace/git-named-files.ts";
import {
  GIT_REPOSITORIES_MAX,
  gitConfigState,
  repositoriesOf,
} from "../../../src/server/workspace/git-repositories.ts";
import { freshPlace } from "../../support/place.ts";

afterEach(() => vi.unstubAllEnvs());

function repository(files: Readonly<Record<string, string>>): string {
  const { workspace } = freshPlace();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  }
  return workspace;
}

test.each([
  ["[core]\n\thooksPath = tools/hooks\n", ["tools/hooks"]],
  ["[core]\n\thooksPath = hooks\n\tfsmonitor = ./watch.sh\n", ["hooks", "watch.sh"]],
  ["[include]\n\tpath = ../gitsettings\n", ["gitsettings"]],
  ['[includeIf "gitdir:~/x/"]\n\tpath = ../conf/own\n', ["conf/own"]],
  ['[filter "a"]\n\tclean = "sh tools/clean.sh %f"\n', ["tools/clean.sh"]],
  ["[alias]\n\tup = !tools/up.sh && sh 'b/c.sh'\n", ["b/c.sh", "tools/up.sh"]],
  ["[core]\n\tsshCommand = ssh -F conf/ssh\n\tattributesFile = attributes\n", ["attributes", "conf/ssh"]],
  ["[core]\n\tworktree = ..\n\thooksPath = .\n\tpager = /usr/bin/less\n\teditor = vi\n", []],
  [
    '[remote "o"]\n\turl = ../a/b\n\tfetch = +refs/heads/*:refs/remotes/o/*\n[branch "m"]\n\tmerge = refs/heads/m\n',
    [],
  ],
  ["[core\n\thooksPath = tools/hooks\n", []],
])("%j", async (text, found) => {
  expect(await filesThatGitNames(repository({ ".git/config": text }))).toEqual(found);
});

test("settings of files that are included count, also where they include each other", async () => {
  const workspace = repository({
    ".git/config": "[include]\n\tpath = ../conf/one\n",
    "conf/one": "[include]\n\tpath = two\n[core]\n\thooksPath = ../outside\n",
    "conf/two": "[include]\n\tpath = one\n[core]\n\thooksPath = tools/hooks\n",
  });
  expect(await filesThatGitNames(workspace)).toEqual(["conf/one", "conf/two", "tools/hooks"]);
});

test("so do those of a repository above, and of one that lies elsewhere", async () => {
  const above = repository({ ".git/config": "[core]\n\thooksPath = services/a/hooks\n", "services/a/x": "" });
  expect(await filesThatGitNames(join(above, "services/a"))).toEqual(["hooks"]);
  const linked = repository({
    "main/.git/config": "[core]\n\thooksPath = tools/hooks\n",
    "main/.git/worktrees/w/commondir": "../..\n",
    "main/.git/worktrees/w/config.worktree": '[diff "x"]\n\ttextconv = conv/x.sh\n',
    "w/.git": "gitdir: ../main/.git/worktrees/w\n",
  });
  expect(await filesThatGitNames(join(linked, "w"))).toEqual(["conv/x.sh", "tools/hooks"]);
});

test("without a repository, and with configuration that is no file, nothing is named", async () => {
  expect(await filesThatGitNames(repository({ a: "" }))).toEqual([]);
  const workspace = repository({ ".git/HEAD": "" });
  symlinkSync("/dev/null", join(workspace, ".git/config"));
  expect(await filesThatGitNames(workspace)).toEqual([]);
});

test("words without a slash count where they are files or scripts", async () => {
  const workspace = repository({
    ".git/config": [
      '[filter "t"]\n\tclean = python3 clean.py\n\tsmudge = cat notes %f\n\tprocess = run absent\n',
      '[diff "x"]\n\ttextconv = sh tc.sh\n[core]\n\tpager = less\n[user]\n\tname = README\n',
      '[alias]\n\tz = "!\\"$(git rev-parse --show-toplevel)\\"/tools/x.sh"\n',
      "\ty = \"!cd `git rev-parse --show-toplevel`/ && perl '$PWD/tools/y'\"\n",
    ].join(""),
    "clean.py": "",
    notes: "",
    README: "",
    other: "",
  });
  expect(await filesThatGitNames(workspace)).toEqual(["clean.py", "notes", "tc.sh", "tools/x.sh", "tools/y"]);
});

test("hooks that are links protect what they lead to, each link on the way and what is yet to be made", async () => {
  const workspace = repository({ ".git/hooks/plain": "", "scripts/pre-commit": "", "real/push": "", beside: "" });
  const link = (target: string, name: string) => symlinkSync(target, join(workspace, name));
  link("../../scripts/pre-commit", ".git/hooks/pre-commit");
  link("../../absent/post-merge", ".git/hooks/post-merge");
  link("real", "way");
  link("../../way/push", ".git/hooks/pre-push");
  link("../../../elsewhere", ".git/hooks/update");
  link("../../loop", ".git/hooks/commit-msg");
  link("loop", "loop");
  const found = ["absent/post-merge", "loop", "real/push", "scripts/pre-commit", "way/push"];
  expect(await filesThatGitNames(workspace)).toEqual(found);
});

test("so does a directory of hooks that is a link, and one that a setting names with links in it", async () => {
  const workspace = repository({ ".git/HEAD": "", "devhooks/pre-commit": "", "scripts/a": "" });
  symlinkSync("../devhooks", join(workspace, ".git/hooks"));
  symlinkSync("../scripts/a", join(workspace, "devhooks/pre-push"));
  expect(await filesThatGitNames(workspace)).toEqual(["devhooks", "devhooks/pre-push", "scripts/a"]);
  writeFileSync(join(workspace, ".git/config"), "[core]\n\thooksPath = named\n");
  symlinkSync("scripts", join(workspace, "named"));
  expect(await filesThatGitNames(workspace)).toContain("scripts");
});

test("repositories in the workspace count from their own tops, with submodules that are not checked out", async () => {
  const settings = "[core]\n\thooksPath = .myhooks\n\tfsmonitor = ./fsm.sh\n";
  const workspace = repository({
    ".git/modules/libs/one/HEAD": "",
    ".git/modules/libs/one/config": `${settings}\tworktree = ../../../../vendor/one\n`,
    ".git/modules/libs/one/modules/two/HEAD": "",
    ".git/modules/libs/one/modules/two/config": "[core]\n\thooksPath = h\n",
    "a/sub/.git/config": settings,
    "linked/.git": "gitdir: ../stores/x\n",
    "stores/x/config": '[diff "q"]\n\ttextconv = sh q.sh\n',
    "node_modules/p/.git/config": settings,
    "plain/.myhooks/pre-commit": "",
  });
  expect(await filesThatGitNames(workspace)).toEqual([
    "a/sub/.myhooks",
    "a/sub/fsm.sh",
    "libs/one/.myhooks",
    "libs/one/fsm.sh",
    "libs/one/two/h",
    "linked/q.sh",
    "stores/x/hooks",
    "vendor/one/.myhooks",
    "vendor/one/fsm.sh",
  ]);
});

test("the user's configuration is read wherever variables say that it lies", async () => {
  const workspace = repository({ "x/.git/HEAD": "" });
  const { base, put } = freshPlace();
  put("xdg/git/config", "[core]\n\thooksPath = mine\n");
  put("global", "[core]\n\tfsmonitor = ./watch\n");
  expect(await filesThatGitNames(workspace)).toEqual([]);
  vi.stubEnv("XDG_CONFIG_HOME", join(base, "xdg"));
  vi.stubEnv("GIT_CONFIG_GLOBAL", join(base, "global"));
  expect(await filesThatGitNames(workspace)).toEqual(["x/mine", "x/watch"]);
});

test.each([
  ["a file that is too large", { config: `# ${"x".repeat(2 ** 20)}\n` }],
  ["too many words", { config: `[alias]\n${wordy(30_001)}` }],
  ["too many files that are included", { config: includes(32) }],
])("%s protects a repository below as a whole, and refuses the workspace that it is about", async (_, { config }) => {
  const below = repository({ "a/sub/.git/config": config, "b/x": "" });
  expect(await filesThatGitNames(below)).toContain("a/sub");
  const own = repository({ ".git/config": config });
  await expect(filesThatGitNames(own)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("a repository within these bounds is not protected as a whole", async () => {
  const below = repository({ "a/sub/.git/config": includes(28), "b/x": "" });
  expect(await filesThatGitNames(below)).not.toContain("a/sub");
});

test("of repositories beyond the most that are looked at the directories are protected", async () => {
  const files = Array.from({ length: GIT_REPOSITORIES_MAX + 2 }, (_, index) => [`r${index}/.git/x`, ""]);
  const workspace = repository(Object.fromEntries(files) as Record<string, string>);
  const { found, unseen } = await repositoriesOf(workspace);
  expect([found.length, unseen.length]).toEqual([GIT_REPOSITORIES_MAX, 2]);
  expect((await filesThatGitNames(workspace)).map((path) => join(workspace, path))).toEqual([...unseen].sort());
});

function wordy(count: number): string {
  return Array.from({ length: count }, (_, index) => `a=${index}\n`).join("");
}

function includes(count: number): string {
  return `[include]\n${Array.from({ length: count }, (_, index) => `\tpath = i${index}\n`).join("")}`;
}

test("another configuration is another state, as are other hooks, also of a repository below", async () => {
  const workspace = repository({ ".git/config": "[core]\n", "sub/.git/config": "[core]\n", "sub/.git/hooks/a": "" });
  const repositories = await repositoriesOf(workspace);
  const states = [gitConfigState(repositories)];
  expect(gitConfigState(repositories)).toBe(states[0]);
  writeFileSync(join(workspace, ".git/config"), "[core]\n\thooksPath = x\n");
  states.push(gitConfigState(repositories));
  writeFileSync(join(workspace, "sub/.git/config"), "[core]\n\thooksPath = x\n");
  states.push(gitConfigState(repositories));
  mkdirSync(join(workspace, ".git/hooks"));
  states.push(gitConfigState(repositories));
  expect(new Set(states).size).toBe(4);
});
