// The order in which changes land: what is new first, what is removed last and only where all that is new is there, so
// that no content is ever nowhere.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PATH_LEVELS_MAX } from "../../../src/names/path-size.ts";
import { FILE_CHUNK_BYTES } from "../../../src/sandbox/files/read.ts";
import { type Change, changesIn } from "../../../src/sandbox/landing/changes.ts";
import { applyLanding, type Landed, type LandingWork, prepareLanding } from "../../../src/sandbox/landing/landing.ts";
import { atOnce, type ScopeJudge } from "../../../src/sandbox/plan/workspace-mounts.ts";
import { makeFiles, nextTick } from "../../support/landing-fixture.ts";
import { EVERYTHING, sandboxUser } from "../../support/sandbox-place.ts";
import { longestStep } from "../../support/turns.ts";

/** Another file system than that of temporary files, on most machines. */
const ELSEWHERE = "/dev/shm";

interface View {
  readonly root: string;
  readonly upper: string;
  readonly side: string;
  readonly land: (rules?: Partial<LandingWork>, signal?: AbortSignal) => Generator<void, Landed>;
}

function* landed(work: LandingWork, changes: readonly Change[], signal?: AbortSignal): Generator<void, Landed> {
  const prepared = yield* prepareLanding(work, changes, signal);
  return yield* applyLanding(work, { ...prepared, readyNs: work.nowNs() }, signal);
}

/** A workspace with files, and a view of it in which some are gone and others are new. */
function view(
  files: Readonly<Record<string, string>>,
  gone: readonly string[],
  fresh: Readonly<Record<string, string>>,
  at = tmpdir(),
  judge: ScopeJudge = EVERYTHING,
): View {
  const [root, side, upper] = [
    mkdtempSync(join(realpathSync(tmpdir()), "handrail-root-")),
    mkdtempSync(join(realpathSync(tmpdir()), "handrail-side-")),
    mkdtempSync(join(at, "handrail-upper-")),
  ];
  makeFiles(root, files);
  makeFiles(upper, fresh);
  const removed = gone.map((path): Change => ({ path, kind: "gone", isReplaced: false, isCopy: false }));
  const changes = [...removed, ...atOnce(changesIn({ upper, pathBytesMax: 4000 }))].sort((one, other) =>
    one.path < other.path ? -1 : 1,
  );
  const descriptors = [openSync(root, "r"), openSync(upper, "r"), openSync(side, "r")] as const;
  onTestFinished(() => {
    for (const descriptor of descriptors) closeSync(descriptor);
    for (const directory of [root, upper, side]) rmSync(directory, { recursive: true, force: true });
  });
  const work = {
    root: descriptors[0],
    upper: descriptors[1],
    side: descriptors[2],
    isElsewhere: at === ELSEWHERE,
    judge,
    known: () => undefined,
    admit: () => undefined,
  };
  return {
    root,
    upper,
    side,
    land: (rules = {}, signal = undefined) =>
      landed({ ...work, sinceNs: nextTick(), nowNs: nextTick, ...rules } as LandingWork, changes, signal),
  };
}

/** The contents of all files below. */
function contents(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), "utf8")] : []))
    .sort();
}

test("somebody makes a file where one is moved to while it lands: what was moved stays where it was", () => {
  const { root, land } = view({ k998: "8", k999: "9", "z/old": "" }, ["k998", "k999"], {
    "z/k998": "8",
    "z/k999": "9",
  });
  const steps = land();
  while (!existsSync(join(root, "z/k998"))) steps.next();
  writeFileSync(join(root, "z/k999"), "person");
  expect(atOnce(steps)).toEqual({
    created: 1,
    changed: 0,
    removed: 0,
    isCut: false,
    notKept: [
      { path: "k998", reason: "held_back" },
      { path: "k999", reason: "held_back" },
      { path: "z/k999", reason: "changed_meanwhile" },
    ],
  });
  expect(contents(root)).toEqual(["", "8", "8", "9", "person"]);
});

