// Which calls the asking client may answer itself, if a person attends it.
import { beforeAll, describe, expect, test } from "vitest";
import { mayBeAnsweredInBand } from "../../src/approval/in-band.ts";
import type { Access } from "../../src/model/place/access.ts";
import { shell } from "../../src/tools/shell/shell.ts";

const TOOL = { name: "probe", capability: { effect: "write" } } as const;
const FILE: Access = { resource: { kind: "file", path: "a" }, effect: "write" };
const git = (operation: string): Access => ({ resource: { kind: "git_ref", ref: "main", operation }, effect: "write" });

const HOST: Access = { resource: { kind: "host", host: "example.org", port: 443 }, effect: "network" };

test("what stays in the workspace may be answered in band; a push, arming and the machine itself never", () => {
  expect(mayBeAnsweredInBand(TOOL, [], [])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [FILE, git("commit")], ["ask"])).toBe(true);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "network" } }, [FILE], ["ask"])).toBe(true);
  expect(mayBeAnsweredInBand(TOOL, [FILE, git("push")], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [git("PUSH")], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, name: "git_push" }, [FILE], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [FILE], ["ask", "arm"])).toBe(false);
  expect(mayBeAnsweredInBand({ ...TOOL, capability: { effect: "system" } }, [FILE], ["ask"])).toBe(false);
  expect(mayBeAnsweredInBand(TOOL, [FILE, { ...FILE, effect: "system" }], ["ask"])).toBe(false);
});

describe("what may write to a remote is never answered in band", () => {
  beforeAll(() => shell.prepare?.());
  const inBand = (line: string, network: boolean) =>
    mayBeAnsweredInBand(TOOL, shell.analyse({ command: line, network_access: network }), ["ask"]);

  const PUSHES = [
    ...[
      "git push",
      "git -C x push",
      "git-push",
      "/usr/lib/git-core/git-push",
      "git -c alias.p=push p",
      "g=push; git $g",
      "git http-push x",
    ],
    ...[
      "git send-pack x",
      "jj git push",
      "git p",
      "git $(echo push)",
      "git {push,log}",
      "'git' pu\\sh",
      "env git push",
      "sh -c 'git push'",
    ],
    ...[
      "git --exec-path=. log",
      "GIT_CONFIG_COUNT=1 git log",
      "git --config-env=alias.log=X log",
      "git -C $d log",
      "git $o log",
    ],
    ...[
      "git subtree push --prefix=x r b",
      "git svn dcommit",
      "git lfs push r",
      "git send-email p",
      "git remote-https r",
      "git submodule foreach git push",
    ],
    ...[
      "hg push",
      "hg --config alias.log=push log",
      "svn commit -m x",
      "svn ci",
      "fossil push",
      "darcs push",
      "bzr push",
      "cvs commit",
      "p4 submit",
    ],
    ...[
      "gh pr create",
      "gh repo sync",
      "gh api -X POST x",
      "glab mr create",
      "hub push",
      "repo upload",
      "alias l=push; git l",
      "$x push",
    ],
    ...[
      "find . -exec git push \\;",
      "xargs git < verbs",
      "git pull; git push",
      "f() { git push; }; f",
      "busybox git push",
    ],
  ];
  test.each(PUSHES.map((line) => [line]))("%s", (line) => {
    expect(inBand(line, true)).toBe(false);
  });

  test("whatever of it stands in the command, it is none without a network either, because a remote may be a directory", () => {
    // What only comes together when the line runs is no push that can be known; without a network it reaches nobody
    // else.
    const named = PUSHES.filter((line) => !/^\$x|^xargs|^alias|submodule/.test(line));
    expect(named.filter((line) => inBand(line, false))).toEqual([]);
  });

  test.each([
    "git commit -m x",
    "git fetch origin",
    "git -C sub pull",
    "git clone https://example.org/x",
    "jj git fetch",
    "hg pull",
    "svn update",
    "gh pr list",
    "npm ci",
    "pip install -r requirements.txt",
    "cargo fetch",
    "curl https://example.org/x -o x",
    "ls | sort",
  ])("the boundary: %s may be answered in band, with a network and without", (line) => {
    expect([inBand(line, true), inBand(line, false)]).toEqual([true, true]);
  });

  test.each(["x=git; $x push", "$(echo git) push origin main", "\x24{G:-git} send-pack .", "$x push"])(
    "%s is a push, whatever program it is, with a network and without",
    (line) => {
      expect([inBand(line, true), inBand(line, false)]).toEqual([false, false]);
    },
  );

  test.each([
    "./deploy",
    "sh deploy.sh",
    "python3 deploy.py",
    "make release",
    "npm run release",
    "$x",
    "npm publish",
    "tar xf a --to-command=x",
  ])("the boundary: %s may push where it has a network, and only there", (line) => {
    expect([inBand(line, true), inBand(line, false)]).toEqual([false, true]);
  });

  test("of git's own tools it goes by what they touch", () => {
    const ref = (operation: string, effect: Access["effect"]): Access => ({
      resource: { kind: "git_ref", remote: "origin", ref: "main", operation },
      effect,
    });
    expect(mayBeAnsweredInBand(TOOL, [ref("fetch", "write"), HOST], ["ask"])).toBe(true);
    expect(mayBeAnsweredInBand(TOOL, [ref("push", "read"), HOST], ["ask"])).toBe(false);
    expect(mayBeAnsweredInBand(TOOL, [ref("publish", "network"), HOST], ["ask"])).toBe(false);
  });
});
