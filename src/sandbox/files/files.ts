/**
 * The contained file access of one call: the only way in which a tool meets the file system.
 *
 * Decides: nothing by itself; it puts together finding (`open`), reading, listing, locking and replacing. Trusts: that
 * the requested path was judged before the call. INVARIANT: whatever is touched was reached from a root handle by the
 * kernel's own containment, and judged where it differs from what was asked for.
 */
import type { FileAccess } from "../../model/place/files.ts";
import { listContained, type Visible } from "./list.ts";
import { readContained, streamContained } from "./read.ts";
import { removeContained } from "./remove.ts";
import { transformAll } from "./transform-all.ts";
import { transformContained, type WriteScope, writeContained } from "./write.ts";

export type { FileScope } from "./places/open.ts";
export { isInPlaceThisTurn, openWorkspaceRoots, type WorkspaceRoots } from "./places/roots.ts";
export { readPreImage } from "./pre-image.ts";

/**
 * What file access needs: the scope that it sees, the locks that it takes, names for new files, and what listings may
 * show.
 */
export interface FileAccessParts extends WriteScope {
  readonly visible: Visible;
}

/** File access for one call. */
export function createFileAccess(parts: FileAccessParts): FileAccess {
  return {
    read: (path, options) => readContained(parts, path, options),
    stream: (path, options) => streamContained(parts, path, options),
    list: (path, options) => listContained(parts, path, options),
    write: (path, content, options) => writeContained(parts, path, { ...options, content }),
    remove: (path) => removeContained(parts, path),
    transformAll: (files) => transformAll(parts, files),
    transform: (path, bytesMax, transform) => transformContained(parts, path, { bytesMax, transform }),
  };
}
