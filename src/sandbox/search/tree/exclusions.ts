/**
 * Excludes from a search the places that the call may not read.
 *
 * They come from the same data by which every file of the call is judged: zones, lease and policy, and the isolation
 * level.
 *
 * INVARIANT: a file is searched only if the call could read it by its name.
 */
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { IsolationLevel, Workspace } from "../../../model/place/workspace.ts";
import { compileGlob, type GlobTest } from "../../../names/glob.ts";

/** What a search may look at. */
export interface SearchExclusions {
  /** Whether the call may read the file at `place`. */
  readonly mayRead: (place: WorkspacePath) => boolean;
  /** Whether the files of a directory may be searched at all; each is judged for itself. */
  readonly mayEnter: (place: WorkspacePath) => boolean;
  /** The path of `place` from the project root; the root is the empty text. */
  readonly fromProject: (place: WorkspacePath) => string;
}

/** What decides about places. */
export interface ExclusionParts {
  readonly workspace: Workspace;
  readonly isolationLevel: IsolationLevel;
  /** Whether zone, lease and policy let the call read a file. */
  readonly mayRead: (place: WorkspacePath) => boolean;
}

/** The exclusions of a search that begins at `start`: a search that names a shared place searches it. */
export function exclusionsOf(
  { workspace, isolationLevel, mayRead }: ExclusionParts,
  start: WorkspacePath,
): SearchExclusions {
  const prefix = servicePrefix(workspace);
  const fromProject = ({ root, path }: WorkspacePath): string => {
    const own = path === "." ? "" : path;
    if (root !== "service" || prefix === "") return own;
    return own === "" ? prefix : `${prefix}/${own}`;
  };
  const shared = sharedTest(workspace.sharedPaths);
  const withShared = isolationLevel === "SHARED" || start.root === "scratch" || shared(fromProject(start));
  const leftOut = (place: WorkspacePath) => !withShared && shared(fromProject(place));
  return {
    fromProject,
    mayRead: (place) => !leftOut(place) && mayRead(place),
    mayEnter(place) {
      const zone = workspace.zones.classify(place);
      return zone !== "secret" && zone !== "managed" && !leftOut(place);
    },
  };
}

function servicePrefix({ serviceRoot, projectRoot }: Workspace): string {
  if (serviceRoot === projectRoot) return "";
  return serviceRoot.slice(projectRoot === "/" ? 1 : projectRoot.length + 1);
}

/** Text in which nothing is a wildcard. */
const LITERAL = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;

/** Whether a path from the project root lies in one of the shared directories, which may be named by patterns. */
function sharedTest(sharedPaths: readonly string[]): GlobTest {
  const paths = sharedPaths.map((path) => path.replace(/^\/+|\/+$/g, ""));
  const known = new Set(paths.filter((path) => LITERAL.test(path)));
  const tests = paths.filter((path) => !LITERAL.test(path)).flatMap((path) => compileGlob(path) ?? []);
  const isShared: GlobTest = (path) => known.has(path) || tests.some((test) => test(path));
  return (path) => {
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      if (isShared(path.slice(0, end))) return true;
    }
    return path !== "" && isShared(path);
  };
}
