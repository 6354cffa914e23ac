/**
 * The installation: files of the program that is running, which whoever changes them runs as Handrail with the next
 * start.
 *
 * INVARIANT: no directory is taken for the package that does not say of itself that it is; what node runs stays outside
 * of every tool's reach even so.
 */

import { getCompileCacheDir } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mount } from "../../base/mount-info.ts";
import { packageRoot } from "../operator/package-files.ts";
import { isWithin, realPath } from "../operator/real-path.ts";
import { pathsWithin } from "./mounted-places.ts";

let found: readonly string[] | undefined;

/**
 * Real paths of the installation that is running: the package with all below it, the Node that runs it, and where
 * compiled code is kept.
 */
export function installationPaths(): readonly string[] {
  found ??= pathsOf(dirname(fileURLToPath(import.meta.url)), process.execPath, [
    getCompileCacheDir(),
    process.env["NODE_COMPILE_CACHE"],
  ]);
  return found;
}

/**
 * Paths of an installation.
 * @param directory where the running module lies
 * @param caches directories of compiled code: Node runs what lies there in place of the sources
 */
export function pathsOf(directory: string, node: string, caches: readonly (string | undefined)[]): readonly string[] {
  const module = realPath(directory);
  const root = packageRoot(module);
  const paths = [
    root ?? module,
    module,
    realPath(node),
    ...caches.flatMap((cache) => (cache ? realPath(resolve(cache)) : [])),
  ];
  const outermost = [...new Set(paths.map(outermostPackages))];
  return outermost.filter((path) => !outermost.some((other) => other !== path && isWithin(other, path)));
}

/** How a workspace stands to the installation. */
export type InstallationPlace = "inside" | "holds" | "apart";

/**
 * Whether the directory `workspace`, a real path, lies in the installation or holds a part of it, by its path or by
 * what is mounted there.
 */
export function placeInInstallation(
  workspace: string,
  installation: readonly string[],
  mounts?: readonly Mount[],
): InstallationPlace {
  const within = pathsWithin(workspace, installation, mounts);
  if (within.length === 0) return "apart";
  return within.includes("") ? "inside" : "holds";
}

/** What the operator is told of such a workspace. */
export function installationNotice(workspace: string, place: Exclude<InstallationPlace, "apart">): string {
  return place === "inside"
    ? `the workspace \`${workspace}\` lies in Handrail's own installation, which is read only to every tool and command; to change it, work in another checkout`
    : `the workspace \`${workspace}\` holds Handrail's own installation, which is read only to every tool and command`;
}

/** Of an installed package all packages: Handrail loads its dependencies from beside it. */
function outermostPackages(path: string): string {
  const at = `${path}/`.indexOf("/node_modules/");
  return at === -1 ? path : path.slice(0, at + "/node_modules".length);
}
