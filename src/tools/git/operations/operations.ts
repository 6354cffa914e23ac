/** The eighteen operations of `git` (INV-0021), and what each is to policy. */
import { GIT_OPERATIONS } from "../../../model/outcome/constraints.ts";
import type { EffectClass } from "../../../model/outcome/effect.ts";
import { parseArguments } from "../calls/options.ts";
import { add, commit } from "./commit-operations.ts";
import { clone, fetch, pull, push } from "./network-operations.ts";
import type { Operation } from "./operation.ts";
import { diff, log, show } from "./read-operations.ts";
import { branch, remote, tag } from "./reference-operations.ts";
import { reset } from "./reset-operation.ts";
import { stash } from "./stash-operation.ts";
import { status } from "./status.ts";
import { checkout, merge, rebase } from "./tree-operations.ts";

/** The name of an operation. */
export type OperationName = (typeof GIT_OPERATIONS)[number];

/** All operations by their names. */
export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  CLONE: clone,
  FETCH: fetch,
  PULL: pull,
  DIFF: diff,
  COMMIT: commit,
  PUSH: push,
  STATUS: status,
  LOG: log,
  BRANCH: branch,
  CHECKOUT: checkout,
  MERGE: merge,
  REBASE: rebase,
  ADD: add,
  RESET: reset,
  STASH: stash,
  TAG: tag,
  REMOTE: remote,
  SHOW: show,
};

const READING: readonly OperationName[] = ["STATUS", "DIFF", "LOG", "SHOW"];
const REACHING: readonly OperationName[] = ["CLONE", "FETCH", "PULL", "PUSH"];

/** The action of an operation (CTR-0016): `git:push`. */
export function actionOf(name: OperationName): string {
  return `git:${name.toLowerCase()}`;
}

/** Every action with its effect. */
export const GIT_ACTIONS: Readonly<Record<string, EffectClass>> = Object.fromEntries(
  GIT_OPERATIONS.map((name) => [
    actionOf(name),
    READING.includes(name) ? "read" : REACHING.includes(name) ? "network" : "write",
  ]),
);

/** Why arguments are refused. */
export function argumentsProblem(name: OperationName, args: readonly string[]): string | undefined {
  const { options, check, usage } = OPERATIONS[name];
  const strange = args.find((word) => word.includes("\0") || !word.isWellFormed());
  if (strange !== undefined) return "an argument holds a null byte or half a character";
  const parsed = parseArguments(options, args);
  const problem = typeof parsed === "string" ? parsed : check(parsed);
  return problem === undefined ? undefined : `${problem} (${usage})`;
}
