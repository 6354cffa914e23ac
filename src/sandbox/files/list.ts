/**
 * Listing a directory: names in order, from directory handle to directory handle.
 *
 * Decides: what a listing shows. Hidden places (secret zones, other scopes, what policy closes) and files in the making
 * are left out; managed directories are named and not entered; symbolic links are named and not followed; other mounts
 * are not entered. INVARIANTS: each directory is opened from its parent's handle without following links; the order is
 * by code point, each directory followed by what is in it; memory is bounded by the number of entries asked for, not by
 * the directory.
 */
import { closeSync, constants, opendirSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { textOf } from "../../base/bytes.ts";
import { LIST_DEPTH_MAX, LIST_ENTRIES_MAX } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { ListEntry, Listing, ListOptions } from "../../model/place/files.ts";
import { errno, errorName, openBeneath, type Standing, standingAt } from "../native/syscalls.ts";
import { failureOf, quoted, throwIfCancelled, translated } from "./places/failures.ts";
import { type FileScope, findExisting, kindOf } from "./places/open.ts";
import { isTemporaryName } from "./places/temporary.ts";

/** Directory entries looked at for one listing, shown or not. */
const LIST_ENTRIES_SCANNED_MAX = 1_000_000;

const { S_IFREG, S_IFDIR, S_IFLNK } = constants;
const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Entries after which other calls get their turn. */
const ENTRIES_PER_TURN = 256;
/** Names looked at after which other calls get their turn: for each, policy may have to be asked. */
const NAMES_PER_TURN = 256;
/** Names of one directory from which those that are wanted are chosen. */
const LIST_FILTERED_NAMES_MAX = 100_000;
/** Names that one system call brings. */
const NAMES_PER_CALL = 512;

/** Which places a listing may show. */
export type Visible = (target: WorkspacePath) => boolean;

/** What listing needs of the call. */
export interface ListScope extends FileScope {
  readonly visible: Visible;
  readonly signal: AbortSignal;
}

interface Walk {
  readonly scope: ListScope;
  readonly depthMax: number;
  readonly entriesMax: number;
  readonly entries: ListEntry[];
  readonly shows: ((entry: ListEntry) => boolean) | undefined;
  /** The entry behind which the listing goes on, until it was met. */
  after: string | undefined;
  scanned: number;
  truncated: boolean;
}

/** Lists the directory that `path` names; `depthMax: 1` shows its own entries alone. */
export async function listContained(scope: ListScope, path: string, options: ListOptions): Promise<Listing> {
  throwIfCancelled(scope.signal);
  const walk: Walk = {
    scope,
    depthMax: Math.min(options.depthMax, LIST_DEPTH_MAX),
    entriesMax: Math.min(options.entriesMax, LIST_ENTRIES_MAX),
    entries: [],
    shows: options.shows,
    after: options.after,
    scanned: 0,
    truncated: false,
  };
  const found = findExisting(scope, path, ["read"]);
  try {
    if (!found.stats.isDirectory()) {
      throw new ToolFailure(
        "NOT_A_DIRECTORY",
        `${quoted(path)} is a ${kindOf(found.stats)}, not a directory`,
        "name a directory, or use read_file for a file",
      );
    }
    const descriptor = openBeneath(found.descriptor, ".", DIRECTORY_FLAGS, "plain");
    if (descriptor < 0) throw failureOf(errorName(descriptor), path);
    await listDirectory(walk, { descriptor, place: found.place, prefix: "", depth: 1 });
    if (walk.after !== undefined && !walk.truncated) {
      const message = `${quoted(walk.after)}, after which the listing was to go on, is not listed (any more)`;
      throw new ToolFailure("FILE_NOT_FOUND", message, "list again without `after`");
    }
    return { entries: walk.entries, truncated: walk.truncated };
  } catch (error) {
    throw translated(error, path);
  } finally {
    closeSync(found.descriptor);
  }
}

/** An open directory on the way. */
interface OpenDirectory {
  readonly descriptor: number;
  readonly place: WorkspacePath;
  /** What stands before its names in the listing: empty, or a path that ends in `/`. */
  readonly prefix: string;
  /** 1 for the directory that the call names. */
  readonly depth: number;
}

/** Appends the entries of one directory and of those in it; closes it. */
async function listDirectory(walk: Walk, directory: OpenDirectory): Promise<void> {
  try {
    for (const name of await namesOf(walk, directory)) {
      if (walk.entries.length >= walk.entriesMax) {
        walk.truncated = true;
        return;
      }
      if (walk.entries.length % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await nextTurn();
      throwIfCancelled(walk.scope.signal);
      const found = standing(directory.descriptor, name);
      if (found === undefined) continue; // gone since its name was read
      note(walk, entryOf(name, directory.prefix, found));
      if (found.kind !== S_IFDIR || name.escaped || walk.scope.workspace.zones.classify(name.place) === "managed")
        continue;
      await enter(walk, directory, name);
    }
  } finally {
    closeSync(directory.descriptor);
  }
}

/** Shows an entry that is wanted. */
function note(walk: Walk, entry: ListEntry): void {
  if (walk.after !== undefined) {
    if (entry.path === walk.after) walk.after = undefined;
  } else if (walk.shows === undefined || walk.shows(entry)) walk.entries.push(entry);
}

async function enter(walk: Walk, { descriptor, prefix, depth }: OpenDirectory, name: Name): Promise<void> {
  if (depth >= walk.depthMax) {
    if (depth >= LIST_DEPTH_MAX) walk.truncated = true; // cut by the kernel's own limit, not by what was asked for
    return;
  }
  const inner = openBeneath(descriptor, name.text, DIRECTORY_FLAGS, "plain");
  // Named but not entered: another mount, a directory that is closed to us, or one that was replaced or removed
  // meanwhile.
  if ([-errno.EXDEV, -errno.EACCES, -errno.ENOENT, -errno.ENOTDIR, -errno.ELOOP].includes(inner)) return;
  if (inner < 0) throw failureOf(errorName(inner), name.place.path);
  await listDirectory(walk, {
    descriptor: inner,
    place: name.place,
    prefix: `${prefix}${name.text}/`,
    depth: depth + 1,
  });
}

interface Name {
  /** The bytes of the name, one character each. */
  readonly raw: string;
  /** The name as text; bytes that are not UTF-8 as `\xNN`. */
  readonly text: string;
  readonly escaped: boolean;
  readonly place: WorkspacePath;
}

/**
 * The visible names of a directory in order: as many as can still be shown, and one more to know that there are more.
 */
async function namesOf(walk: Walk, { descriptor, place }: OpenDirectory): Promise<readonly Name[]> {
  const isFiltered = walk.shows !== undefined || walk.after !== undefined;
  const wanted = isFiltered ? LIST_FILTERED_NAMES_MAX : walk.entriesMax - walk.entries.length + 1;
  let names: Name[] = [];
  // Latin-1 keeps every byte as it is, and orders like the bytes, which for UTF-8 is the order of code points.
  const handle = opendirSync(`/proc/self/fd/${descriptor}`, { encoding: "latin1", bufferSize: NAMES_PER_CALL });
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      walk.scanned += 1;
      if (walk.scanned > LIST_ENTRIES_SCANNED_MAX) {
        walk.truncated = true;
        break;
      }
      if (walk.scanned % NAMES_PER_TURN === 0) await nextTurn();
      throwIfCancelled(walk.scope.signal);
      const name = nameOf(entry.name, place);
      if (isTemporaryName(name.text) || !walk.scope.visible(name.place)) continue;
      names.push(name);
      if (names.length >= 2 * wanted + ENTRIES_PER_TURN) names = inOrder(names).slice(0, wanted);
    }
  } finally {
    handle.closeSync();
  }
  if (isFiltered && names.length > wanted) walk.truncated = true;
  return inOrder(names).slice(0, wanted);
}

