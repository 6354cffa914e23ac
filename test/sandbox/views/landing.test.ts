// What commands change in a view and what of it lands: the workspace afterwards is what it would be if the command had
// run on it, but for what it may not change.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ScopeJudge } from "../../../src/sandbox/plan/workspace-mounts.ts";
import { EVERYTHING, newSandboxPlace, own, type SandboxPlace, sandboxUser } from "../../support/sandbox-place.ts";
import { searching } from "../../support/thorough.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

/** What lies below `root`, by path: kind, rights, and content. */
function treeOf(root: string, below = ""): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(join(root, below))
      .sort()
      .flatMap((name) => {
        const path = join(below, name);
        const at = join(root, path);
        const found = lstatSync(at);
        const rights = (found.mode & 0o777).toString(8);
        if (found.isSymbolicLink()) return [[path, `-> ${readlinkSync(at)}`]];
        if (found.isDirectory()) return [[path, `${rights} directory`], ...Object.entries(treeOf(root, path))];
        return [[path, `${rights} ${readFileSync(at, "utf8")}`]];
      }),
  );
}

/** Does the same without a view, as the same user, in a copy. */
function plainly(command: string): Readonly<Record<string, string>> {
  const copy = join(place.base, "plain");
  rmSync(copy, { recursive: true, force: true });
  cpSync(place.root, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const user = String(sandboxUser());
  execFileSync("chown", ["-R", "-h", `${user}:${user}`, copy]);
  const asUser = process.geteuid?.() === 0 ? ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"] : [];
  const [program = "bash", ...rest] = [...asUser, "bash", "--noprofile", "--norc", "-c", command];
  execFileSync(program, rest, { cwd: copy, stdio: "ignore", env: { PATH: "/usr/bin:/bin" } });
  return treeOf(copy);
}

function make(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place.root, path, ".."), { recursive: true });
    writeFileSync(join(place.root, path), text);
  }
  for (const path of execFileSync("find", [place.root, "-print0"], { encoding: "utf8" }).split("\0").filter(Boolean))
    own(path);
}

const BEFORE = {
  "a.txt": "a",
  "b.txt": "b",
  "d/one": "1",
  "d/two": "2",
  "d/e/three": "3",
  "dist/old.js": "old",
  "dist/sub/x": "x",
  "run.sh": "#!",
};

