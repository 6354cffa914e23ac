// System calls by way of libc: what was found is what is opened again, errors come back as numbers, and nothing is left
// to a child.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  closeDescriptor,
  errno,
  O_PATH,
  openAgain,
  openBeneath,
  ownPath,
  readAt,
  regularFileSize,
  standingAt,
} from "../../../src/sandbox/native/syscalls.ts";

const GIB = 2 ** 30;

let directory: string;
let root: number;
let opened: number[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "handrail-syscalls-"));
  root = openSync(directory, O_PATH | constants.O_DIRECTORY);
  opened = [];
});
afterEach(() => {
  for (const descriptor of opened) closeDescriptor(descriptor);
  closeSync(root);
  rmSync(directory, { recursive: true });
});

function found(name: string): number {
  const descriptor = openBeneath(root, name, O_PATH, "plain");
  expect(descriptor).toBeGreaterThanOrEqual(0);
  opened.push(descriptor);
  return descriptor;
}

function again(descriptor: number): number {
  const reading = openAgain(descriptor);
  expect(reading).toBeGreaterThanOrEqual(0);
  opened.push(reading);
  return reading;
}

function textAt(descriptor: number, offset: number, length: number): string {
  const into = Buffer.alloc(length);
  return into.toString("utf8", 0, readAt(descriptor, into, offset));
}

test("what was found is opened, whatever has its name meanwhile, and when it has none", () => {
  writeFileSync(join(directory, "a"), "found");
  const descriptor = found("a");
  renameSync(join(directory, "a"), join(directory, "b"));
  writeFileSync(join(directory, "a"), "other");
  expect(textAt(again(descriptor), 0, 100)).toBe("found");
  unlinkSync(join(directory, "b"));
  expect(textAt(again(descriptor), 0, 100)).toBe("found");
});

test("a number that was used for another file before stands for the one that it names now", () => {
  for (const name of ["a", "b", "c"]) {
    writeFileSync(join(directory, name), name);
    const descriptor = openBeneath(root, name, O_PATH, "plain"); // the lowest free number: the same each time
    const reading = openAgain(descriptor);
    expect(textAt(reading, 0, 100)).toBe(name);
    closeDescriptor(reading);
    closeDescriptor(descriptor);
  }
});

test("bytes and sizes beyond 4 GiB are those of the file", () => {
  const sizeBytes = 5 * GIB + 7;
  writeFileSync(join(directory, "large"), "begin");
  truncateSync(join(directory, "large"), sizeBytes - 3);
  writeFileSync(join(directory, "large"), "end", { flag: "a" });
  const descriptor = found("large");
  expect(regularFileSize(descriptor)).toBe(sizeBytes);
  expect(textAt(again(descriptor), sizeBytes - 3, 100)).toBe("end");
  expect(textAt(again(descriptor), sizeBytes, 100)).toBe("");
});

test("only a regular file has a size, and one without a name only where none is asked for", () => {
  writeFileSync(join(directory, "a"), "12345");
  const descriptor = found("a");
  expect([regularFileSize(descriptor, true), regularFileSize(found("."))]).toEqual([5, undefined]);
  unlinkSync(join(directory, "a"));
  expect([regularFileSize(descriptor), regularFileSize(descriptor, true)]).toEqual([5, undefined]);
});

test("what stands under a name is told without following a link, also where the name is no text", () => {
  const large = 6 * GIB;
  writeFileSync(join(directory, "large"), "");
  truncateSync(join(directory, "large"), large);
  mkdirSync(join(directory, "sub"));
  symlinkSync("large", join(directory, "link"));
  symlinkSync("nowhere", join(directory, "dangling"));
  execFileSync("mkfifo", [join(directory, "pipe")]);
  const odd = Buffer.from([0x6f, 0xff, 0x64]);
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), odd]), "odd");
  const at = (name: string | Buffer) => standingAt(root, Buffer.concat([Buffer.from(name), Buffer.of(0)]));
  const { S_IFREG, S_IFLNK } = constants;
  expect([at("large"), at(odd)]).toEqual([
    { kind: S_IFREG, sizeBytes: large },
    { kind: S_IFREG, sizeBytes: 3 },
  ]);
  expect([at("link"), at("dangling")]).toEqual([
    { kind: S_IFLNK, sizeBytes: 5 },
    { kind: S_IFLNK, sizeBytes: 7 },
  ]);
  expect([at("sub"), at("pipe")]).toMatchObject([{ kind: constants.S_IFDIR }, { kind: constants.S_IFIFO }]);
  expect([at("none"), at("large/x")]).toEqual([-errno.ENOENT, -errno.ENOTDIR]);
  for (const name of ["large", "large\0x\0", ""])
    expect(() => standingAt(root, Buffer.from(name))).toThrow(/null byte/);
});

test("a child inherits nothing that was opened", () => {
  writeFileSync(join(directory, "a"), "");
  const descriptor = found("a");
  const flagsOf = (one: number) =>
    Number.parseInt(/flags:\s*([0-7]+)/.exec(readFileSync(`/proc/self/fdinfo/${one}`, "utf8"))?.[1] ?? "", 8);
  const O_CLOEXEC = 0o2000000;
  expect([descriptor, again(descriptor)].map((one) => flagsOf(one) & O_CLOEXEC)).toEqual([O_CLOEXEC, O_CLOEXEC]);
});

test("errors come back as numbers", () => {
  expect(openAgain(1 << 20)).toBe(-errno.ENOENT);
  expect(readAt(root, Buffer.alloc(1), 0)).toBe(-errno.EBADF);
  expect(openBeneath(root, "none", O_PATH, "plain")).toBe(-errno.ENOENT);
});

test("the path of a descriptor is the one it has now, letters beyond ASCII included", () => {
  const [before, after] = [join(directory, "Größe 東"), join(directory, "später")];
  writeFileSync(before, "");
  const descriptor = found("Größe 東");
  expect(ownPath(descriptor)).toBe(before);
  renameSync(before, after);
  expect(ownPath(descriptor)).toBe(after);
  unlinkSync(after);
  expect(ownPath(descriptor)).toBe(`${after} (deleted)`);
  expect(ownPath(1 << 20)).toBe(undefined);
});
