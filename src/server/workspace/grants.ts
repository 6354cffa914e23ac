/**
 * Applies the operator's grant for one workspace to the choices that a client makes within it.
 *
 * It trusts the operator's settings and nothing that a client says.
 *
 * INVARIANT: where the operator has chosen a preset or granted the workspace, a client's own choices only narrow.
 */
import { usageError } from "../../base/errors.ts";
import type { Settings } from "../../config/config.ts";
import {
  DEFAULT_PRESET,
  isPresetName,
  isWithinPreset,
  PRESET_NAMES,
  type PresetName,
} from "../../model/people/preset.ts";
import { isWithin, realPath } from "../operator/real-path.ts";

/** Roles that clients of a workspace without a grant may ask for. */
export const ROLES_WITHOUT_GRANT: readonly string[] = ["dev"];

type Grant = Settings["workspaces"][number];

/** The operator's grant for the workspace at the real path `serviceRoot`; it may be written with links on the way. */
export function grantOf(settings: Settings, serviceRoot: string): Grant | undefined {
  return settings.workspaces.find((candidate) => leadsTo(candidate.path, serviceRoot));
}

function leadsTo(path: string, real: string): boolean {
  try {
    return realPath(path) === real;
  } catch {
    return false; // what cannot be reached is no open workspace
  }
}

/**
 * The preset of a session; a client's must stay within what the operator chose.
 * @throws KernelError USAGE for an unknown preset, and for one wider than the operator's when a client asks for it
 */
export function choosePreset(
  settings: Settings,
  grant: Grant | undefined,
  { wanted, isClient }: { readonly wanted: string | undefined; readonly isClient: boolean },
): PresetName {
  const chosen = grant?.preset ?? settings.preset;
  const preset = wanted ?? chosen ?? DEFAULT_PRESET;
  if (!isPresetName(preset))
    throw usageError(`there is no preset \`${preset}\`; use one of ${PRESET_NAMES.join(", ")}`);
  // Where the operator said nothing at all, whoever starts the client is the operator.
  const limit = chosen ?? (grant === undefined ? undefined : DEFAULT_PRESET);
  if (isClient && limit !== undefined && !isWithinPreset(preset, limit)) {
    throw usageError(
      `the preset \`${preset}\` allows more than \`${limit}\`, which the operator chose; leave \`--preset\` out, or change handrail.yaml in the operator's directory`,
    );
  }
  return preset;
}

/**
 * Refuses the project root at the real path `projectRoot` when a client may not choose it: with a grant only the
 * grant's own, without one only a directory that holds the workspace, and never the whole machine.
 * @throws KernelError USAGE
 */
export function requireProjectRoot(grant: Grant | undefined, serviceRoot: string, projectRoot: string): void {
  if (grant !== undefined) {
    if (projectRoot === realPath(grant.project_root ?? grant.path)) return;
    throw usageError(
      `the project root \`${projectRoot}\` is not granted to clients of \`${serviceRoot}\`; the operator grants it under workspaces[].project_root in handrail.yaml`,
    );
  }
  if (projectRoot !== "/" && isWithin(projectRoot, serviceRoot)) return;
  throw usageError(
    `the project root \`${projectRoot}\` must be a directory that holds \`${serviceRoot}\`, and not \`/\``,
  );
}