test.each<[string, (at: (path: string) => string) => void, string, readonly string[]]>([
  ["does nothing", () => undefined, "", ["A", "new"]],
  ["writes a file that is overwritten", (at) => writeFileSync(at("over"), "P"), "over", ["A", "D", "G", "P"]],
  ["removes a file that is overwritten", (at) => rmSync(at("over")), "over", ["A", "D", "G"]],
  ["writes a file that goes", (at) => writeFileSync(at("gone"), "P"), "gone", ["A", "P", "new"]],
  [
    "puts another directory in the place of one that goes",
    (at) => {
      renameSync(at("d"), at("mine"));
      mkdirSync(at("d"));
    },
    "d",
    ["A", "D", "new"],
  ],
])("somebody %s between the plan and its step: what is theirs stays", (_, person, path, left) => {
  const { root, land } = view({ over: "O", gone: "G", "d/x": "D" }, ["gone", "d"], { a: "A", over: "new" });
  const steps = land();
  while (!existsSync(join(root, "a"))) steps.next(); // the first step of the plan
  person((name) => join(root, name));
  const notKept = atOnce(steps).notKept.filter(({ reason }) => reason !== "held_back");
  expect(notKept).toEqual(path === "" ? [] : [{ path, reason: "changed_meanwhile" }]);
  expect(contents(root)).toEqual(left);
  expect(existsSync(join(root, "d"))).toBe(path === "d" || left.includes("D"));
});

test("what cannot be made ready keeps what was moved, and what is overwritten, as it was", () => {
  const files = { keep: "K", "d/x": "X", over: "O", "e/old": "" };
  const { root, side, land } = view(files, ["keep", "d"], { keep2: "K", "e/x": "X", over: "new" }, ELSEWHERE);
  rmSync(side, { recursive: true }); // nothing can be made there any more
  expect(atOnce(land()).notKept).toEqual([
    { path: "d", reason: "held_back" },
    { path: "e/x", reason: "failed" },
    { path: "keep", reason: "held_back" },
    { path: "keep2", reason: "failed" },
    { path: "over", reason: "held_back" },
  ]);
  expect(contents(root)).toEqual(["", "K", "O", "X"]);
});

test("once one of two files that change places cannot land, the other stays as it was, and what is new lands", () => {
  const fresh = { a: "B", b: "A", f: "now a file", "g/x": "now a directory", n: "N" };
  const { root, side, land } = view({ a: "A", b: "B", "f/old": "F", g: "G" }, [], fresh, ELSEWHERE);
  writeFileSync(join(side, "2"), ""); // the first is what is new
  expect(atOnce(land()).notKept).toEqual([
    { path: "a", reason: "failed" },
    { path: "b", reason: "held_back" },
    { path: "f", reason: "held_back" },
    { path: "g", reason: "held_back" },
  ]);
  expect(contents(root)).toEqual(["A", "B", "F", "G", "N"]);
});

