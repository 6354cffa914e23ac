/**
 * Lists the changes that a command made in its view.
 *
 * They are read from the upper directory of an overlay when nothing writes there any more.
 *
 * INVARIANT: what cannot be named in a workspace (names that are not UTF-8, paths longer than the machine takes) is
 * listed as such and never landed.
 */
import { chmodSync, constants, lstatSync, type Stats } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { isPathTooLong } from "../../names/path-size.ts";
import { entriesIn, type RawEntry } from "../host/directory-pieces.ts";
import { overlayAttribute } from "../native/layer-calls.ts";
import { SANDBOX_ENTRIES_PER_STEP } from "../plan/workspace-mounts.ts";

/** Files, directories and links that one command may change: more could not be looked at before the next one. */
const SANDBOX_CHANGES_MAX = 500_000;

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
}

/** The upper directory of a view. */
export interface Upper {
  /** A path of it that stays short, such as one of a descriptor. */
  readonly upper: string;
  /** Bytes of the longest path that can be landed. */
  readonly pathBytesMax: number;
}

/** Rights that whoever looks into a directory needs; the command may have closed its own. */
const OPEN = constants.S_IRWXU;
const SET_IDS = 0o6000;
const STICKY = 0o1000;

/**
 * Lists the changes, directories before what lies in them, in no other order.
 * @throws ToolFailure OUTPUT_LIMIT when there are too many
 */
export function* changesIn(view: Upper): Generator<void, readonly Change[]> {
  const changes: Change[] = [];
  const open = [""];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    const found = openedEntries(`${view.upper}/${directory}`, SANDBOX_CHANGES_MAX - changes.length);
    for (const [index, { name }] of (yield* found).entries()) {
      if (index % SANDBOX_ENTRIES_PER_STEP === SANDBOX_ENTRIES_PER_STEP - 1) yield;
      const change = changeOf(view, `${directory}${name.toString()}`, name);
      changes.push(change);
      if (changes.length > SANDBOX_CHANGES_MAX) throw tooMany();
      if (change.kind === "directory") open.push(`${change.path}/`);
    }
    yield;
  }
  return changes;
}

function* openedEntries(directory: string, entriesMax: number): Generator<void, readonly RawEntry[]> {
  const { mode } = lstatSync(directory);
  if ((mode & OPEN) !== OPEN) chmodSync(directory, (mode & 0o7777) | OPEN);
  return yield* entriesIn(directory, entriesMax);
}

function changeOf({ upper, pathBytesMax }: Upper, path: string, name: Buffer): Change {
  const isNameable =
    Buffer.from(name.toString()).equals(name) && !isPathTooLong(path) && Buffer.byteLength(path) <= pathBytesMax;
  if (!isNameable) return { path, kind: "unnameable", isReplaced: false, isCopy: false };
  const at = `${upper}/${path}`;
  const found = lstatSync(at);
  const kind = kindOf(found);
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

function kindOf(found: Stats): ChangeKind {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  if (found.isSymbolicLink()) return "link";
  return found.isCharacterDevice() && found.rdev === 0 ? "gone" : "special";
}

function tooMany(): ToolFailure {
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `the command changed more than ${SANDBOX_CHANGES_MAX} files; nothing of it was kept`,
    "let it write less, or below /tmp, which is the command's own",
  );
}
