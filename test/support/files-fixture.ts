/** A workspace in a directory of its own, and file access to it, for the attack and fault tests of files. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { newId, systemRandom } from "../../src/base/ids.ts";
import type { Denial } from "../../src/model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../src/model/outcome/failure.ts";
import type { WorkspacePath } from "../../src/model/place/access.ts";
import type { FileAccess } from "../../src/model/place/files.ts";
import type { Workspace } from "../../src/model/place/workspace.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../src/model/place/zone.ts";
import { createFileAccess, openWorkspaceRoots, type WorkspaceRoots } from "../../src/sandbox/files/files.ts";
import { newFiles } from "../../src/sandbox/files/new-files.ts";
import type { LockStore } from "../../src/sandbox/ports/lock-store.ts";

/** Where the workspace and what lies outside of it are, and a way in. */
export interface Place {
  /** Directory of the test; everything is below it. */
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  readonly workspace: Workspace;
  readonly roots: WorkspaceRoots;
  readonly locks: LockStore;
  readonly judged: (WorkspacePath & { readonly effect: string })[];
  readonly broken: (readonly [path: string, owner: string])[];
  readonly files: FileAccess;
  readonly access: (options: AccessOptions) => FileAccess;
  readonly close: () => void;
}

/** What is different from plain access. */
export interface AccessOptions {
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly locks?: LockStore;
  readonly recheck?: () => Promise<Denial | undefined>;
}

/** A new place. With `service` the service root is that directory of the project, whose `contracts` is shared. */
export function newPlace(service = ""): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-files-")));
  const project = join(base, "project");
  const outside = join(base, "outside");
  const root = service === "" ? project : join(project, service);
  mkdirSync(root, { recursive: true });
  mkdirSync(join(project, "contracts"), { recursive: true });
  mkdirSync(outside);
  return openPlace(base, root, project, service);
}

/** The place that `newPlace` made in `base`, opened by another process. */
export function openPlace(base: string, root: string, project: string, service: string): Place {
  const workspace: Workspace = {
    serviceRoot: root,
    projectRoot: project,
    sharedPaths: ["contracts"],
    zones: compileZones(BUILT_IN_ZONE_RULES, service),
  };
  const roots = openWorkspaceRoots(workspace);
  const locks = memoryLocks();
  const judged: Place["judged"] = [];
  const broken: Place["broken"] = [];
  const access: Place["access"] = (options) =>
    createFileAccess({
      workspace,
      roots,
      judge(target, effect) {
        judged.push({ ...target, effect });
        return judge(workspace, target, effect);
      },
      visible: (target) => workspace.zones.classify(target) !== "secret",
      locks: options.locks ?? locks,
      lockOwner: `test-${process.pid}`,
      newFiles: unnotedNames,
      clock: options.clock ?? systemClock,
      random: systemRandom,
      signal: options.signal ?? new AbortController().signal,
      onLockBroken: (path, owner) => void broken.push([path, owner]),
      recheck: options.recheck ?? (async () => undefined),
    });
  return {
    base,
    root,
    outside: join(base, "outside"),
    workspace,
    roots,
    locks,
    judged,
    broken,
    files: access({}),
    access,
    close() {
      roots.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function judge(workspace: Workspace, target: WorkspacePath, effect: string): Denial | undefined {
  const zone = workspace.zones.classify(target);
  const blocked = zone === "secret" || zone === "managed";
  if (!blocked && !(zone === "shared" && effect === "write")) return undefined;
  const reason = blocked ? "workspace_blocked_zone" : "workspace_read_only";
  return { layer: "workspace", reason, ruleId: `ZONE:${zone}`, message: `the file lies in a ${zone} zone` };
}

/** Names of files in the making that nobody notes. */
export const unnotedNames = newFiles(
  { note: () => undefined },
  { instanceId: newId("ins", systemRandom), key: systemRandom(32) },
  systemRandom,
);

/** Locks of one process. */
export function memoryLocks(): LockStore {
  const held = new Map<string, { readonly owner: string; readonly sinceMs: number }>();
  return {
    async acquire({ key, owner, staleAfterMs, nowMs }) {
      const holder = held.get(key);
      if (holder && nowMs - holder.sinceMs <= staleAfterMs) return { kind: "busy", ...holder };
      held.set(key, { owner, sinceMs: nowMs });
      return holder ? { kind: "acquired", brokenOwner: holder.owner } : { kind: "acquired" };
    },
    async release({ key, owner }) {
      return held.get(key)?.owner === owner && held.delete(key);
    },
    close: async () => undefined,
  };
}

/** How an action ends: `ok`, the reason of a refusal, or the code of a failure. Anything else is thrown on. */
export async function endOf(action: () => unknown): Promise<string> {
  try {
    await action();
    return "ok";
  } catch (error) {
    if (error instanceof Refusal) return error.denial.reason;
    if (error instanceof ToolFailure) return error.code;
    throw error;
  }
}

/** The text of a file, read through `files`. */
export async function textOf(files: FileAccess, path: string): Promise<string> {
  const { bytes } = await files.read(path, { bytesMax: 1 << 20 });
  return Buffer.from(bytes).toString("utf8");
}

/** Every name below `directory`, to see that nothing was left behind. */
export function namesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
}