test.each([tmpdir(), ELSEWHERE])("where all is to land and one thing cannot, nothing does (from %s)", (at) => {
  const files = { gone: "G", over: "O", "d/x": "X", "f/in": "F", "cut/a": "1" };
  const fresh = { "z/y": "Z", over: "new", f: "now a file", n: "N" };
  const isClosed = (path: string) => path === "n";
  const judge: ScopeJudge = { ...EVERYTHING, entry: (path) => (isClosed(path) ? "read" : "write") };
  const refused = view(files, ["gone", "d", "cut"], fresh, at, judge);
  expect(atOnce(refused.land({ isWhole: true }))).toEqual({
    created: 0,
    changed: 0,
    removed: 0,
    isCut: false,
    notKept: expect.arrayContaining([{ path: "n", reason: "not_allowed" }]),
  });
  expect(contents(refused.root)).toEqual(["1", "F", "G", "O", "X"]);
  let takenBack = 0;
  for (let taken = 1; taken < 40; taken += 1) {
    const { root, land } = view(files, ["gone", "d", "cut"], fresh, at);
    chmodSync(join(root, "cut"), 0o500);
    const steps = land({ isWhole: true });
    let isDone = false;
    for (let step = 0; step < taken && !isDone; step += 1) isDone = steps.next().done === true;
    if (isDone) break;
    // somebody writes what goes: the landing is taken back, but for what is theirs
    if (existsSync(join(root, "gone"))) writeFileSync(join(root, "gone"), "P");
    const { notKept, ...counts } = atOnce(steps);
    if (notKept.length === 0) continue;
    takenBack += 1;
    expect(counts).toEqual({ created: 0, changed: 0, removed: 0, isCut: false });
    expect(contents(root)).toEqual(["1", "F", "O", "P", "X"]);
    expect(statSync(join(root, "cut")).mode & 0o777).toBe(0o500);
    expect(readdirSync(root).sort()).toEqual(["cut", "d", "f", "gone", "over"]);
  }
  expect(takenBack).toBeGreaterThan(3);
});

test.each<[string, (at: (path: string) => string) => void, string]>([
  ["makes a file in a directory that has landed", (at) => writeFileSync(at("z/person"), "P"), "z/person"],
  ["writes a file of a directory that has landed", (at) => appendFileSync(at("z/y"), "P"), "z/y"],
  ["writes a file that has landed", (at) => appendFileSync(at("n"), "P"), "n"],
])("somebody %s before the landing is taken back: it stays, and that is said", (_, person, path) => {
  const files = { over: "O", gone: "G" };
  const { root, land } = view(files, ["gone"], { "z/y": "Z", n: "N", over: "new" });
  const at = (name: string) => join(root, name);
  const steps = land({ isWhole: true });
  while (!existsSync(at("z")) || !existsSync(at("n"))) steps.next();
  nextTick();
  person(at);
  writeFileSync(at("gone"), "changed"); // so that not all can land
  expect(() => atOnce(steps)).toThrow(expect.objectContaining({ code: "OUTCOME_UNKNOWN" }));
  expect(readFileSync(at(path), "utf8")).toContain("P");
  expect([readFileSync(at("over"), "utf8"), readFileSync(at("gone"), "utf8")]).toEqual(["O", "changed"]);
});

test("whenever somebody writes in a directory that has landed while the landing is taken back, what they wrote stays", () => {
  let written = 0;
  for (let at = 1; at < 60; at += 1) {
    const { root, land } = view({ gone: "G" }, ["gone"], { "z/a": "A", "z/b": "B", "z/c": "C" });
    const steps = land({ isWhole: true });
    while (!existsSync(join(root, "z"))) steps.next();
    writeFileSync(join(root, "gone"), "changed"); // so that not all can land
    nextTick();
    let isOver = false;
    for (let step = 0; step < at && !isOver; step += 1) isOver = steps.next().done === true;
    if (isOver) break;
    if (!existsSync(join(root, "z/a"))) continue;
    appendFileSync(join(root, "z/a"), "P");
    written += 1;
    expect(() => atOnce(steps)).toThrow(expect.objectContaining({ code: "OUTCOME_UNKNOWN" }));
    expect(readFileSync(join(root, "z/a"), "utf8")).toBe("AP");
  }
  expect(written).toBeGreaterThan(2);
});

test.each([tmpdir(), ELSEWHERE])("a landing that is cancelled at any time is taken back (from %s)", (at) => {
  const files = { gone: "G", over: "O", "d/x": "X", "f/in": "F" };
  const fresh = { "z/y": "Z", over: "new", f: "now a file", n: "N", "d/z": "Z" };
  for (let taken = 0; ; taken += 1) {
    const { root, land } = view(files, ["gone"], fresh, at);
    const cancelling = new AbortController();
    const steps = land({}, cancelling.signal);
    let isDone = false;
    for (let step = 0; step < taken && !isDone; step += 1) isDone = steps.next().done === true;
    if (isDone) {
      expect(contents(root)).toEqual(["N", "X", "Z", "Z", "new", "now a file"]);
      break;
    }
    cancelling.abort();
    expect(atOnce(steps)).toMatchObject({ created: 0, changed: 0, removed: 0, isCut: true });
    expect(contents(root)).toEqual(["F", "G", "O", "X"]);
  }
});

