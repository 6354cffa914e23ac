/**
 * Reports for `handrail doctor` on the running installation.
 *
 * It also reports the operator's workspaces that touch the installation or are unusual.
 */
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import { realPath } from "../operator/real-path.ts";
import { installationNotice, installationPaths, placeInInstallation } from "../workspace/installation.ts";
import { beginsRepository, homeDirectories, unusualWorkspace } from "../workspace/unusual-workspace.ts";
import { attemptMany, type Finding, type Found } from "./finding.ts";

/**
 * Where the installation lies, and every workspace of the settings for which that matters. A directory that cannot be
 * read is another finding.
 */
export async function installationFindings(
  read: () => Promise<OperatorDirectory>,
  environment: Environment,
): Promise<readonly Finding[]> {
  const operator = await read().catch(() => undefined); // said by the check of the directory
  const check = "installation";
  return attemptMany({ check, fix: "install handrail again", directory: "" }, async () => {
    const paths = installationPaths();
    const homes = homeDirectories(environment);
    const notices = (operator?.settings.workspaces ?? []).flatMap((entry) => noticesOf(entry, paths, homes));
    const detail = `${paths.map((path) => `\`${path}\``).join(", ")}: read only to every tool and command, whatever the workspace is`;
    const fix = "leave it if it is meant, or name another directory under `workspaces` in handrail.yaml";
    return [{ status: "ok", detail }, ...notices.map((notice): Found => ({ status: "advisory", detail: notice, fix }))];
  });
}

function noticesOf(
  { path, allow_unusual: isAllowed = false }: OperatorDirectory["settings"]["workspaces"][number],
  installation: readonly string[],
  homes: readonly string[],
): readonly string[] {
  const workspace = realPath(path);
  const place = placeInInstallation(workspace, installation);
  const why = unusualWorkspace(workspace, homes, beginsRepository(workspace));
  const unusual = isAllowed
    ? "which `allow_unusual` allows"
    : "which is refused without `allow_unusual` or --allow-unusual-workspace";
  return [
    ...(place === "apart" ? [] : [installationNotice(workspace, place)]),
    ...(why === undefined ? [] : [`the workspace \`${workspace}\` is unusual (${why}), ${unusual}`]),
  ];
}
