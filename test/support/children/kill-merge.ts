/**
 * Loaded before the command line: kills it before one of the changes to files that the merge or drop of a branch makes.
 * `TEST_KILL_AT` is its number, from 1 on.
 */
import { Branches } from "../../../src/sandbox/branches/branches.ts";
import { killAtChange } from "./kill-at-change.ts";

const begin = killAtChange(Number(process.env["TEST_KILL_AT"] ?? 0));

for (const name of ["merge", "drop"] as const) {
  const act = Branches.prototype[name] as (...args: unknown[]) => unknown;
  Object.assign(Branches.prototype, {
    [name](this: Branches, ...args: unknown[]) {
      begin();
      return act.apply(this, args);
    },
  });
}
