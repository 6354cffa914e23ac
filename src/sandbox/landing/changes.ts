/**
 * Lists the changes that a command made in its view.
 *
 * They are read from the upper directory of an overlay, or from what a copy held that is new, when nothing writes there
 * any more.
 *
 * INVARIANT: what cannot be named in a workspace (names that are not UTF-8, paths longer than the machine takes) is
 * listed as such and never landed.
 */
import { chmodSync, constants, lstatSync, type Stats } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { isPathTooLong } from "../../names/path-size.ts";
import { entriesIn, type RawEntry } from "../host/directory-pieces.ts";
import { OVERLAY_ATTRIBUTES, overlayAttribute, removeOverlayAttribute } from "../native/layer-calls.ts";
import { SANDBOX_ENTRIES_PER_STEP } from "../plan/workspace-mounts.ts";

/** Files, directories and links that one command may change: more could not be looked at before the next one. */
export const SANDBOX_CHANGES_MAX = 500_000;

/** What stands in the view under a path: a removal is `gone`, a FIFO, socket or device `special`. */
export type ChangeKind = "file" | "directory" | "link" | "gone" | "special" | "unnameable";

/** One path that the command made, wrote, or removed. */
export interface Change {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: ChangeKind;
  /** Of a directory: it took the place of what stood there, with all that lay in it. */
  readonly isReplaced: boolean;
  /** It was made from what stood there. */
  readonly isCopy: boolean;
  /** Of a file or link. */
  readonly bytes?: number;
  readonly mode?: number;
  /** How many names of the view it has. */
  readonly names?: number;
  /** A file or directory with rights that give away its owner or group, which nothing has that lands. */
  readonly isSetId?: boolean;
  /** The kernel put it there, so that the command sees what others did: no change of the command's. */
  readonly isPassedOn?: true;
}

/** A directory with what a command wrote. */
export interface Upper {
  /** A path of it that stays short, such as one of a descriptor. */
  readonly upper: string;
  /** Bytes of the longest path that can be landed. */
  readonly pathBytesMax: number;
  /** No overlay made it, so that the command itself could have made whatever overlays mark with. */
  readonly isCopied?: boolean;
}

/** Rights that whoever looks into a directory needs; the command may have closed its own. */
const OPEN = constants.S_IRWXU;
const READ_WRITE = 0o600;
const SET_IDS = 0o6000;
const STICKY = 0o1000;

/**
 * Lists the changes, directories before what lies in them, in no other order.
 * @param below a directory of it, and only what lies in it; all when absent
 * @param before changes that are listed already
 * @throws ToolFailure OUTPUT_LIMIT when there are too many
 */
export function* changesIn(view: Upper, below = "", before: Change[] = []): Generator<void, readonly Change[]> {
  const changes = before;
  const open = [below === "" ? "" : `${below}/`];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    const found = openedEntries(`${view.upper}/${directory}`, SANDBOX_CHANGES_MAX - changes.length);
    for (const [index, { name }] of (yield* found).entries()) {
      if (index % SANDBOX_ENTRIES_PER_STEP === SANDBOX_ENTRIES_PER_STEP - 1) yield;
      const change = changeOf(view, `${directory}${name.toString()}`, name);
      addChange(changes, change);
      if (change.kind === "directory") open.push(`${change.path}/`);
    }
    yield;
  }
  return changes;
}

/** Adds a change. @throws ToolFailure OUTPUT_LIMIT when it is one too many */
export function addChange(changes: Change[], change: Change): void {
  changes.push(change);
  if (changes.length > SANDBOX_CHANGES_MAX) throw tooMany();
}

/** What lies in a directory of a view, which is opened to its owner for that. */
export function* openedEntries(directory: string, entriesMax: number): Generator<void, readonly RawEntry[]> {
  const { mode } = lstatSync(directory);
  if ((mode & OPEN) !== OPEN) chmodSync(directory, (mode & 0o7777) | OPEN);
  return yield* entriesIn(directory, entriesMax);
}

/** Whether what has that path can be named in a workspace. @param name its last part */
export function isNameable(path: string, name: Buffer, pathBytesMax: number): boolean {
  return Buffer.from(name.toString()).equals(name) && !isPathTooLong(path) && Buffer.byteLength(path) <= pathBytesMax;
}

/** The change that stands at `path`. @param name its last part */
export function changeOf({ upper, pathBytesMax, isCopied = false }: Upper, path: string, name: Buffer): Change {
  if (!isNameable(path, name, pathBytesMax)) return { path, kind: "unnameable", isReplaced: false, isCopy: false };
  const at = `${upper}/${path}`;
  const found = lstatSync(at);
  const kind = kindOf(found, isCopied);
  if (isCopied && (kind === "directory" || kind === "file")) unmark(at, found.mode);
  return {
    path,
    kind,
    bytes: found.size,
    mode: found.mode,
    names: found.nlink,
    ...((found.mode & (kind === "file" ? SET_IDS | STICKY : SET_IDS)) !== 0 && { isSetId: true }),
    isReplaced: kind === "directory" && overlayAttribute(at, "opaque") === "y",
    isCopy: (kind === "directory" || kind === "file") && overlayAttribute(at, "origin") !== undefined,
  };
}

/** Takes away what an overlay would take for its own, should the workspace ever lie in one. */
function unmark(at: string, mode: number): void {
  const isClosed = (mode & READ_WRITE) !== READ_WRITE; // nobody sees or changes attributes then
  if (isClosed) chmodSync(at, (mode & 0o7777) | READ_WRITE);
  for (const attribute of OVERLAY_ATTRIBUTES) removeOverlayAttribute(at, attribute);
  if (isClosed) chmodSync(at, mode & 0o7777);
}

function kindOf(found: Stats, isCopied: boolean): ChangeKind {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  if (found.isSymbolicLink()) return "link";
  return !isCopied && found.isCharacterDevice() && found.rdev === 0 ? "gone" : "special";
}

function tooMany(): ToolFailure {
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `the command changed more than ${SANDBOX_CHANGES_MAX} files; nothing of it was kept`,
    "let it write less, or below /tmp, which is the command's own",
  );
}
