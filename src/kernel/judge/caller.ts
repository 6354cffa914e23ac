/**
 * Loads the caller with everything that decisions look at.
 *
 * That is the session, the lease, the workspace, and the mark of what was seen before, besides arming and the
 * operator's gates.
 */
import { KernelError } from "../../base/errors.ts";
import { ARMING_MAX_MS } from "../../base/limits.ts";
import { INITIAL_MARK } from "../../flow/flow.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { Session } from "../../model/people/session.ts";
import type { Branch } from "../../model/place/branch.ts";
import type { Authenticated } from "../../session/session.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Caller } from "../call/stages.ts";

/** The caller behind an authenticated session, as things are now. */
export async function callerOf(parts: KernelParts, { session, lease }: Authenticated): Promise<Caller> {
  const branch = await branchOf(parts, session);
  const opened = await parts.workspaces.open(session);
  const place = parts.scratch?.beside(opened, session) ?? opened;
  const mark = await markOf(parts, session);
  const armed = await isArmed(parts, session);
  const isSandboxed = parts.sandbox.backend() !== "none";
  return { session, lease, place, ...(branch && { branch }), mark, armed, isSandboxed, gates: parts.settings.gates };
}

/** The branch that the session works on. @throws KernelError WORKSPACE_BUSY while it is merged or dropped */
async function branchOf(
  { branches }: Pick<KernelParts, "branches">,
  { branchId }: Session,
): Promise<Branch | undefined> {
  if (branchId === undefined) return undefined;
  const branch = await branches?.find(branchId);
  if (branch !== undefined && branches?.isFree(branch) === true) return branch;
  throw new KernelError("WORKSPACE_BUSY", "the branch of this session is being merged or dropped right now");
}

/**
 * Whether calls of the session that need arming may run now. One that seems to last longer than any may was made before
 * a clock went back.
 */
export async function isArmed(
  { settings, armings, clock }: Pick<KernelParts, "settings" | "armings" | "clock">,
  session: Session,
): Promise<boolean> {
  if (settings.armed) return true;
  const leftMs = (await armings.findArmedUntil(session.id)) - clock.nowMs();
  return leftMs > 0 && leftMs <= ARMING_MAX_MS;
}

/** What the session's principal has seen in its workspace. */
export async function markOf(parts: Pick<KernelParts, "marks">, session: Session): Promise<Mark> {
  return (await parts.marks.findMark(session)) ?? INITIAL_MARK;
}
