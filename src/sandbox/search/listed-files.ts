/**
 * Lists the files that a search below a directory would look into, with their sizes.
 *
 * It walks as searches do, so that what the call may not read is not named. INVARIANTS: no file is opened for reading;
 * time and number are bounded, and the answer says where it was cut.
 */
import { constants, fstatSync } from "node:fs";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { CodeFile, CodeListing } from "../../model/place/code.ts";
import { notAFile, throwIfCancelled, translated } from "../files/places/failures.ts";
import { findExisting, kindOf } from "../files/places/open.ts";
import { namedPath } from "../files/places/roots.ts";
import { closeDescriptor, O_PATH, openBeneath } from "../native/syscalls.ts";
import { openStart, type SearchScope, startsOf } from "./search.ts";
import { exclusionsOf } from "./tree/exclusions.ts";
import { ignoreRulesAbove } from "./tree/ignore-rules-above.ts";
import { type Candidate, SharedDirectory, type WalkReport, walkTree } from "./tree/walk.ts";

/** Milliseconds that a listing may take; what was not looked at by then is left out. */
const LISTING_MS_MAX = 10_000;

/** What a listing needs of the call. */
export type ListingScope = Omit<SearchScope, "threads" | "hidden">;

/** The files below `path`, which was judged; or the one that it is. */
export async function listedFiles(scope: ListingScope, path: string, filesMax: number): Promise<CodeListing> {
  throwIfCancelled(scope.signal);
  const found = findExisting(scope, path, ["read"]);
  const start = new SharedDirectory(found.descriptor);
  try {
    if (found.stats.isFile()) {
      const file = { path: namedPath(scope.roots, found.place), sizeBytes: found.stats.size };
      return { files: [file], truncated: false, unreadable: 0 };
    }
    if (!found.stats.isDirectory()) throw notAFile(path, kindOf(found.stats));
    return await listTree(scope, found, { path, filesMax });
  } catch (error) {
    throw translated(error, path);
  } finally {
    start.release();
  }
}

interface Wanted {
  readonly path: string;
  readonly filesMax: number;
}

async function listTree(
  scope: ListingScope,
  found: ReturnType<typeof findExisting>,
  { path, filesMax }: Wanted,
): Promise<CodeListing> {
  const report: WalkReport = { unreadable: 0, truncated: false };
  const files: CodeFile[] = [];
  const endMs = scope.clock.monotonicMs() + LISTING_MS_MAX;
  const isTimeUp = () => {
    throwIfCancelled(scope.signal);
    if (scope.clock.monotonicMs() < endMs) return false;
    report.truncated = true;
    return true;
  };
  const take = async (batch: readonly Candidate[]) => {
    for (const candidate of batch) {
      const file = files.length < filesMax ? fileOf(scope, candidate) : undefined;
      candidate.directory.release();
      if (file !== undefined) files.push(file);
    }
    if (files.length < filesMax) return !isTimeUp();
    report.truncated = true;
    return false;
  };
  for (const start of startsOf(scope, found)) {
    const descriptor = openStart(scope, { found, path }, start);
    if (descriptor === undefined) continue;
    const exclusions = exclusionsOf(scope, start);
    const ignoreRules = ignoreRulesAbove(scope.roots, exclusions, start);
    const options = { exclusions, recursive: true, glob: undefined, ignoreRules, isTimeUp, report };
    await walkTree({ descriptor, place: start }, options, take);
    if (report.truncated) break;
  }
  return { files, truncated: report.truncated, unreadable: report.unreadable };
}

function fileOf({ roots }: ListingScope, { directory, name, place }: Candidate): CodeFile | undefined {
  const sizeBytes = sizeOf(directory.descriptor, name);
  return sizeBytes === undefined ? undefined : { path: namedPath(roots, place), sizeBytes };
}

function sizeOf(directory: number, name: string): number | undefined {
  const descriptor = openBeneath(directory, name, O_PATH | constants.O_NOFOLLOW, "plain");
  if (descriptor < 0) return undefined; // it has gone since it was met
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() ? stats.size : undefined;
  } finally {
    closeDescriptor(descriptor);
  }
}

/** Whether `place` lies below `start` or is it. */
export function liesBelow(start: WorkspacePath, place: WorkspacePath): boolean {
  if (place.root !== start.root) return false;
  return start.path === "." || place.path === start.path || place.path.startsWith(`${start.path}/`);
}