function inOrder(names: Name[]): Name[] {
  return names.sort((left, right) => (left.raw < right.raw ? -1 : 1));
}

function nameOf(raw: string, directory: WorkspacePath): Name {
  const bytes = Buffer.from(raw, "latin1");
  const valid = textOf(bytes);
  const text = valid ?? escapeBytes(raw);
  const path = directory.path === "." ? text : `${directory.path}/${text}`;
  return { raw, text, escaped: valid === undefined, place: { root: directory.root, path } };
}

function escapeBytes(raw: string): string {
  return raw.replace(/[^\x20-\x7e]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** What has the name now; `undefined` when nothing has. */
function standing(directory: number, name: Name): Standing | undefined {
  const found = standingAt(directory, Buffer.from(`${name.raw}\0`, "latin1"));
  if (typeof found !== "number") return found;
  if (found === -errno.ENOENT || found === -errno.ENOTDIR) return undefined;
  throw failureOf(errorName(found), name.place.path);
}

function entryOf(name: Name, prefix: string, { kind, sizeBytes }: Standing): ListEntry {
  const path = prefix + name.text;
  const odd = name.escaped ? { escaped: true as const } : {};
  if (kind === S_IFREG) return { path, kind: "file", sizeBytes, ...odd };
  if (kind === S_IFDIR) return { path, kind: "directory", ...odd };
  return { path, kind: kind === S_IFLNK ? "symlink" : "other", ...odd };
}
