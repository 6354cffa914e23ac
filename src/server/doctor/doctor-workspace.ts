/**
 * The finding of `handrail doctor` about files in the making that killed kernels left in a workspace.
 *
 * INVARIANT: only those are removed that a dead instance of this state directory made, and only when a person asks for
 * it.
 */
import { systemRandom } from "../../base/ids.ts";
import { findLeftFiles, type LeftFiles, removeLeftFiles } from "../../sandbox/files/left-files.ts";
import { openInstanceStore } from "../../stores/embedded/ledger/instance-store.ts";
import { prepareStateDirectory } from "../../stores/embedded/state/state-directory.ts";
import { evidenceKey } from "../ledger/evidence-key.ts";
import type { KernelOptions } from "../open-parts.ts";
import { defaultStatePath, type OperatorDirectory } from "../operator/operator-directory.ts";
import { requireUsualWorkspace } from "../workspace/unusual-workspace.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import { readWorkspaceConfiguration } from "../workspace/workspace-settings.ts";
import { attempt, type Finding, type Found } from "./finding.ts";

const CHECK = "files in the making";
const NAMED_MAX = 5;
const BY_HAND = "remove by hand what no running kernel makes";

/** Looks through a workspace, and with `mend` removes what dead kernels left; does not throw. */
export function workspaceFinding(
  options: Pick<KernelOptions, "environment" | "stateDirectory">,
  { path, mend }: { readonly path: string; readonly mend: boolean },
): Promise<Finding> {
  return attempt(CHECK, "name a directory that this user may read, and try again", async () => {
    const root = workspaceDirectory(path);
    const stateDirectory = options.stateDirectory ?? defaultStatePath(options.environment);
    await prepareStateDirectory(stateDirectory);
    const { isAlive } = await openInstanceStore(stateDirectory, systemRandom);
    const found = await findLeftFiles(root, { key: await evidenceKey(stateDirectory, systemRandom), isAlive });
    const removed = mend ? await removeLeftFiles(root, found.dead) : 0;
    const [dead, unknown] = [await shown(found.dead), await shown(found.unknown)];
    return described(root, { ...found, dead, unknown }, removed);
  });
}

/** What of the workspace's own configuration has no effect, or why it closes the workspace; nothing where it has none. */
export async function ownFilesFindings(path: string): Promise<readonly Finding[]> {
  const check = "the workspace's own configuration";
  const found = await attempt(check, "correct the file, or remove it", async () => {
    const { flow } = await readWorkspaceConfiguration(workspaceDirectory(path));
    if (flow === undefined) return "is read";
    if (flow.unhonoured.length === 0) return "`.flow/config.json` narrows the workspace";
    const detail = `\`.flow/config.json\`: ${flow.unhonoured.join("; ")}`;
    return { status: "advisory", detail, fix: "take out what has no effect, or leave it: nothing else reads it here" };
  });
  return found.detail === "is read" ? [] : [found];
}

/** Why sessions are refused for a workspace, if they are; the operator can allow it. */
export async function unusualFindings(
  { environment }: Pick<KernelOptions, "environment">,
  read: () => Promise<OperatorDirectory>,
  path: string,
): Promise<readonly Finding[]> {
  const found = await attempt(
    "kind of workspace",
    "name the directory of one project, or set `allow_unusual: true` for it under `workspaces` in the operator's handrail.yaml",
    async () => {
      const directory = workspaceDirectory(path);
      // a configuration that cannot be read is a finding of its own
      const workspaces = await read().then(
        ({ settings }) => settings.workspaces,
        () => [],
      );
      const isAllowed = workspaces.some(
        (one) => one.allow_unusual === true && workspaceDirectory(one.path) === directory,
      );
      if (!isAllowed) requireUsualWorkspace(directory, environment);
      return "a project's, or one that the operator allows";
    },
  );
  return found.status === "ok" ? [] : [found];
}

/** The paths without their secrets. */
async function shown(paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return paths;
  const { createRedactor } = await import("../../redact/redact.ts");
  const redactor = createRedactor();
  return paths.map(redactor.shownPath);
}

function described(root: string, { dead, unknown, truncated }: LeftFiles, removed: number): Found {
  const left = dead.length - removed;
  const said = [
    ...(removed > 0 ? [`${removed} that killed kernels left were removed`] : []),
    ...(left > 0 ? [`killed kernels left ${left} (${named(dead)}); remove them with \`--mend\``] : []),
    ...(unknown.length > 0
      ? [
          `${unknown.length} are of kernels with another state directory, or of an earlier version (${named(unknown)}); ` +
            "remove them by hand when no such kernel runs",
        ]
      : []),
    ...(truncated ? ["the workspace has more files than were looked at"] : []),
  ];
  if (said.length === 0) return { status: "ok", detail: `\`${root}\` has none that are left over` };
  const detail = said.join("; ");
  if (left === 0 && unknown.length === 0 && !truncated) return { status: "ok", detail };
  return { status: "advisory", detail, fix: left > 0 ? "`--mend` removes what killed kernels left" : BY_HAND };
}

function named(paths: readonly string[]): string {
  const shown = paths.slice(0, NAMED_MAX).map((path) => `\`${path}\``);
  return [...shown, ...(paths.length > NAMED_MAX ? [`${paths.length - NAMED_MAX} more`] : [])].join(", ");
}
