/**
 * Judges the directories of the machine that a server's process is shown: by their zones, as workspaces are judged.
 *
 * INVARIANTS: what is secret in a directory, or in a workspace that it is a part of or holds, is hidden, and so is what
 * is Handrail's own. Only what an agent may write unasked can be written, because nobody is asked here. A directory
 * that no longer lies where the operator named it is not shown.
 */
import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import { pathShapesRepository } from "../../../model/place/repository-shape.ts";
import { compileZones, type ZoneMap } from "../../../model/place/zone.ts";
import type { ScopeJudge } from "../../../sandbox/plan/workspace-mounts.ts";
import type { BesideDirectory } from "../../../sandbox/views/beside.ts";
import type { OperatorDirectory } from "../../operator/operator-directory.ts";
import { isWithin, realPath } from "../../operator/real-path.ts";
import { planWorkspace } from "../../workspace/workspace-catalog.ts";
import type { UpstreamRecord } from "../records/pins.ts";

/** Where further directories lie inside. */
const PLACE = "/mnt";

/** By what directories are judged. */
export interface ShownGround {
  readonly operator: () => OperatorDirectory;
  /** Real paths of directories that no server may see. */
  readonly hidden: readonly string[];
}

/** What a process is shown. */
export interface ShownDirectories {
  /** The judge of the directory that is its workspace; none where it has one of its own. */
  readonly judge?: ScopeJudge;
  readonly beside: readonly BesideDirectory[];
}

/** Reads the rules of all directories of a record as they are now. @throws ToolFailure PERMISSION_DENIED */
export async function shownDirectories(
  { directory, read = [], write = [] }: Pick<UpstreamRecord, "directory" | "read" | "write">,
  ground: ShownGround,
): Promise<ShownDirectories> {
  const beside: BesideDirectory[] = [];
  for (const [reach, paths] of [["read", read] as const, ["write", write] as const])
    for (const root of paths)
      beside.push({ root, target: `${PLACE}/${basename(root)}`, judge: await judgeOf(root, reach, ground) });
  return { beside, ...(directory !== undefined && { judge: await judgeOf(directory, "read", ground) }) };
}

/** The rules of one place, by which a path below `base` is judged. */
interface Rules {
  readonly base: string;
  readonly zones: ZoneMap;
}

async function judgeOf(root: string, reach: "read" | "write", ground: ShownGround): Promise<ScopeJudge> {
  const { hidden } = ground;
  if (hidden.some((own) => isWithin(own, root))) throw refused("a server may not see a directory of Handrail's own");
  if (realPath(root) !== root) throw refused(`\`${root}\` no longer lies there: a link leads elsewhere`);
  const rules = await rulesFor(root, ground);
  const at = (path: string) => join(root, path);
  if (rules.some((one) => isSecret(one, root)))
    throw refused(`\`${root}\` is secret in a workspace that it is a part of`);
  const isHidden = (path: string) =>
    hidden.some((own) => isWithin(own, path)) || rules.some((one) => isSecret(one, path));
  const isThere = (path: string) => lstatSync(at(path), { throwIfNoEntry: false }) !== undefined;
  const isOpen = (path: string) =>
    reach === "write" && !pathShapesRepository(path, isThere) && rules.every((one) => isPlain(one, at(path)));
  return {
    entry: (path) => (isHidden(at(path)) ? "hidden" : isOpen(path) ? "write" : "read"),
    below: (directory) => (reach === "write" && (directory === "." || isOpen(directory)) ? "write" : "read"),
    hidesRepository: () => false,
    isWhole: (directory) =>
      directory !== "." &&
      !hidden.some((own) => isWithin(at(directory), own)) &&
      rules.every((one) => isOneThing(one, at(directory))),
  };
}

/** Its own rules, and those of the workspaces that it is a part of or holds. */
async function rulesFor(root: string, { operator, hidden }: ShownGround): Promise<readonly Rules[]> {
  const named = operator().settings.workspaces.flatMap(({ path }) => (existsSync(path) ? [realPath(path)] : []));
  const around = above(root).filter((path) => existsSync(join(path, "handrail.yaml")));
  const bases = [root, ...around, ...named.filter((path) => isWithin(path, root) || isWithin(root, path))];
  const all: Rules[] = [];
  for (const base of new Set(bases)) {
    const place = { serviceRoot: base, projectRoot: base };
    const { rules } = await planWorkspace(operator, place, { hidden: hidden.filter((own) => !isWithin(own, base)) });
    all.push({ base, zones: compileZones(rules, "") });
  }
  return all;
}

/** The directories above `path`, but for the outermost one. */
function above(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === "/" ? [] : [parent, ...above(parent)];
}

function zoneIn({ base, zones }: Rules, path: string) {
  return path === base ? "own" : zones.classify({ root: "service", path: relative(base, path) });
}

function isSecret(rules: Rules, path: string): boolean {
  return isWithin(rules.base, path) && zoneIn(rules, path) === "secret";
}

/** Whether nothing in that directory is judged by itself. */
function isOneThing(rules: Rules, directory: string): boolean {
  if (isWithin(rules.base, directory)) return zoneIn(rules, directory) === "managed";
  return !isWithin(directory, rules.base);
}

/** Whether it may be written there without asking anybody. */
function isPlain(rules: Rules, path: string): boolean {
  const { base, zones } = rules;
  if (!isWithin(base, path) || path === base) return true;
  return (
    zoneIn(rules, path) === "own" && zones.restriction({ root: "service", path: relative(base, path) }) === undefined
  );
}

function refused(message: string): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "PERMISSION_DENIED",
    message,
    "remove the server and add it with another directory (`--directory`, `--read`, `--write`)",
  );
}
