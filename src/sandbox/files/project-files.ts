/**
 * Looks at the files in the root of a workspace that say how the project is tested, linted and installed.
 *
 * It trusts nothing that they say. INVARIANT: only regular files of zones that tools may read are looked at, no link is
 * followed, and what cannot be looked at is named as there, with the reason.
 */
import { closeSync } from "node:fs";
import { KIB, MIB } from "../../base/bytes.ts";
import { assert } from "../../base/errors.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { Workspace } from "../../model/place/workspace.ts";
import { PROJECT_FILES, type ProjectFile, type ProjectFileName, type Toolchain } from "../../model/work/toolchain.ts";
import { refusal } from "./places/failures.ts";
import { type FileScope, find, findUnlinked } from "./places/open.ts";
import type { WorkspaceRoots } from "./places/roots.ts";
import { readContained, SMALL_READ_BYTES_MAX } from "./read.ts";

/** Bytes of a project file that is looked through for what runs tests and linters: larger ones are made by programs. */
const PROJECT_FILE_BYTES_MAX = 64 * KIB;
/**
 * Bytes of a lock file, manifest or configuration that an installation goes by: lock files of large monorepos have a
 * few MiB.
 */
const INSTALL_FILE_BYTES_MAX = 8 * MIB;

/** The project files of `workspace`, as they are now. */
export function projectFiles(workspace: Workspace, roots: WorkspaceRoots): Toolchain["files"] {
  const scope: FileScope = { workspace, roots, judge: () => notALink().denial };
  const found: Partial<Record<ProjectFileName, ProjectFile>> = {};
  for (const name of Object.keys(PROJECT_FILES) as readonly ProjectFileName[]) {
    const bytesMax = PROJECT_FILES[name] === "name" ? undefined : PROJECT_FILE_BYTES_MAX;
    const file = isReadable(workspace, name) ? lookAt(scope, name, bytesMax) : undefined;
    if (file !== undefined) found[name] = file;
  }
  return found;
}

/** The file at `path` of `workspace` that says what is installed, as it is now; `undefined` where there is none. */
export function installFile(workspace: Workspace, roots: WorkspaceRoots, path: string): ProjectFile | undefined {
  const scope: FileScope = { workspace, roots, judge: () => notALink().denial };
  const kind = isReadable(workspace, path) ? standingAs(scope, path) : undefined;
  if (kind === "other") return { problem: "is a link or no regular file" };
  return kind && lookAt(scope, path, INSTALL_FILE_BYTES_MAX);
}

/** What stands at `path`; nothing of what a link leads to is looked at. */
function standingAs(scope: FileScope, path: string): "file" | "other" | undefined {
  try {
    const found = findUnlinked(scope, path);
    if (found !== undefined) {
      closeSync(found.descriptor);
      return "file";
    }
    const other = find(scope, path, ["read"]);
    if (other.kind === "missing") return undefined;
    closeSync(other.descriptor);
    return "other";
  } catch (error) {
    if (error instanceof ToolFailure || error instanceof Refusal) return "other";
    throw error;
  }
}

function isReadable({ zones }: Workspace, path: string): boolean {
  return ["own", "protected", "shared"].includes(zones.classify({ root: "service", path }));
}

/** @param bytesMax of a file that is read; one that is only known to be there when absent */
function lookAt(scope: FileScope, name: string, bytesMax: number | undefined): ProjectFile | undefined {
  const found = findUnlinked(scope, name);
  if (found === undefined) return undefined;
  closeSync(found.descriptor);
  if (bytesMax === undefined) return {};
  if (found.sizeBytes > bytesMax) return { problem: `is larger than ${bytesMax / 1024} KiB` };
  try {
    return { text: Buffer.concat([...partsOf(scope, name, bytesMax)]).toString("utf8") };
  } catch (error) {
    // it was removed, replaced or closed meanwhile: whoever asked is told that it cannot be used
    if (error instanceof ToolFailure || error instanceof Refusal) return { problem: "cannot be read" };
    throw error;
  }
}

/** The file part by part: small ones are read at once, without a wait in between. */
function* partsOf(scope: FileScope, name: string, bytesMax: number): Generator<Uint8Array> {
  const uncancelled = { ...scope, signal: NEVER };
  for (let offset = 0; offset <= bytesMax; offset += SMALL_READ_BYTES_MAX) {
    const content = readContained(uncancelled, name, {
      offset,
      limit: SMALL_READ_BYTES_MAX,
      bytesMax: SMALL_READ_BYTES_MAX,
    });
    assert(!(content instanceof Promise), "a small part is read at once");
    yield content.bytes;
    if (content.bytes.byteLength < SMALL_READ_BYTES_MAX) return;
  }
}

const NEVER = new AbortController().signal;

function notALink(): Refusal {
  return refusal({
    reason: "workspace_symlink_escape",
    ruleId: "WORKSPACE:symlink",
    message: "a project file is looked at under its own name only",
    fix: "use a regular file",
  });
}
