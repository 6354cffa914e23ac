/**
 * Loaded before the command line: kills the process, as `kill -9` would, before one of the changes that the merge or
 * drop of a branch makes to files. `TEST_KILL_AT` is its number, from 1 on.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";
import koffi from "koffi";
import { Branches } from "../../../src/sandbox/branches/branches.ts";

const CHANGING = /\b(?:renameat2|linkat|mkdirat|symlinkat|fchownat|unlinkat|setxattr|utimensat|ioctl|syncfs)\(/;
const OF_NODE = [
  "writeFileSync",
  "writeSync",
  "openSync",
  "renameSync",
  "mkdirSync",
  "rmdirSync",
  "unlinkSync",
  "symlinkSync",
  "chmodSync",
  "fchmodSync",
  "fsyncSync",
] as const;
const OF_PROMISES = ["writeFile", "rename", "mkdir", "rmdir", "unlink", "rm", "open"] as const;

let left = Number(process.env["TEST_KILL_AT"]);
let isCounting = false;

function count(): void {
  if (!isCounting) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

type Call = (...args: unknown[]) => unknown;

function counted<Of extends object>(of: Of): Of {
  return new Proxy(of, {
    apply(target, self, args) {
      count();
      return Reflect.apply(target as Call, self, args);
    },
    get: (target, name) =>
      name === "async" ? counted(Reflect.get(target, name) as object) : Reflect.get(target, name),
  });
}

if (isMainThread && left > 0) {
  const { load } = koffi;
  koffi.load = ((...wanted: Parameters<typeof load>) => {
    const library = load(...wanted);
    const func = (prototype: string) => {
      const found = library.func(prototype);
      return CHANGING.test(prototype) ? counted(found) : found;
    };
    return new Proxy(library, { get: (of, name) => (name === "func" ? func : Reflect.get(of, name)) });
  }) as typeof load;
  for (const name of OF_NODE) Object.assign(fs, { [name]: counted(fs[name]) });
  for (const name of OF_PROMISES) Object.assign(fs.promises, { [name]: counted(fs.promises[name]) });
  syncBuiltinESMExports();
  for (const name of ["merge", "drop"] as const) {
    const act = Branches.prototype[name] as Call;
    Object.assign(Branches.prototype, {
      [name](this: Branches, ...args: unknown[]) {
        isCounting = true;
        return act.apply(this, args);
      },
    });
  }
}
