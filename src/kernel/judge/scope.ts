/**
 * Checks the scope of a call, which each of several limits can only narrow.
 *
 * The scope is lease ∧ role ∧ mode ∧ skill ∧ workspace ∧ the tool's own network rules. Tools that are always denied are
 * refused as well. The first limit that refuses names itself.
 *
 * `judgePlace` is the one judgement of a file. It is used before the call for the path that was asked for, and during
 * the call for the path that was really opened.
 */

import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { Lease } from "../../model/people/lease.ts";
import type { Session } from "../../model/people/session.ts";
import type { Access, WorkspacePath } from "../../model/place/access.ts";
import { resolveWorkspacePath } from "../../model/place/workspace.ts";
import type { Zone } from "../../model/place/zone.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { admits } from "../../policy/lease-scope.ts";
import { checkProfilePath } from "../../session/profile.ts";
import type { Analysed, Judged, ResolvedAccess } from "../call/stages.ts";
import { checkInput, checkToolGates } from "./gates.ts";
import { checkNamed, checkReach } from "./lease-names.ts";
import { checkNetwork } from "./network-rules.ts";
import { checkPrograms } from "./workspace-programs.ts";
import { zoneNow } from "./zone-now.ts";

/** What a call asks for: its arguments as they were sent, and what its analysis says that it touches. */
interface Asked {
  readonly input: Readonly<Record<string, unknown>>;
  readonly accesses: readonly Access[];
  /** They are what a run has done to files; what it may run and reach was named before it began. */
  readonly areEffects?: boolean;
}

/** Role, lease, mode, skill and workspace for the call and every access of it; the accesses come back resolved. */
export function checkScope(
  { caller, tool, nowMs }: { readonly caller: Judged; readonly tool: Tool; readonly nowMs: number },
  { input, accesses, areEffects = false }: Asked,
): Verdict<readonly ResolvedAccess[]> {
  const denial = checkTool(caller, tool, nowMs) ?? checkInput(caller, tool.name, input);
  if (denial) return deny(denial);
  const unnamed = areEffects
    ? undefined
    : (checkReach(caller.lease, tool, accesses) ?? checkPrograms(caller, tool, accesses));
  if (unnamed) return deny(unnamed);
  const resolved: ResolvedAccess[] = [];
  for (const access of accesses) {
    const one = resolveAccess(caller, tool, access);
    if (!one.ok) return one;
    resolved.push(one.value);
  }
  const blocked = checkNetwork(tool, accesses, caller.place);
  return blocked ? deny(blocked) : allow(resolved);
}

/** What of a caller closes a tool as such. */
export type ToolUser = Pick<Judged, "session" | "lease" | "place" | "gates">;

/** Whether role, lease, mode, skill and workspace leave the tool, whatever the call. */
export function checkTool(caller: ToolUser, tool: Tool, nowMs: number): Denial | undefined {
  return (
    checkRole(caller.session, tool) ??
    checkMode(caller.session, tool) ??
    checkApprovalLevel(tool) ??
    checkLease(caller.lease, tool, nowMs) ??
    checkToolGates(caller, tool.name)
  );
}

function checkRole(session: Session, tool: Tool): Denial | undefined {
  const required = tool.capability.requiredRole;
  if (required === undefined || required === session.role) return undefined;
  return {
    layer: "scope",
    reason: "permission_denied",
    ruleId: `RBAC:${tool.name}`,
    message: `\`${tool.name}\` is for the role \`${required}\`; this session has the role \`${session.role}\``,
    fix: `a session with the role \`${required}\``,
  };
}

function checkMode({ mode }: Session, { name, capability: { requiredMode } }: Tool): Denial | undefined {
  if (requiredMode === undefined || requiredMode === mode) return undefined;
  return {
    layer: "scope",
    reason: "permission_denied",
    ruleId: `MODE:${mode}`,
    message: `\`${name}\` is for sessions in the mode \`${requiredMode}\`; this one has the mode \`${mode}\``,
    fix: `a session in the mode \`${requiredMode}\``,
  };
}

