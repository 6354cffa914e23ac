/**
 * Directories of copy-on-write views: what commands write goes there, never into the workspace itself.
 *
 * Each is named after the kernel that made it, so that whoever comes after a killed one removes what that one left.
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

/** Names of views, by which a kernel knows its own, and those of dead kernels of the same state directory. */
export interface ViewNames {
  readonly next: () => string;
  /** The kernel instance that gave a name; `undefined` when none of this state directory did. */
  readonly instanceOf: (name: string) => string | undefined;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
}

/** Names of somebody who leaves the views of others alone, and whose own are left alone. */
export const UNKNOWN_NAMES: ViewNames = {
  next: () => `view-${randomBytes(16).toString("hex")}`,
  instanceOf: () => undefined,
  isAlive: async () => true,
};

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
  readonly #names: ViewNames;
  readonly #kinds: "auto" | "overlay" | "copy";
  #base: string | undefined;

  /**
   * @param wanted where they are to lie, absolute; the machine's directory of temporary files when absent
   * @param kinds what views are: a copy can lie on an overlay as well
   */
  constructor(wanted: string | undefined, names = UNKNOWN_NAMES, kinds: "auto" | "overlay" | "copy" = "overlay") {
    this.#wanted = wanted;
    this.#names = names;
    this.#kinds = kinds;
  }

  /** Where all of them lie. @throws ToolFailure SANDBOX_UNAVAILABLE when there is no place for them */
  base(): string {
    this.#base ??= this.#open();
    return this.#base;
  }

  /** Makes one. @throws the machine's own error where there is no room, and nothing is left */
  make(owner: ViewOwner | undefined): ViewDirectory {
    const name = this.#names.next();
    const path = join(this.base(), name);
    try {
      for (const directory of [path, ...PARTS.map((part) => join(path, part))]) {
        mkdirSync(directory, { mode: 0o700 });
        if (owner !== undefined) chownSync(directory, owner.userId, owner.groupId);
      }
    } catch (error) {
      this.#remove(path);
      throw error;
    }
    return { name, path, dispose: () => this.#remove(path) };
  }

  /** Resolves when nothing is being removed any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals);
  }

  #remove(path: string): void {
    this.#afterwards(removeTree(path));
  }

  /** Removes what dead kernels left, but for what they were landing, which is taken back first. */
  async #sweep(place: string): Promise<void> {
    for (const { path, isLanding } of await leftViews(place, this.#names)) if (!isLanding) await removeTree(path);
  }

  #afterwards(work: Promise<void>): void {
    const removal: Promise<void> = work
      .catch(() => undefined) // what cannot be removed now lies where nobody looks; the next kernel tries again
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  #open(): string {
    const places = viewPlaces(this.#wanted);
    const own = process.geteuid?.() ?? 0;
    const [first, second] = PLACE_KINDS[this.#kinds];
    const find = (kind: "overlay" | "copy") => places.find((one) => isUsable(one, own, kind));
    const place = find(first) ?? (second && find(second));
    if (place === undefined) throw noPlace(places);
    this.#afterwards(this.#sweep(place));
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

/** What dead kernels have left in `place`, and whether they were landing it. */
export async function leftViews(
  place: string,
  { instanceOf, isAlive }: ViewNames,
): Promise<readonly { readonly path: string; readonly isLanding: boolean }[]> {
  const left = [];
  for (const name of readdirSync(place)) {
    const instanceId = instanceOf(name);
    if (instanceId === undefined || (await isAlive(instanceId))) continue;
    const path = join(place, name);
    left.push({ path, isLanding: existsSync(join(path, LANDING_JOURNAL)) });
  }
  return left;
}

/** Takes what a dead kernel left. @returns its new path; `undefined` where another kernel took it */
export function claimView(path: string, { next }: ViewNames): string | undefined {
  const own = join(dirname(path), next());
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

/** What places are looked for, in this order. */
const PLACE_KINDS = { auto: ["overlay", "copy"], overlay: ["overlay"], copy: ["copy"] } as const;

/** Whether `place` is, or becomes, a directory of this user's own on a file system in which such a view can lie. */
function isUsable(place: string, own: number, kind: "overlay" | "copy"): boolean {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(place);
    if (uid !== own || (mode & constants.S_IFMT) !== constants.S_IFDIR) return false;
    if (kind === "overlay" && statfsSync(place).type === OVERLAY) return false;
    chmodSync(place, own === 0 ? 0o711 : 0o700); // the user of root's commands passes through
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false; // the next place is tried; that none was left is said
    throw error;
  }
}

function noPlace(places: readonly string[]): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `there is no place for what commands write (looked at ${places.map((place) => `\`${place}\``).join(", ")}); the command did not run`,
    "ask the operator for a state directory on a file system that is no overlay, for instance a volume of the container",
  );
}
