/**
 * Looks at the files in the root of a workspace that say how the project is tested, linted and installed.
 *
 * It trusts nothing that they say. INVARIANT: only regular files of zones that tools may read are looked at, no link is followed, and what cannot be
 * looked at is named as there, with the reason.
 */
import { closeSync } from "node:fs";
import { assert } from "../../base/errors.ts";
import { PROJECT_FILE_BYTES_MAX } from "../../base/limits.ts";
import { Refusal, ToolFailure } from "../../model/failure.ts";
import { PROJECT_FILES, type ProjectFile, type ProjectFileName, type Toolchain } from "../../model/toolchain.ts";
import type { Workspace } from "../../model/workspace.ts";
import { refusal } from "./failures.ts";
import { type FileScope, findUnlinked } from "./open.ts";
import { readContained } from "./read.ts";
import type { WorkspaceRoots } from "./roots.ts";

/** The project files of `workspace`, as they are now. */
export function projectFiles(workspace: Workspace, roots: WorkspaceRoots): Toolchain["files"] {
  const scope: FileScope = { workspace, roots, judge: () => notALink().denial };
  const found: Partial<Record<ProjectFileName, ProjectFile>> = {};
  for (const name of Object.keys(PROJECT_FILES) as readonly ProjectFileName[]) {
    const file = isReadable(workspace, name) ? lookAt(scope, name) : undefined;
    if (file !== undefined) found[name] = file;
  }
  return found;
}

function isReadable({ zones }: Workspace, path: string): boolean {
  return ["own", "protected", "shared"].includes(zones.classify({ root: "service", path }));
}

function lookAt(scope: FileScope, name: ProjectFileName): ProjectFile | undefined {
  const found = findUnlinked(scope, name);
  if (found === undefined) return undefined;
  closeSync(found.descriptor);
  if (PROJECT_FILES[name] === "name") return {};
  if (found.sizeBytes > PROJECT_FILE_BYTES_MAX) return { problem: `is larger than ${PROJECT_FILE_BYTES_MAX / 1024} KiB` };
  try {
    const content = readContained(scope, name, { bytesMax: PROJECT_FILE_BYTES_MAX }, NEVER);
    assert(!(content instanceof Promise), "a small file is read at once");
    return { text: Buffer.from(content.bytes).toString("utf8") };
  } catch (error) {
    // it was removed, replaced or closed meanwhile: whoever asked is told that it cannot be used
    if (error instanceof ToolFailure || error instanceof Refusal) return { problem: "cannot be read" };
    throw error;
  }
}

const NEVER = new AbortController().signal;

function notALink(): Refusal {
  return refusal(
    "workspace_symlink_escape",
    "WORKSPACE:symlink",
    "a project file is looked at under its own name only",
    "use a regular file",
  );
}