test.each([tmpdir(), ELSEWHERE])(
  "whenever it is cut short, nothing that is left in the end was nowhere (from %s)",
  (at) => {
    const files = { a: "A", b: "B", "d/x": "X", "d/y": "Y", "e/f/g": "G", over: "old" };
    const fresh = { "z/a": "A", b2: "B", d: "now a file", "h/i/y": "Y", e2: "G", over: "new", x: "X" };
    const gone = ["a", "b", "e"];
    for (let cut = 1; cut < 40; cut += 1) {
      const { root, side, land } = view(files, gone, fresh, at);
      const steps = land();
      for (let step = 0; step < cut; step += 1) steps.next();
      expect([...contents(root), ...contents(side)]).toEqual(expect.arrayContaining(["A", "B", "G", "X", "Y"]));
    }
    const { root, land } = view(files, gone, fresh, at);
    expect(atOnce(land()).notKept).toEqual([]);
    expect(readdirSync(root).sort()).toEqual(["b2", "d", "e2", "h", "over", "x", "z"]);
  },
);

test("of two landings that make the parts of a repository at the same time one at most makes its part", () => {
  const { root, land } = view({ keep: "" }, [], { "d/objects/00/x": "", "d/other": "" });
  mkdirSync(join(root, "d"));
  const steps = land();
  while (!existsSync(join(root, "d/other")) && !existsSync(join(root, "d/objects"))) {
    mkdirSync(join(root, "d/refs"), { recursive: true });
    steps.next();
  }
  const { notKept } = atOnce(steps);
  expect(notKept).toContainEqual({ path: "d/objects", reason: "not_allowed" });
  expect(readdirSync(join(root, "d")).sort()).toEqual(["other", "refs"]);
});

test("directories that would cost each later command a mount do not land", () => {
  const isTemplate = (path: string) => path.endsWith(".env.example");
  const judge = { ...EVERYTHING, below: (path: string) => (isTemplate(path) ? "read" : "write") } as const;
  const { root, land } = view({}, [], { "d/.env.example/a": "", "d/kept": "" }, tmpdir(), judge);
  expect(atOnce(land()).notKept).toEqual([{ path: "d/.env.example", reason: "not_allowed" }]);
  expect(readdirSync(join(root, "d"))).toEqual(["kept"]);
});

test.each<[string, readonly string[], Readonly<Record<string, string>>, readonly string[]]>([
  ["by a file that was moved", ["b"], { a: "the second of a person" }, ["a", "b"]],
  ["by a new file", [], { a: "new" }, ["a"]],
])("a file is not overwritten %s where its content may have been moved to a name that does not land", (...row) => {
  const [, gone, made, held] = row;
  const judge = { ...EVERYTHING, entry: (path: string) => (path.startsWith("own") ? "read" : "write") } as const;
  const { root, land } = view(
    { a: "person 1", b: "the second of a person" },
    gone,
    { ...made, "own/CLAUDE.md": "person 1" },
    tmpdir(),
    judge,
  );
  expect(atOnce(land()).notKept).toEqual([
    ...held.map((path) => ({ path, reason: "held_back" })),
    { path: "own", reason: "not_allowed" },
  ]);
  expect(contents(root)).toEqual(["person 1", "the second of a person"]);
});

