// Copies of a workspace: what is in one, what is left out, and how large one may be.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copiedPlace } from "../../support/copied-fixture.ts";
import { nextTick } from "../../support/landing-fixture.ts";

const LARGE = { entriesMax: 1000, bytesMax: 1_000_000_000 };

test("files, links, rights and times are in the copy; sockets and what gives away its owner are not", () => {
  const { root, merged, copy } = copiedPlace({ "a/b/f": "text", run: "#!", empty: "" });
  symlinkSync("nowhere", join(root, "l"));
  chmodSync(join(root, "run"), 0o4755);
  chmodSync(join(root, "a"), 0o550);
  execFileSync("mkfifo", [join(root, "p")]);
  const old = new Date("2020-01-02T03:04:05.678Z");
  for (const path of ["a/b/f", "a/b", "a"]) utimesSync(join(root, path), old, old);
  const { closed } = copy();
  expect(readdirSync(merged, { recursive: true }).sort()).toEqual(["a", "a/b", "a/b/f", "empty", "l", "run"]);
  expect([readFileSync(join(merged, "a/b/f"), "utf8"), readlinkSync(join(merged, "l"))]).toEqual(["text", "nowhere"]);
  expect(["run", "a"].map((path) => (lstatSync(join(merged, path)).mode & 0o7777).toString(8))).toEqual(["755", "550"]);
  expect(["a/b/f", "a/b", "a"].map((path) => lstatSync(join(merged, path)).mtimeMs)).toEqual(
    Array.from({ length: 3 }, () => old.getTime()),
  );
  expect([...closed]).toEqual([]);
  chmodSync(join(root, "a"), 0o700);
  chmodSync(join(merged, "a"), 0o700);
});

test("of what is hidden there is only an empty name, and no change of it is found", () => {
  const { merged, copy, changes } = copiedPlace({ ".env": "SECRET", "secrets/deep/key": "SECRET", f: "1" });
  const copied = copy([".env", "secrets"]);
  expect([readFileSync(join(merged, ".env"), "utf8"), readdirSync(join(merged, "secrets"))]).toEqual(["", []]);
  writeFileSync(join(merged, ".env"), "planted");
  writeFileSync(join(merged, "secrets/planted"), "planted");
  expect(changes(copied)).toEqual({});
});

test("a directory that becomes a link while it is copied leads nowhere", () => {
  const { root, merged, outside, steps } = copiedPlace({ "d/f": "mine" });
  writeFileSync(join(outside, "f"), "SECRET");
  const copying = steps();
  while (!existsSync(join(merged, "d"))) copying.next();
  rmSync(join(root, "d"), { recursive: true });
  symlinkSync(outside, join(root, "d"));
  let step = copying.next();
  while (step.done !== true) step = copying.next();
  expect(readdirSync(join(merged, "d"))).toEqual([]);
  expect([...step.value.closed]).toEqual(["d"]); // nobody sees what came there, nor that it is empty
  expect(readFileSync(join(root, "d/f"), "utf8")).toBe("SECRET"); // the control: the link leads there
});

test("a large copy is refused with what to do, by files and by bytes, and holes cost nothing", () => {
  const many = copiedPlace({ a: "1", b: "2", "c/d": "3" });
  const all = (steps: Generator) => {
    for (let step = steps.next(); step.done !== true; step = steps.next());
  };
  const refusal = { code: "SANDBOX_UNAVAILABLE", suggestion: expect.stringContaining("smaller workspace") };
  expect(() => all(many.steps([], { ...LARGE, entriesMax: 3 }))).toThrow(expect.objectContaining(refusal));
  const heavy = copiedPlace({ a: "x".repeat(50_000), b: "x".repeat(50_000) });
  expect(() => all(heavy.steps([], { ...LARGE, bytesMax: 60_000 }))).toThrow(expect.objectContaining(refusal));
  // else whoever makes some of these without using the disk keeps every later command of anybody out
  const sparse = copiedPlace({ a: "begin", b: "" });
  for (const name of ["a", "b"]) truncateSync(join(sparse.root, name), 2 ** 40);
  expect([...sparse.steps([], { ...LARGE, bytesMax: 100_000 })].length).toBeLessThan(20);
  for (const name of ["a", "b"]) expect(lstatSync(join(sparse.merged, name)).size).toBe(2 ** 40);
  const head = Buffer.alloc(8);
  const opened = openSync(join(sparse.merged, "a"), "r");
  readSync(opened, head, 0, head.length, 0);
  closeSync(opened);
  expect(head.toString()).toBe("begin\0\0\0");
  const fits = copiedPlace({ a: "1", b: "2", "c/d": "3" });
  expect(() => all(fits.steps([], { ...LARGE, entriesMax: 4 }))).not.toThrow();
});

test("a large file is copied in pieces, and nothing waits for a FIFO that takes a file's place", () => {
  const { root, merged, steps } = copiedPlace({ big: "y".repeat(5_000_000) });
  let pieces = 0;
  for (const copying = steps(); copying.next().done !== true; ) pieces += 1;
  expect(pieces).toBeGreaterThan(4);
  expect(lstatSync(join(merged, "big")).size).toBe(lstatSync(join(root, "big")).size);
});

test("what a command did is found by what stands there, each kind as an overlay has it", () => {
  const before = { a: "a", b: "b", "d/one": "1", "d/two": "2", "e/f": "f", g: "g", "h/i": "i", same: "s" };
  const { merged, upper, copy, changes } = copiedPlace(before);
  const copied = copy();
  const script =
    "echo more >>a; rm b; echo 3 >d/three; rm d/two; rm -r e; mkdir e; echo n >e/n; mkdir new; echo x >new/x; echo s2 >t; mv t g; chmod 700 h; rm same; printf s >same";
  execFileSync("sh", ["-c", script], { cwd: merged });
  const found = changes(copied);
  const marks = Object.entries(found).map(([path, { kind, isCopy, isReplaced }]) => [
    path,
    [kind, isCopy && "copy", isReplaced && "replaced"].filter(Boolean).join(" "),
  ]);
  expect(Object.fromEntries(marks)).toEqual({
    a: "file copy",
    b: "gone",
    d: "directory copy",
    "d/three": "file",
    "d/two": "gone",
    e: "directory replaced",
    "e/n": "file",
    g: "file",
    h: "directory copy",
    new: "directory",
    "new/x": "file",
    same: found["same"]?.isCopy === true ? "file copy" : "file",
  });
  expect(readdirSync(upper, { recursive: true }).sort()).toEqual(
    ["a", "d", "d/three", "e", "e/n", "g", "h", "new", "new/x", "same"].sort(),
  );
});

test("where times do not tell of all writes the bytes do, but for files that somebody else has changed", () => {
  const { root, merged, copy, changes } = copiedPlace({ quiet: "old", theirs: "old", same: "old" });
  const sinceNs = nextTick();
  const copied = copy();
  for (const name of ["quiet", "theirs"]) {
    const entry = copied.manifest.in("").get(name);
    writeFileSync(join(merged, name), "new");
    const { ctimeNs, mtimeNs, size, mode } = lstatSync(join(merged, name), { bigint: true });
    if (entry?.kind !== "file") throw new Error("it was copied");
    // as if the file system had noted nothing
    copied.manifest.note("", name, { ...entry, stamp: `${ctimeNs} ${mtimeNs} ${size} ${mode}` });
  }
  writeFileSync(join(root, "theirs"), "person");
  expect(Object.keys(changes(copied, sinceNs))).toEqual(["quiet"]);
  mkdirSync(join(root, "made"));
});
