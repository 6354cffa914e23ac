// What people do in the workspace while a command runs: nothing that they put there, changed or took away is removed,
// overwritten or undone by what lands.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { newSandboxPlace, own, type SandboxPlace } from "../../../support/sandbox-place.ts";

let place: SandboxPlace | undefined;
afterEach(() => place?.close());

function shell(directory: string, command: string): string {
  return execFileSync("bash", ["-c", command], { cwd: directory, encoding: "utf8" });
}

/** Runs `agent`; as soon as all of it is done, and before it has ended, somebody else does `person`. */
async function meanwhile(setUp: string, agent: string, person: string) {
  place = newSandboxPlace();
  const { root, run } = place;
  shell(root, setUp);
  for (const path of shell(root, "find . -mindepth 1 -print0").split("\0").filter(Boolean)) own(join(root, path));
  let isDone = false;
  const onOutput = () => {
    if (!isDone) shell(root, person);
    isDone = true;
  };
  const { end } = await run(`${agent}; echo done; sleep 0.3`, { onOutput });
  expect(isDone).toBe(true);
  return {
    files: shell(
      root,
      "find . -mindepth 1 '(' -type f -o -type d -empty ')' -printf '%P\\n' | sort | while read -r f; do echo \"$f $(cat $f 2>/dev/null | tr '\\n' ' ')\"; done",
    )
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
    notKept: end.landed?.notKept.map(({ path, reason }) => `${reason} ${path}`),
  };
}

const CHANGED = (path: string) => `changed_meanwhile ${path}`;
const SWAP = "mv cur cur.old; mv next cur";