describe("what a command does to files is what lands", () => {
  test.each([
    ["makes, writes and removes", "echo new >n; echo more >>a.txt; rm b.txt"],
    ["makes directories", "mkdir -p x/y/z; echo 1 >x/y/z/f; mkdir empty"],
    ["removes directories", "rm -r d; rm -r dist"],
    ["makes a directory anew", "rm -r dist; mkdir dist; echo new >dist/new.js"],
    [
      "makes a directory anew with some of the same names",
      "rm -r dist; mkdir -p dist/sub; echo y >dist/sub/y; echo new >dist/old.js",
    ],
    ["renames files", "mv a.txt c.txt; mv d/one one; mv b.txt d/two"],
    ["renames only the letter's case", "mv a.txt A.txt"],
    ["renames directories", "mv d moved; mv dist/sub sub"],
    ["swaps two files", "mv a.txt t; mv b.txt a.txt; mv t b.txt"],
    ["changes rights alone", "chmod 755 run.sh; chmod 700 d; chmod 600 a.txt"],
    ["makes links", "ln -s a.txt l; ln -s /etc/passwd out; ln -s nowhere gone; ln -sfn b.txt l"],
    [
      "makes a file a directory and the other way round",
      "rm a.txt; mkdir a.txt; echo 1 >a.txt/in; rm -r d; echo file >d",
    ],
    ["makes a file a link", "rm a.txt; ln -s b.txt a.txt"],
    ["removes what it made", "echo 1 >t; mkdir u; rm t; rmdir u"],
    ["removes and makes the same again", "rm a.txt; printf a >a.txt"],
    ["makes hard links", "echo 1 >h; ln h h2; echo 2 >>h"],
    ["replaces by rename, as editors do", "echo new >.a.tmp; mv .a.tmp a.txt"],
    ["makes sparse and large files", "truncate -s 5M sparse; head -c 3000000 /dev/zero >large"],
    ["names with blanks and signs", "echo 1 >'a b'; echo 2 >'-x'; mkdir 'q\"'; echo 3 >'q\"/ü'; echo 4 >$'new\\nline'"],
  ])("%s", async (_, command) => {
    make(BEFORE);
    const expected = plainly(command);
    const { end } = await place.run(command);
    expect([end.exitCode, end.landed?.notKept]).toEqual([0, []]);
    expect(treeOf(place.root)).toEqual(expected);
  });

  test("whatever it does in whatever order", async () => {
    const path = fc.constantFrom("a.txt", "b.txt", "d", "d/one", "d/e", "d/e/three", "n", "n/m", "dist", "dist/old.js");
    const step = fc.oneof(
      fc
        .tuple(fc.constantFrom("echo x >", "echo y >>", "mkdir -p ", "rm -rf ", "rmdir ", "chmod 750 ", "touch "), path)
        .map((words) => words.join("")),
      fc.tuple(path, path).map(([from, to]) => `mv -f ${from} ${to}`),
      fc.tuple(path, path).map(([from, to]) => `cp ${from} ${to}`),
      fc.tuple(path, path).map(([from, to]) => `ln -sf ${from} ${to}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        rmSync(place.root, { recursive: true });
        mkdirSync(place.root);
        make(BEFORE);
        const command = `${steps.join("; ")}; true`;
        const expected = plainly(command);
        const { end } = await place.run(command);
        expect(end.landed?.notKept).toEqual([]);
        expect(treeOf(place.root)).toEqual(expected);
      }),
      { numRuns: searching({ shortly: 30, thoroughly: 200 }) },
    );
  });
});

test("times of files are kept, and what is only touched is a change", async () => {
  make({ made: "1", touched: "1", read: "1" });
  const old = new Date("2020-01-02T03:04:05Z");
  for (const name of ["made", "touched", "read"]) utimesSync(join(place.root, name), old, old);
  const { end } = await place.run("cat read; echo 2 >new; touch -d 2021-01-01T00:00:00Z new; touch touched");
  const year = (name: string) => lstatSync(join(place.root, name)).mtime.getFullYear();
  expect(["made", "read", "new"].map(year)).toEqual([2020, 2020, 2021]);
  expect(year("touched")).toBeGreaterThan(2021);
  expect(end.landed).toEqual({ created: 1, changed: 1, removed: 0, notKept: [] });
});

test("what was opened for writing and not changed is no change", async () => {
  make({ "a.txt": "same" });
  const before = lstatSync(join(place.root, "a.txt"), { bigint: true });
  const { end } = await place.run(": >>a.txt; exec 3<>a.txt");
  expect(end.landed).toEqual({ created: 0, changed: 0, removed: 0, notKept: [] });
  expect(lstatSync(join(place.root, "a.txt"), { bigint: true }).ino).toBe(before.ino);
});

test("what is closed, special, unnameable or not the command's does not land, and keeps nothing else from it", async () => {
  make({ "a.txt": "a", "keep/CLAUDE.md": "mine", "keep/x": "x" });
  const judge: ScopeJudge = { ...EVERYTHING, entry: (path) => (path.endsWith("CLAUDE.md") ? "read" : "write") };
  const deep = "for i in $(seq 25); do d=$(printf '%0200d' 0); mkdir $d; cd $d; done";
  const command = `mkfifo p; mkdir $'\\xff'; echo 1 >$'\\xff/in'; mkdir c; echo 1 >c/f; chmod 0 c; echo evil >CLAUDE.md; mkdir s; echo evil >s/CLAUDE.md; (${deep}); echo fine >fine`;
  const { end } = await place.run(command, { judge });
  expect(end.landed?.notKept.map(({ path, reason }) => `${reason} ${path.slice(0, 12)}`).sort()).toEqual([
    "not_a_file p",
    "not_allowed CLAUDE.md",
    "not_allowed s/CLAUDE.md",
    `unusable_name ${"0".repeat(12)}`,
    "unusable_name \u{fffd}",
  ]);
  expect(readFileSync(join(place.root, "fine"), "utf8")).toBe("fine\n");
  expect(readFileSync(join(place.root, "c/f"), "utf8")).toBe("1\n");
  expect((await place.run("echo next; rm -r 000*", { judge })).stdout).toBe("next\n");
});

test("what git, or whoever looks for repositories, would take for one does not come together", async () => {
  make({ "half/objects/info/x": "", "plain/a": "" });
  const command =
    "for d in bare plain/b half; do mkdir -p $d/objects/pack $d/refs/heads; echo 1 >$d/objects/pack/p; echo 1 >$d/refs/heads/r; done";
  const { end } = await place.run(command);
  const shaped = ["bare", "plain/b", "half"].filter((path) =>
    ["objects", "refs"].every((name) => existsSync(join(place.root, path, name))),
  );
  expect([shaped, end.landed?.notKept.map(({ path }) => path)]).toEqual([
    [],
    ["bare/objects", "half/refs", "plain/b/objects"],
  ]);
  expect((await place.run("echo next")).stdout).toBe("next\n");
});

test("a directory with something that is not the command's stays, without what was", async () => {
  make({ "keep/x": "x", "keep/deep/CLAUDE.md": "mine" });
  const judge: ScopeJudge = { ...EVERYTHING, entry: (path) => (path.endsWith("CLAUDE.md") ? "hidden" : "write") };
  await place.run("rm -rf keep", { judge });
  expect(readFileSync(join(place.root, "keep/deep/CLAUDE.md"), "utf8")).toBe("mine");
  expect(existsSync(join(place.root, "keep/x"))).toBe(false);
});

test("a file whose name is no text stays, also beside one whose name is what stands for its bytes", async () => {
  make({ "d/\u{fffd}": "text", "e/a": "a" });
  const bytes = Buffer.concat([Buffer.from(join(place.root, "d/")), Buffer.from([0xff])]);
  writeFileSync(bytes, "no text");
  lchownSync(bytes, sandboxUser(), sandboxUser());
  const { end } = await place.run("rm -rf d e");
  expect(end.landed?.notKept).toEqual([{ path: "d/\u{fffd}", reason: "unusable_name" }]);
  expect(readFileSync(bytes, "utf8")).toBe("no text");
  expect(existsSync(join(place.root, "e"))).toBe(false); // the control: other directories go
});

test("of a command that is cancelled nothing lands, of one that takes too long what it did", async () => {
  const cancelling = new AbortController();
  const cancelled = await place.run("echo 1 >made; echo up; sleep 20", {
    signal: cancelling.signal,
    onOutput: () => cancelling.abort(),
  });
  expect([cancelled.end.endedBy, cancelled.end.landed, readdirSync(place.root)]).toEqual(["cancelled", undefined, []]);
  const late = await place.run("echo 1 >made; exec sleep 86399", { limits: { timeoutMs: 8000 } });
  expect([late.end.endedBy, late.end.landed?.created, readdirSync(place.root)]).toEqual(["timeout", 1, ["made"]]);
});

test("two commands that make the same name: the first to end has it, and the other is told", async () => {
  const { promise: quickHasLanded, resolve: land } = Promise.withResolvers<void>();
  const { promise: slowHasBegun, resolve: begun } = Promise.withResolvers<void>();
  const slow = place.run("echo begun; echo slow >same; echo slow >own", {
    onOutput: () => begun(),
    landing: { before: () => quickHasLanded },
  });
  await slowHasBegun;
  const quick = await place.run("echo quick >same");
  land();
  const { end } = await slow;
  expect([quick.end.landed?.notKept, end.landed?.notKept]).toEqual([
    [],
    [{ path: "same", reason: "changed_meanwhile" }],
  ]);
  expect(["same", "own"].map((name) => readFileSync(join(place.root, name), "utf8"))).toEqual(["quick\n", "slow\n"]);
});

test("a view is gone when its command is, whatever it holds", async () => {
  const views = join(place.base, "views");
  const other = newSandboxPlace({ viewsDirectory: views });
  await other.run(
    "mkdir -p c/d; echo 1 >c/d/f; chmod 0 c/d c; for i in $(seq 30); do d=$(printf '%0200d' 0); mkdir $d; cd $d; done",
  );
  await other.sandbox.endRuns();
  expect(readdirSync(views)).toEqual([]);
  chmodSync(join(other.root, "c"), 0o700);
  other.close();
});
