/** Finds what a file was when its branch was made, in what was kept of the calls on it. */
import { MIB } from "../../base/bytes.ts";
import type { HistoryStore } from "../../cas/history-store.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";

/** Bytes of a file that is merged line by line. */
const BASE_BYTES_MAX = MIB;

/** A file of a branch. */
export interface BranchedFile {
  /** The branch's tree, a real path. */
  readonly root: string;
  readonly path: string;
  /** When the branch was made. */
  readonly sinceMs: number;
}

/** Its bytes at that time; `undefined` where they were not kept, or are too many. */
export async function keptBase(
  store: Pick<HistoryStore, "earliestSince" | "read">,
  { root, path, sinceMs }: BranchedFile,
): Promise<Uint8Array | undefined> {
  const { before } = (await store.earliestSince(root, path, sinceMs))?.change ?? {};
  if (before?.kind !== "file" || before.content === undefined || (before.bytes ?? 0) > BASE_BYTES_MAX) return undefined;
  const pieces: Buffer[] = [];
  try {
    for (const piece of store.read(before.content)) pieces.push(Buffer.from(piece));
  } catch (error) {
    if (error instanceof ToolFailure) return undefined; // it was removed or altered: nobody knows what it was
    throw error;
  }
  return Buffer.concat(pieces);
}
