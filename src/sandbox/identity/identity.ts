/**
 * Chooses the user that a run's processes have on the machine, and their view of the workspace.
 *
 * INVARIANT: this is never root. As root, bwrap's limits do not hold, and a mistake changes the machine.
 */
import { statSync } from "node:fs";
import { assert } from "../../base/errors.ts";

import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Layers } from "../layers/overlay.ts";
import type { ViewOwner } from "../layers/view-directories.ts";
import type { SandboxMount } from "../plan/plan.ts";
import { type MappedView, type Mapping, openMappedView } from "./mapped-view.ts";

/** Views of workspaces that one kernel holds at once; each is a waiting process. */
const SANDBOX_VIEWS_MAX = 16;

/**
 * The user that runs belong to when the kernel is root and the operator names none: among the numbers that no account
 * has.
 */
export const SANDBOX_USER_ID = 61234;

/** How a program is started for one workspace. */
export interface Identity {
  /** The user that the machine sees. */
  readonly userId: number;
  /** What is put before the program. */
  readonly prefix: readonly string[];
  /** What is put before a program of the kernel's own user that is to see the same. */
  readonly enter: readonly string[];
  /** Given to the process that starts it. */
  readonly runAs: { readonly userId: number; readonly groupId: number } | undefined;
  /** Where the workspace is taken from. */
  readonly source: string;
  /** Where the directory of views stands, for runs that write into one. */
  readonly views?: { readonly path: string; readonly owner: ViewOwner | undefined };
  /** What is merged into the tree that the run sees; the workspace as it is when absent. */
  readonly layers?: Layers;
  /** Where directories are taken from that are seen beside the workspace, in their order. */
  readonly beside?: readonly string[];
  /** Where else directories and files stand that this user could not reach under their own paths. */
  readonly elsewhere?: ReadonlyMap<string, string>;
}

/** What the commands of a workspace see besides. */
export interface SeenBesides {
  /** Directories and files, perhaps below somebody's home. */
  readonly toolchains: readonly string[];
  /** The directory of all views, absolute. */
  readonly views: string;
  /** Directories with a scope of their own. */
  readonly beside?: readonly string[];
}

/** The kernel's own user, who sees the workspace as it is. */
export function ownIdentity(root: string): Identity {
  return { userId: process.geteuid?.() ?? 0, prefix: [], enter: [], runAs: undefined, source: root };
}

/** The identities of one kernel, by workspace. */
export class Identities {
  readonly #userId: number;
  readonly #views = new Map<string, Promise<MappedView>>();

  constructor(userId: number) {
    this.#userId = userId;
  }

  /**
   * The identity for the workspace at `root`.
   * @throws ToolFailure SANDBOX_UNAVAILABLE when root's workspace cannot be shown to another user, or is gone
   */
  async of(root: string, { toolchains, views, beside = [] }: SeenBesides): Promise<Identity> {
    const own = process.geteuid?.() ?? 0;
    if (own !== 0) return { ...ownIdentity(root), views: { path: views, owner: undefined }, beside };
    const userId = this.#userId;
    const found = statSync(root, { throwIfNoEntry: false });
    if (found === undefined) throw gone(root);
    const { uid, gid, dev, ino } = found;
    const closed = toolchains.filter((path) => !isReachable(path, userId));
    // The view cannot tell files of the user from those that only look so, but whose all are needs none.
    const isOwn = uid === userId;
    for (const path of beside) requireOwner(path, uid);
    const mapped = isOwn ? [] : [root, views, ...beside];
    const shown = isOwn ? [views, ...beside, ...closed] : closed;
    const view = await this.#view(mapped, shown, {
      mapping: { ownerId: uid, groupId: gid, userId },
      inode: `${dev}:${ino}`,
    });
    const [source, ownViews, ...rest] = isOwn ? [root, ...view.paths] : view.paths;
    const others = rest.slice(beside.length);
    assert(source !== undefined && ownViews !== undefined, "the holder names a place for everything that it was given");
    const elsewhere = new Map(closed.map((path, index) => [path, others[index] ?? path]));
    const { prefix, enter } = view;
    const runAs = { userId, groupId: userId };
    const owner = { userId: uid, groupId: isOwn ? userId : gid };
    const seen = { source, elsewhere, beside: rest.slice(0, beside.length) };
    return { userId, prefix, enter, runAs, ...seen, views: { path: ownViews, owner } };
  }

  /** Ends all views. */
  close(): void {
    for (const key of [...this.#views.keys()]) this.#forget(key);
  }

  /** @param inode tells a workspace from one that was made anew in its place */
  async #view(
    mapped: readonly string[],
    shown: readonly string[],
    { mapping, inode }: { readonly mapping: Mapping; readonly inode: string },
  ): Promise<MappedView> {
    const key = [...mapped, inode, mapping.ownerId, mapping.groupId, ...shown].join("\0");
    const known = this.#views.get(key);
    if (known !== undefined && (await known).isHeld()) return known;
    // Nothing is waited for from here to where the new one is noted: of several commands that find none, the first one
    // opens it for all.
    if (this.#views.get(key) !== known) return await this.#view(mapped, shown, { mapping, inode });
    this.#forget(key);
    const oldest = this.#views.size >= SANDBOX_VIEWS_MAX ? this.#views.keys().next().value : undefined;
    if (oldest !== undefined) this.#forget(oldest);
    const opening = openMappedView(mapped, shown, mapping);
    this.#views.set(key, opening);
    try {
      return await opening;
    } catch (error) {
      if (this.#views.get(key) === opening) this.#views.delete(key);
      throw error;
    }
  }

  #forget(key: string): void {
    const view = this.#views.get(key);
    this.#views.delete(key);
    view?.then(
      (open) => open.close(),
      () => undefined, // it was never there; whoever asked for it was told
    );
  }
}

/** Whether a user who is in no group can come to where `path` lies by its own path. */
function isReachable(path: string, userId: number): boolean {
  const above = path
    .split("/")
    .slice(1, -1)
    .map((_, index, all) => `/${all.slice(0, index + 1).join("/")}`);
  return above.every((directory) => {
    const { mode, uid, gid } = statSync(directory);
    return (mode & (uid === userId ? 0o100 : gid === userId ? 0o010 : 0o001)) !== 0;
  });
}

/** The mounts with sources where that user can reach them. */
export function seenBy(
  { elsewhere }: Pick<Identity, "elsewhere">,
  mounts: readonly SandboxMount[],
): readonly SandboxMount[] {
  if (elsewhere === undefined || elsewhere.size === 0) return mounts;
  return mounts.map((mount) =>
    "source" in mount ? { ...mount, source: elsewhere.get(mount.source) ?? mount.source } : mount,
  );
}

/** Nobody else's files are shown as those of the sandbox's user. */
function requireOwner(path: string, ownerId: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw gone(path);
  if (found.uid === ownerId) return;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `\`${path}\` belongs to another user than the directory that it is shown beside; the command did not run`,
    "run the kernel as the user who owns both",
  );
}

function gone(root: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `the workspace \`${root}\` is not there; the command did not run`,
    "make it again, or start a session elsewhere",
  );
}
