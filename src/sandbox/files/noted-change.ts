/** Notes the change of one file, and the directories made for it, before a file tool makes it. */
import { closeSync, lstatSync } from "node:fs";
import { inSlices } from "../../base/long-steps.ts";
import type { FileChange, FileState, NotedChanges } from "../../model/work/file-history.ts";
import { type Keeping, type Kept, keptFile } from "../keeping/keeping.ts";
import { openAgain } from "../native/syscalls.ts";
import { changed } from "./places/failures.ts";
import type { Destination } from "./places/parent.ts";
import { handleOf, type WorkspaceRoots } from "./places/roots.ts";
import type { Beside, Original } from "./replace.ts";

/** What noting needs of the call. */
export interface NotingScope {
  /** Absent where nothing is kept. */
  readonly keeping?: Keeping | undefined;
  readonly roots: WorkspaceRoots;
}

/** What becomes of one file. */
export interface FileReplaced {
  /** The path as the call names it, for failures. */
  readonly path: string;
  readonly original: Original | undefined;
  /** What takes its place; nothing where it is removed. */
  readonly beside?: Beside;
}

const MODE = 0o7777;
/** Says of what nobody keeps that it was made, or was not. */
const NOT_NOTED: NotedChanges = { made: async () => undefined, forget: async () => undefined };

/**
 * Notes what is about to become of a file.
 * @throws ToolFailure STORE_UNAVAILABLE when that is not possible
 */
export async function noteChange(
  { keeping, roots }: NotingScope,
  { place, made }: Pick<Destination, "place" | "made">,
  { path, original, beside }: FileReplaced,
): Promise<NotedChanges> {
  if (keeping === undefined || place.root === "scratch") return NOT_NOTED;
  const changes: FileChange[] = made.map((one) => ({
    path: one,
    after: { kind: "directory", mode: modeAt(roots, { ...place, path: one }) },
  }));
  const isSecret = keeping.keepable(place.path, place.root) !== "content";
  const was: Kept = original === undefined ? {} : isSecret ? bareState(original) : await kept(keeping, original, path);
  const after = beside && stateOf(beside, isSecret);
  const unkept = was.unkept ?? (isSecret ? ("secret" as const) : undefined);
  changes.push({
    path: place.path,
    ...(was.state && { before: was.state }),
    ...(after && { after }),
    ...(unkept !== undefined && { unkept }),
  });
  return keeping.note(changes, { root: place.root });
}

/** Without a word of what stands in it. */
function bareState({ stats }: Pick<Original, "stats">): Kept {
  return { state: { kind: "file", mode: Number(stats.mode) & MODE } };
}

function stateOf({ mode, sizeBytes, content }: Beside, isSecret: boolean): FileState {
  if (isSecret) return { kind: "file", mode };
  return { kind: "file", mode, bytes: sizeBytes, ...(content !== undefined && { content }) };
}

async function kept(
  keeping: Keeping,
  { descriptor, stats }: Pick<Original, "descriptor" | "stats">,
  path: string,
): Promise<Kept> {
  const opened = openAgain(descriptor);
  if (opened < 0) return { ...bareState({ stats }), unkept: "unreadable" };
  try {
    const { result } = await inSlices("keeping what a call changes", keptFile(keeping, opened));
    if (result.state?.bytes !== Number(stats.size)) throw changed(path);
    return result;
  } finally {
    closeSync(opened);
  }
}

function modeAt(roots: WorkspaceRoots, { root, path }: Destination["place"]): number {
  const found = lstatSync(`/proc/self/fd/${handleOf(roots, root).descriptor}/${path}`, { throwIfNoEntry: false });
  return (found?.mode ?? 0) & MODE;
}