/** No policy and no waiver opens a tool that says of itself that it must never run. */
function checkApprovalLevel(tool: Tool): Denial | undefined {
  if (tool.capability.approval.level !== "always_deny") return undefined;
  return {
    layer: "approval",
    reason: "tool_approval_denied",
    ruleId: `CAPABILITY:${tool.name}`,
    approvalId: `${tool.name}:execute`,
    message: `\`${tool.name}\` declares that it is always denied, and nobody can approve it; choose another way`,
  };
}

function checkLease(lease: Lease, tool: Tool, nowMs: number): Denial | undefined {
  const ruleId = `LEASE:${lease.id}`;
  if (lease.releasedAtMs !== undefined || nowMs >= lease.expiresAtMs) {
    return {
      layer: "scope",
      reason: "lease_expired",
      ruleId,
      message: "the session's lease has ended; ask the operator to renew it",
    };
  }
  if (admits(lease.scope, "tools", tool.name)) return undefined;
  return {
    layer: "scope",
    reason: "lease_scope",
    ruleId,
    message: `the lease does not cover \`${tool.name}\``,
    fix: `a lease whose tools include \`${tool.name}\``,
  };
}

function resolveAccess(caller: Judged, tool: Tool, access: Access): Verdict<ResolvedAccess> {
  if (access.resource.kind !== "file") {
    const lacking = checkNamed(caller.lease, access.resource);
    return lacking ? deny(lacking) : allow(access);
  }
  const resolved = resolveWorkspacePath(caller.place.workspace, access.resource.path);
  if (!resolved.ok) return resolved;
  const effect = access.effect === "read" ? "read" : "write";
  const zone = zoneNow(caller.place, resolved.value, effect);
  const denial = judgePlace(caller, { tool, place: resolved.value, zone, effect });
  return denial ? deny(denial) : allow({ ...access, target: { place: resolved.value, zone } });
}

/** Which pattern makes a zone is the operator's to know. */
const ZONE_FIX =
  "no permit opens a zone; `handrail policy explain` shows the operator whether a setting makes it, and which";
/** The same of a secret zone, with what does instead. */
const SECRET_FIX =
  "no permit opens a zone; write a template without values, such as `.env.example`, and let the operator bind the value with `handrail secrets add`";
/** Built in always. */
const MANAGED_FIX =
  "no permit opens it; the git tools change what lies in `.git`, and `install_dependencies` what lies in `node_modules`";

/** A file that a tool touches, in its zone as it is now. */
export interface TouchedFile {
  readonly tool: Pick<Tool, "name">;
  readonly place: WorkspacePath;
  readonly zone: Zone;
  readonly effect: "read" | "write";
}

/** Zone and lease judgement of one file; the same before the call and on what was really opened. */
export function judgePlace(caller: Judged, { tool, place, zone, effect }: TouchedFile): Denial | undefined {
  const targetPath = place.path;
  if (zone === "secret" || zone === "managed") {
    const what = zone === "secret" ? "a secret zone" : "a managed directory (`.git`, `node_modules`)";
    const message = `\`${targetPath}\` lies in ${what}, which \`${tool.name}\` must not touch; work on another file`;
    return {
      layer: "workspace",
      reason: "workspace_blocked_zone",
      ruleId: `ZONE:${zone}`,
      message,
      fix: zone === "managed" ? MANAGED_FIX : SECRET_FIX,
      targetPath,
    };
  }
  const restriction = effect === "write" ? caller.place.workspace.zones.restriction(place) : undefined;
  if (restriction === "installation") return installationDenial(targetPath);
  if (zone === "shared" && effect === "write") {
    const message = `\`${targetPath}\` is shared and read only here; change it in the project that owns it`;
    return {
      layer: "workspace",
      reason: "workspace_read_only",
      ruleId: "ZONE:shared",
      message,
      fix: ZONE_FIX,
      targetPath,
    };
  }
  if (restriction === "read_only") {
    const message = `\`${targetPath}\` is read only by this workspace's own handrail.yaml; work on another file`;
    return {
      layer: "workspace",
      reason: "workspace_read_only",
      ruleId: "ZONE:read_only",
      message,
      fix: ZONE_FIX,
      targetPath,
    };
  }
  // it is the session's own, whatever its lease says of the workspace
  if (place.root === "scratch") return undefined;
  const dimension = effect === "read" ? "readPaths" : "writePaths";
  const leasePath = leasePathOf(place);
  const left = checkProfilePath(caller, tool.name, leasePath);
  if (left !== undefined) return left;
  if (admits(caller.lease.scope, dimension, leasePath)) return undefined;
  const ruleId = `LEASE:${caller.lease.id}`;
  return {
    layer: "scope",
    reason: "lease_scope",
    ruleId,
    message: `the lease does not cover ${effect} access to \`${leasePath}\``,
    fix: `a lease whose ${dimension} include \`${leasePath}\``,
    targetPath,
  };
}

