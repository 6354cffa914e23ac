/**
 * Makes ready what lands.
 *
 * Each file, link or new directory waits on the workspace's file system, with the rights, owner and times that it will
 * have. Where the view lies on the same mount, what the command wrote waits where it is. Else it is copied to a
 * directory at the top of the workspace that nobody lists, searches or is shown.
 */
import {
  chmodSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import { GIB } from "../../base/bytes.ts";
import { copyBytes } from "../files/copy-content.ts";
import { accessList, removeOverlayAttribute, setAccessList, setTimes } from "../native/layer-calls.ts";
import { makeLink } from "../native/syscalls.ts";
import type { Change } from "./changes.ts";
import { MachineRefusal } from "./machine/failures.ts";
import { type DueOwner, giveToDue } from "./machine/owners.ts";
import type { Aside, Ground } from "./moves.ts";
import { pathIn } from "./standing.ts";
import type { Step } from "./steps.ts";

const RIGHTS = 0o777;
/** Those of a directory, and that only owners remove from it. */
const DIRECTORY_RIGHTS = 0o1777;
const SET_GROUP = 0o2000;
const SET_IDS = 0o6000;
const STICKY = 0o1000;
const WRITE = 0o200;
const GROUP = 0o070;
/** Bytes that stand in the count of a file's blocks. */
const BLOCK_BYTES = 512;
/** Bytes that one landing copies from another file system: a minute's work of the kernel's thread on a slow disk. */
const COPIED_BYTES_MAX = 4 * GIB;
/** What the owner of a directory keeps: one that is closed to its owner is closed to whoever looks after it. */
const OWNER = 0o700;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** What is known of where something will stand. */
export interface Beside {
  /** The group that everything there has, where the directory says so. */
  readonly group: number | undefined;
  /** Whose a file or link has to be there, where the view does not say it. */
  readonly due: DueOwner | undefined;
  /** A path of the file whose place is taken. */
  readonly over: string | undefined;
}

interface Copied extends Pick<Beside, "over" | "due"> {
  readonly path: string;
}

/** What cannot be made ready, by the machine's word for it. */
export class CannotStage extends Error {}
/** It would belong to another user or group than it has to. */
export class CannotKeepOwner extends CannotStage {}

/** How changes are made ready. */
export interface StagingTerms {
  /** Whether the view lies on another file system, or another mount, than the workspace. */
  readonly isElsewhere: boolean;
  /** Of the names that are used; for whoever does it once more. */
  readonly prefix?: string;
  readonly signal: AbortSignal | undefined;
}

/** Makes ready the changes of one landing. */
export class Staging {
  readonly #ground: Ground;
  readonly #isElsewhere: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #prefix: string;
  #made = 0;
  #copiedBytes = 0;

  constructor(ground: Ground, { isElsewhere, prefix = "", signal }: StagingTerms) {
    this.#ground = ground;
    this.#isElsewhere = isElsewhere;
    this.#prefix = prefix;
    this.#signal = signal;
  }

  /** A place for something that is taken from the workspace. */
  next(): Aside {
    this.#made += 1;
    return { in: "side", path: `${this.#prefix}${this.#made}` };
  }

  /**
   * Makes ready what `step` puts.
   * @returns where it waits
   * @throws CannotStage, or the machine's own error
   */
  *ready(step: Step, beside: Beside): Generator<void, Aside> {
    const { kind, path, tree } = step;
    const change: Change = { path, kind: KINDS[kind] ?? "file", isReplaced: true, isCopy: true, isSetId: true };
    const isShared = kind === "put_file" && lstatSync(`${this.#upper}/${path}`).nlink > 1;
    if (!this.#isElsewhere && tree?.isClean !== false && !isShared) {
      this.#clean(change, { ...beside, group: tree === undefined ? undefined : beside.group });
      for (const one of tree?.kept ?? []) {
        if (one.isCopy || one.isReplaced || one.isSetId === true || beside.group !== undefined)
          this.#clean(one, { ...beside, over: undefined });
        yield;
      }
      return { in: "upper", path };
    }
    const to = this.next();
    yield* this.#make(change, to.path, beside);
    const directories = [change];
    for (const one of tree?.kept ?? []) {
      yield* this.#make(one, to.path + one.path.slice(path.length), { ...beside, over: undefined });
      if (one.kind === "directory") directories.push(one);
    }
    // what is done in a directory changes its times
    if (tree !== undefined)
      for (const one of directories.reverse()) {
        setTimes(this.#ground.side, to.path + one.path.slice(path.length), this.#times(one.path));
        yield;
      }
    return to;
  }

  get #upper(): string {
    return `/proc/self/fd/${this.#ground.upper}`;
  }

  /** Takes away what only views know of, and rights that nothing has which lands. */
  #clean({ path, kind, isSetId }: Change, { group, over, due }: Beside): void {
    const at = `${this.#upper}/${path}`;
    if (kind !== "directory") give(at, due);
    if (kind === "link") return;
    const { mode } = lstatSync(at);
    if (kind === "directory") {
      for (const name of ["origin", "opaque"] as const) removeOverlayAttribute(at, name);
      if ((mode & SET_IDS) !== 0) chmodSync(at, mode & DIRECTORY_RIGHTS);
      if (group !== undefined) this.#adopt(at, group);
      return;
    }
    if (isSetId === true && (mode & (SET_IDS | STICKY)) !== 0) chmodSync(at, mode & RIGHTS);
    if ((mode & WRITE) === 0) chmodSync(at, WRITE); // else the attribute stays
    removeOverlayAttribute(at, "origin");
    const isLost = over !== undefined && accessList(over) !== undefined && accessList(at) === undefined;
    // the group's rights bound all whom the list named: without it they would be the group's own
    if (isLost) chmodSync(at, mode & RIGHTS & ~GROUP);
    else if ((mode & WRITE) === 0) chmodSync(at, mode & RIGHTS);
  }

  /** In a directory whose group is everything's, a new one has that group, too, and says so. */
  #adopt(directory: string, group: number): void {
    const { mode, uid } = lstatSync(directory);
    give(directory, { userId: uid, groupId: group });
    chmodSync(directory, (mode & DIRECTORY_RIGHTS) | SET_GROUP);
  }

  *#make({ path, kind }: Change, to: string, { group, over, due }: Beside): Generator<void> {
    const found = lstatSync(`${this.#upper}/${path}`);
    const at = pathIn(this.#ground.side, to);
    if (kind === "directory") {
      mkdirSync(at, OWNER);
      giveTo(found, at);
      chmodSync(at, (found.mode & DIRECTORY_RIGHTS) | OWNER);
      if (group !== undefined) this.#adopt(at, group);
      return;
    }
    if (kind === "link") {
      const points = readlinkSync(`${this.#upper}/${path}`, { encoding: "buffer" });
      const made = makeLink(this.#ground.side, to, points, found);
      if (made < 0) throw new MachineRefusal("a link could not be made", made);
      give(at, due);
      setTimes(this.#ground.side, to, this.#times(path));
      return;
    }
    yield* this.#copy({ path, over, due }, to, found);
  }

  *#copy({ path, over, due }: Copied, to: string, found: Stats): Generator<void> {
    const times = this.#times(path);
    this.#copiedBytes += found.blocks * BLOCK_BYTES;
    if (this.#copiedBytes > COPIED_BYTES_MAX) throw new CannotStage("too many bytes");
    const from = `${this.#upper}/${path}`;
    chmodSync(from, OWNER); // the command may have closed it to its owner
    const source = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const at = pathIn(this.#ground.side, to);
      const made = openSync(at, NEW_FILE, OWNER);
      try {
        yield* this.#copyBytes(source, made);
        giveTo(found, at);
        give(at, due);
        const list = accessList(from);
        const isLost =
          list === undefined
            ? over !== undefined && accessList(over) !== undefined
            : !setAccessList(`/proc/self/fd/${made}`, list);
        // without the list the group's rights, which bound all whom it names, would be the group's own
        chmodSync(at, found.mode & (isLost ? RIGHTS & ~GROUP : RIGHTS));
      } finally {
        closeSync(made);
      }
      setTimes(this.#ground.side, to, times);
    } finally {
      closeSync(source);
      chmodSync(from, found.mode & RIGHTS); // another name of it is copied by the same rights
    }
  }

  *#copyBytes(source: number, made: number): Generator<void> {
    const steps = copyBytes(source, made);
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      yield;
      if (this.#signal?.aborted === true) throw new CannotStage("it was cancelled");
    }
  }

  #times(path: string) {
    return lstatSync(`${this.#upper}/${path}`, { bigint: true });
  }
}

const KINDS: Readonly<Partial<Record<Step["kind"], Change["kind"]>>> = {
  put_tree: "directory",
  put_link: "link",
};

/** What a kernel of root makes belongs to whom the view says. */
function giveTo({ uid, gid }: Stats, path: string): void {
  if (process.geteuid?.() === 0) lchownSync(path, uid, gid);
}

/** @throws CannotKeepOwner where it would belong to somebody else */
function give(path: string, due: DueOwner | undefined): void {
  if (!giveToDue(path, due)) throw new CannotKeepOwner();
}