test.each<[string, string, string, string, readonly string[], readonly string[]]>([
  [
    "moves a directory into one that goes",
    "mkdir -p cur precious/sub; echo old>cur/f; echo P>precious/sub/data",
    "rm -rf cur",
    "mv precious cur/",
    ["cur/precious/sub/data P"],
    [CHANGED("cur/precious")],
  ],
  [
    "moves a directory into one that is made anew",
    "mkdir -p dist precious/sub; echo old>dist/f; echo P>precious/sub/data",
    "rm -rf dist; mkdir dist; echo new>dist/f",
    "mv precious dist/",
    ["dist/f new", "dist/precious/sub/data P"],
    [CHANGED("dist/precious")],
  ],
  [
    "moves a directory deep into one that goes",
    "mkdir -p a/b/c precious; echo 1 >a/b/c/f; echo P>precious/p; echo 2 >a/g",
    "rm -rf a",
    "mv precious a/b/c/",
    ["a/b/c/precious/p P"],
    [CHANGED("a/b/c/precious")],
  ],
  [
    "puts another directory in the place of one that is written in",
    "mkdir cur next; echo old>cur/f; echo PERSON>next/f",
    "echo agent>>cur/f; echo new>cur/n",
    SWAP,
    ["cur.old/f old", "cur/f PERSON", "cur/n new"],
    [CHANGED("cur/f")],
  ],
  [
    "puts another directory in the place of one that goes",
    "mkdir cur next; echo old>cur/f; echo PERSON>next/f; echo P2>next/g",
    "rm -rf cur",
    SWAP,
    ["cur.old/f old", "cur/f PERSON", "cur/g P2"],
    [CHANGED("cur")],
  ],
  [
    "puts another directory in the place of one that is made anew",
    "mkdir -p cur next/d; echo old>cur/f; echo PERSON>next/f; echo P2>next/d/g",
    "rm -rf cur; mkdir cur; mkdir cur/d; echo A>cur/f",
    SWAP,
    ["cur.old/f old", "cur/d/g P2", "cur/f PERSON"],
    [CHANGED("cur/f")],
  ],
  [
    "puts another directory in the place of one far above one that goes",
    "mkdir -p a/x/y b/x/y; echo 1 >a/x/y/f; echo PERSON>b/x/y/f",
    "rm -rf a/x/y",
    "mv a a.old; mv b a",
    ["a.old/x/y/f 1", "a/x/y/f PERSON"],
    [CHANGED("a/x/y")],
  ],
  [
    "puts another directory far above a file that is written",
    "mkdir -p a/x/y b/x/y; echo 1 >a/x/y/f; echo PERSON>b/x/y/f; echo 2 >a/x/y/g",
    "echo agent>>a/x/y/f; echo agent>>a/x/y/g",
    "mv a a.old; mv b a",
    ["a.old/x/y/f 1", "a.old/x/y/g 2", "a/x/y/f PERSON"],
    [CHANGED("a/x/y/f"), CHANGED("a/x/y/g")],
  ],
  [
    "moves a directory to where one is made",
    "mkdir -p precious/sub; echo P>precious/sub/data; echo P>precious/x",
    "mkdir newdir; echo x>newdir/x; echo y>newdir/y",
    "mv precious newdir",
    ["newdir/sub/data P", "newdir/x P", "newdir/y y"],
    [CHANGED("newdir/x")],
  ],
  [
    "moves a directory to where a file is made",
    "mkdir -p precious/sub; echo P>precious/sub/data",
    "echo x>foo",
    "mv precious foo",
    ["foo/sub/data P"],
    [CHANGED("foo")],
  ],
  ["makes an empty directory where a file is made", ":", "echo x>foo", "mkdir foo", ["foo"], [CHANGED("foo")]],
  [
    "makes the same directory, with other files",
    ":",
    "mkdir out; echo a>out/a",
    "mkdir out; echo p>out/p",
    ["out/a a", "out/p p"],
    [],
  ],
  [
    "makes a file in a directory that goes",
    "mkdir d; echo 1 >d/f",
    "rm -rf d",
    "echo p>d/p",
    ["d/p p"],
    [CHANGED("d/p")],
  ],
  [
    "makes a file in a directory that is made a file",
    "mkdir d; echo 1 >d/f",
    "rm -rf d; echo f>d",
    "echo p>d/p",
    ["d/f 1", "d/p p"],
    [CHANGED("d"), "held_back d/f", CHANGED("d/p")],
  ],
  [
    "makes a file in a directory that is written in",
    "mkdir d; echo 1 >d/f",
    "echo 2 >>d/f; echo 3 >d/g",
    "echo p>d/p",
    ["d/f 1 2", "d/g 3", "d/p p"],
    [],
  ],
  [
    "removes a file that is written",
    "echo a>f; echo a>g",
    "echo b>>f; echo new>g",
    "rm f g",
    [],
    [CHANGED("f"), CHANGED("g")],
  ],
  ["renames a file that is written", "echo a>f", "echo b>>f", "mv f renamed", ["renamed a"], [CHANGED("f")]],
  ["removes a directory that is written in", "mkdir d; echo s>d/s", "echo n>d/n", "rm -rf d", [], [CHANGED("d")]],
  ["changes a file that goes", "echo a>f", "rm f", "echo PERSON>>f", ["f a PERSON"], [CHANGED("f")]],
])("somebody %s", async (_, setUp, agent, person, files, notKept) => {
  const found = await meanwhile(setUp, agent, person);
  expect([found.files, found.notKept]).toEqual([files, notKept]);
});

test.each<[string, string, string, string, string, readonly string[]]>([
  ["the person's alone", "mkdir d; chmod 755 d", "echo n>d/n", "chmod 700 d", "700", []],
  ["the command's alone", "mkdir d; chmod 755 d", "chmod 750 d", ":", "750", []],
  ["the command's, where somebody makes a file", "mkdir d; chmod 755 d", "chmod 750 d", "echo p>d/p", "750", []],
  ["both", "mkdir d; chmod 755 d", "chmod 750 d", "chmod 711 d", "711", ["changed_meanwhile d"]],
])("rights of a directory that were changed: %s", async (_, setUp, agent, person, rights, notKept) => {
  const { notKept: found } = await meanwhile(setUp, agent, person);
  expect([shell(place?.root ?? "", "stat -c %a d").trim(), found]).toEqual([rights, notKept]);
});
