/** Kills this process, as `kill -9` would, before one of the changes that it makes to files. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";
import koffi from "koffi";

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

let left = 0;
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

/**
 * Has the changes of the main thread counted, before anything has called the C library.
 * @param change which one it is killed before, from 1 on; nothing is counted for 0
 * @returns what begins to count
 */
export function killAtChange(change: number): () => void {
  left = change;
  if (!isMainThread || change <= 0) return () => undefined;
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
  return () => {
    isCounting = true;
  };
}