/** The refusal of a change to the Handrail that is running: no setting, permit or person lifts it. */
export function installationDenial(targetPath: string): Denial {
  const message = `\`${targetPath}\` belongs to the Handrail that is running, which no tool may change; work in another checkout of it`;
  return {
    layer: "workspace",
    reason: "workspace_read_only",
    ruleId: "ZONE:installation",
    message,
    fix: "nothing opens it; a Handrail that is installed elsewhere may work on these files",
    targetPath,
  };
}

/**
 * A tool that changes the machine touches the very files that its call names: no link leads it to another, be that
 * allowed or not.
 */
export function exactly(
  { tool, accesses }: Pick<Analysed, "tool" | "accesses">,
  { root, path }: WorkspacePath,
): Denial | undefined {
  if (tool.capability.effect !== "system") return undefined;
  if (accesses.some(({ target }) => target?.place.root === root && target.place.path === path)) return undefined;
  return {
    layer: "workspace",
    reason: "workspace_symlink_escape",
    ruleId: "WORKSPACE:exact",
    message: `the path leads to \`${path}\`, and \`${tool.name}\` follows no link; ask the operator to list that file itself`,
    targetPath: path,
  };
}

/**
 * Whether lease and mode leave a file to the tool for reading: for what a tree holds, which is left out rather than
 * refused.
 */
export function leavesReading(caller: Judged, tool: string, place: WorkspacePath): boolean {
  if (place.root === "scratch") return true;
  const path = leasePathOf(place);
  return admits(caller.lease.scope, "readPaths", path) && checkProfilePath(caller, tool, path) === undefined;
}

/**
 * How a lease's globs name a file: as the service does, or below `@project/` when it lies in the project's shared
 * directories.
 */
export function leasePathOf({ root, path }: WorkspacePath): string {
  return root === "service" ? path : `@project/${path}`;
}

/** The denial of a tool that reaches for what its analysis did not name: it was never judged. */
export function unanalysed(tool: string, effect: string): Denial {
  return {
    layer: "scope",
    reason: "permission_denied",
    ruleId: `ANALYSE:${tool}`,
    message: `\`${tool}\` tried ${effect} access to a file that its analysis did not name; tell the tool's author`,
  };
}

/** The refusal of a model that the call's analysis did not name, or that nobody names any more. */
export function unanalysedModel(tool: string, model: string): Denial {
  return {
    layer: "scope",
    reason: "permission_denied",
    ruleId: `ANALYSE:${tool}`,
    message: `\`${tool}\` asked for the model \`${model}\`, which its analysis did not name or the operator no longer names; list the tools again`,
  };
}

/** The refusal of a host that the call's analysis did not name. */
export function unanalysedHost(tool: string, host: string): Denial {
  return {
    layer: "scope",
    reason: "permission_denied",
    ruleId: `ANALYSE:${tool}`,
    message: `\`${tool}\` asked for the network to \`${host}\`, which its analysis did not name; tell the tool's author`,
  };
}