test("nothing is overwritten where nobody can say what a directory holds that does not land", () => {
  const { root, land } = view({ a: "A" }, [], { a: "B", [`${"d/".repeat(300)}f`]: "A" });
  const { created, notKept } = atOnce(land());
  expect(notKept).toContainEqual({ path: "a", reason: "held_back" });
  expect([created, contents(root)]).toEqual([PATH_LEVELS_MAX, ["A"]]);
});

test("thousands of files below hundreds of directories are planned in time that goes with what there is", () => {
  const inside = "d/".repeat(PATH_LEVELS_MAX - 1);
  const fresh = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`${inside}${index}`, ""]));
  const { land } = view({ [`${inside}old`]: "" }, [`${inside}old`], fresh);
  expect(longestStep(land())).toBeLessThan(100);
});

test("a file that was moved and closed to its owner lands from another file system", () => {
  const user = sandboxUser();
  const { root, upper, side, land } = view({ a: "precious" }, ["a"], { z: "precious", y: "other" }, ELSEWHERE);
  for (const path of [root, upper, side, join(root, "a"), join(upper, "z"), join(upper, "y")])
    chownSync(path, user, user);
  chmodSync(join(upper, "z"), 0);
  chmodSync(join(upper, "y"), 0o200);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(user);
  let notKept: unknown;
  try {
    notKept = atOnce(land()).notKept;
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  expect(notKept).toEqual([]);
  expect(["y", "z"].map((path) => (statSync(join(root, path)).mode & 0o777).toString(8))).toEqual(["200", "0"]);
  if (isRoot) expect(contents(root)).toEqual(["other", "precious"]);
});

test.each([true, false])(
  "a directory that is moved away (%s) while a file is copied into it gets nothing of it",
  (isMoved) => {
    const large = "x".repeat(4 * FILE_CHUNK_BYTES);
    const { root, side, land } = view({ "d/x": "X" }, [], { "d/large": large }, ELSEWHERE);
    const steps = land();
    while (readdirSync(side).length === 0) steps.next(); // until a piece of it is there
    expect(existsSync(join(root, "d/large"))).toBe(false);
    if (isMoved) {
      renameSync(join(root, "d"), join(root, "moved"));
      mkdirSync(join(root, "d"));
    }
    expect(atOnce(steps).notKept).toEqual(isMoved ? [{ path: "d/large", reason: "changed_meanwhile" }] : []);
    // The control: without that it lands where it belongs.
    expect(readdirSync(join(root, isMoved ? "moved" : "d"))).toEqual(isMoved ? ["x"] : ["large", "x"]);
  },
);

test("names of one file are no changes by somebody else to each other", () => {
  const { root, land } = view({ "t/d/foo-1": "old", "d/z": "z" }, ["d"], { "t/d/foo-1": "new", "t/foo": "new" });
  linkSync(join(root, "t/d/foo-1"), join(root, "t/foo"));
  linkSync(join(root, "d/z"), join(root, "d/y"));
  expect(existsSync(join(root, "d/y"))).toBe(true);
  const steps = land();
  expect(atOnce(steps)).toMatchObject({ changed: 2, removed: 3, notKept: [] });
  expect(contents(root)).toEqual(["new", "new"]);
});

test("of a landing that is taken back objects of git stay, for somebody's commit may stand on them by now", () => {
  const object = ".git/objects/ab/cdef";
  const { root, land } = view({ ".git/objects/ab/old": "o", "z.txt": "before" }, [], {
    [object]: "an object",
    ".git/refs/heads/new": "abcdef",
    "z.txt": "after",
  });
  const cancelling = new AbortController();
  const steps = land({ isWhole: true, judge: { ...EVERYTHING, isWhole: () => true } }, cancelling.signal);
  while (!existsSync(join(root, object)) || !existsSync(join(root, ".git/refs"))) steps.next();
  cancelling.abort();
  expect(atOnce(steps)).toMatchObject({ created: 0, isCut: true });
  expect(contents(root)).toEqual(["an object", "before", "o"]); // the control: the reference and the file were taken back
});
