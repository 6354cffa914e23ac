// Which files of a workspace its repository's configuration makes git run or read.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { filesThatGitNames, gitConfigState } from "../../../src/server/workspace/git-named-files.ts";
import { freshPlace } from "../../support/place.ts";

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
])("%j", (text, found) => {
  expect(filesThatGitNames(repository({ ".git/config": text }))).toEqual(found);
});

test("settings of files that are included count, also where they include each other", () => {
  const workspace = repository({
    ".git/config": "[include]\n\tpath = ../conf/one\n",
    "conf/one": "[include]\n\tpath = two\n[core]\n\thooksPath = ../outside\n",
    "conf/two": "[include]\n\tpath = one\n[core]\n\thooksPath = tools/hooks\n",
  });
  expect(filesThatGitNames(workspace)).toEqual(["conf/one", "conf/two", "tools/hooks"]);
});

test("so do those of a repository above, and of one that lies elsewhere", () => {
  const above = repository({ ".git/config": "[core]\n\thooksPath = services/a/hooks\n", "services/a/x": "" });
  expect(filesThatGitNames(join(above, "services/a"))).toEqual(["hooks"]);
  const linked = repository({
    "main/.git/config": "[core]\n\thooksPath = tools/hooks\n",
    "main/.git/worktrees/w/commondir": "../..\n",
    "main/.git/worktrees/w/config.worktree": '[diff "x"]\n\ttextconv = conv/x.sh\n',
    "w/.git": "gitdir: ../main/.git/worktrees/w\n",
  });
  expect(filesThatGitNames(join(linked, "w"))).toEqual(["conv/x.sh", "tools/hooks"]);
});

test("without a repository, and with configuration that is no file, nothing is named", () => {
  expect(filesThatGitNames(repository({ a: "" }))).toEqual([]);
  const workspace = repository({ ".git/HEAD": "" });
  symlinkSync("/dev/null", join(workspace, ".git/config"));
  expect(filesThatGitNames(workspace)).toEqual([]);
});

test("another configuration is another state", () => {
  const workspace = repository({ ".git/config": "[core]\n" });
  const before = gitConfigState(workspace);
  expect(gitConfigState(workspace)).toBe(before);
  writeFileSync(join(workspace, ".git/config"), "[core]\n\thooksPath = x\n");
  expect(gitConfigState(workspace)).not.toBe(before);
});
