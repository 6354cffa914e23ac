/**
 * Directories of copy-on-write views: what commands write goes there, never into the workspace itself.
 *
 * Each is named after the process that made it, so that whoever comes after a killed kernel removes what that one left.
 * INVARIANT: nobody but the kernel's own user, and the user of its commands, comes to what lies in one.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { groupPrefix, isGone, processNamespace } from "../control-groups/left-groups.ts";
import { removeTree } from "../files/remove-tree.ts";

/**
 * The parts of a view's directory: what lies below, what the command wrote, the file system's own, all of it merged,
 * and what a landing puts aside.
 */
const PARTS = ["lower", "upper", "work", "merged", "side"] as const;

/** The file system's number of overlays, which take no upper directory of another overlay. */
const OVERLAY = 0x794c7630;

/** Whose the directories are: the user of the commands, as the disk names it. */
export interface ViewOwner {
  readonly userId: number;
  readonly groupId: number;
}

/** The directory of one view. */
export interface ViewDirectory {
  /** Below the directory of all views. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Removes it, in the background. */
  readonly dispose: () => void;
}

/** The directories of one kernel's views. */
export class ViewDirectories {
  readonly #wanted: string | undefined;
  readonly #removals = new Set<Promise<void>>();
  #base: string | undefined;
  #made = 0;

  /** @param wanted where they are to lie, absolute; the machine's directory of temporary files when absent */
  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  /** Where all of them lie. @throws ToolFailure SANDBOX_UNAVAILABLE when there is no place for them */
  base(): string {
    this.#base ??= this.#open();
    return this.#base;
  }

  /** Makes one. */
  make(owner: ViewOwner | undefined): ViewDirectory {
    const base = this.base();
    this.#made += 1;
    const name = `${groupPrefix(processNamespace(), process.pid)}-${this.#made}-${randomBytes(8).toString("hex")}`;
    const path = join(base, name);
    for (const directory of [path, ...PARTS.map((part) => join(path, part))]) {
      mkdirSync(directory, { mode: 0o700 });
      if (owner !== undefined) chownSync(directory, owner.userId, owner.groupId);
    }
    return { name, path, dispose: () => this.#remove(path) };
  }

  /** Resolves when nothing is being removed any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals);
  }

  #remove(path: string): void {
    const removal: Promise<void> = removeTree(path)
      .catch(() => undefined) // what cannot be removed now lies where nobody looks; the next kernel tries again
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  #open(): string {
    const places = viewPlaces(this.#wanted);
    const place = places.find((one) => isUsable(one, process.geteuid?.() ?? 0));
    if (place === undefined) throw noPlace(places);
    for (const { path, isLanding } of leftViews(place)) if (!isLanding) this.#remove(path);
    return place;
  }
}

/** Where the directories of views may lie, the first that is usable. @param wanted as `ViewDirectories` takes it */
export function viewPlaces(wanted: string | undefined): readonly string[] {
  const name = `handrail-views-${process.geteuid?.() ?? 0}`;
  return [wanted ?? [], join(realpathSync(tmpdir()), name), join(MEMORY, name)].flat();
}

/** The file by which what a killed kernel had begun to land is taken back. */
export const LANDING_JOURNAL = "landing.json";

/** What killed kernels of this machine have left in `place`, and whether they were landing it. */
export function leftViews(place: string): readonly { readonly path: string; readonly isLanding: boolean }[] {
  return readdirSync(place).flatMap((name) => {
    const path = join(place, name);
    return isLeft(name) ? [{ path, isLanding: existsSync(join(path, LANDING_JOURNAL)) }] : [];
  });
}

/** Takes what a killed kernel left. @returns its new path; `undefined` where another kernel took it */
export function claimView(path: string): string | undefined {
  const own = join(
    dirname(path),
    `${groupPrefix(processNamespace(), process.pid)}-0-${randomBytes(8).toString("hex")}`,
  );
  try {
    renameSync(path, own);
    return own;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * A file system in memory, which every machine has: the last resort where all disks are overlays, as in a container
 * without a volume.
 */
const MEMORY = "/dev/shm";

/** Whether `place` is, or becomes, a directory of this user's own on a file system in which an overlay can write. */
function isUsable(place: string, own: number): boolean {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(place);
    if (uid !== own || (mode & constants.S_IFMT) !== constants.S_IFDIR || statfsSync(place).type === OVERLAY)
      return false;
    chmodSync(place, own === 0 ? 0o711 : 0o700); // the user of root's commands passes through
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false; // the next place is tried; that none was left is said
    throw error;
  }
}

/** Whether a directory was made by a process of this machine that is gone. */
function isLeft(name: string): boolean {
  const [, own, id] = NAME.exec(name) ?? [];
  return own === `handrail-${processNamespace()}` && isGone(Number(id));
}

const NAME = /^(handrail-\d+)-(\d+)-\d+-[0-9a-f]+$/;

function noPlace(places: readonly string[]): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `there is no place for what commands write (looked at ${places.map((place) => `\`${place}\``).join(", ")}); the command did not run`,
    "ask the operator for a state directory on a file system that is no overlay, for instance a volume of the container",
  );
}
