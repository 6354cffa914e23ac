/**
 * Combines the zone rules of a workspace: what is built in, what the operator says, and what the workspace says of
 * itself. Pure.
 *
 * INVARIANT: a workspace that nobody trusts only takes away: it hides, restricts, and leaves fewer shared directories.
 */
import { BUILT_IN_ZONE_RULES, type ZoneRules } from "../model/place/zone.ts";
import type { FileRules, Settings, WorkspaceSettings } from "./config.ts";
import type { FlowConfig } from "./files/flow-config.ts";

/**
 * The zone rules of a workspace: built in, the operator's for all, the operator's for this one, and what the workspace
 * may say of itself without anybody's trust: what is secret, and restrictions beside the zones.
 */
export function zoneRulesOf(settings: Settings, granted: FileRules | undefined, own: WorkspaceSettings): ZoneRules {
  const rules = rulesOf([settings.files, ...(granted ? [granted] : [])]);
  const { secret, read_only, protected: protectedFiles } = own.files;
  return {
    ...rules,
    ownSecret: [...rules.ownSecret, ...secret],
    restrictedReadOnly: read_only,
    restrictedProtected: protectedFiles,
  };
}

/** The same where the operator trusts the workspace's own rules: they make zones as the operator's do. */
export function trustedRulesOf(settings: Settings, granted: FileRules | undefined, own: WorkspaceSettings): ZoneRules {
  return rulesOf([settings.files, ...(granted ? [granted] : []), own.files]);
}

function rulesOf(files: readonly FileRules[]): ZoneRules {
  return {
    ...BUILT_IN_ZONE_RULES,
    ownSecret: files.flatMap((file) => file.secret),
    shared: [...BUILT_IN_ZONE_RULES.shared, ...files.flatMap((file) => file.shared)],
    protected: [...BUILT_IN_ZONE_RULES.protected, ...files.flatMap((file) => file.protected)],
    readOnly: files.flatMap((file) => file.read_only),
  };
}

/**
 * The same with what a `.flow/config.json` says. Shared directories are those that it names, and of these the ones that
 * are shared without it; where it is trusted, all of them. What is read only stays so.
 */
export function withFlow(rules: ZoneRules, { blockPatterns, sharedPaths }: FlowConfig, isTrusted: boolean): ZoneRules {
  const ownSecret = [...rules.ownSecret, ...blockPatterns];
  if (sharedPaths === undefined) return { ...rules, ownSecret };
  const shared = isTrusted ? [...new Set([...rules.shared, ...sharedPaths])] : rules.shared;
  return { ...rules, ownSecret, shared, reachable: sharedByBoth(shared, sharedPaths) };
}

/** The directories that are in both lists, by themselves or below one of the other. */
function sharedByBoth(allowed: readonly string[], wanted: readonly string[]): readonly string[] {
  const isIn = (path: string, directory: string) => path === directory || path.startsWith(`${directory}/`);
  const left = allowed.flatMap((one) =>
    wanted.flatMap((other) => (isIn(one, other) ? [one] : isIn(other, one) ? [other] : [])),
  );
  return [...new Set(left)].sort();
}
