/** Opens what commands that stop and review agents need, and reads whom they mean. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { defaultStatePath } from "../../server/operator/operator-directory.ts";
import type { Freeze, FreezeDesk, FreezeTarget } from "../../server/people/freeze-desk.ts";
import { visible } from "../terminal/output.ts";

/** Options of every such command. */
export interface DeskFlags {
  readonly state?: string;
  readonly reason: string;
  readonly json?: boolean;
}

/** Adds `--state`, `--reason` and `--json`. */
export function withDeskOptions(command: Command): Command {
  return command
    .option("--reason <text>", "why, for the record", "")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON");
}

/** The state directory that the options name. */
export function stateDirectoryOf({ state }: Pick<DeskFlags, "state">): string {
  return state === undefined ? defaultStatePath(process.env) : resolve(state);
}

/** Opens the desk, works at it, and closes it whatever happens. */
export async function withDesk<T>(flags: Pick<DeskFlags, "state">, work: (desk: FreezeDesk) => Promise<T>): Promise<T> {
  const { openFreezeDesk } = await import("../../server/people/freeze-desk.ts");
  const desk = await openFreezeDesk(stateDirectoryOf(flags));
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

/** Whom `--all`, `--session`, `--principal` and `--workspace` mean. */
export interface TargetFlags {
  readonly all?: boolean;
  readonly session?: string;
  readonly principal?: string;
  readonly workspace?: string;
}

/** Adds the options that name whom to stop or to resume. */
export function withTargetOptions(command: Command): Command {
  return command
    .option("--all", "everybody, in every workspace")
    .option("--session <id>", "the agent of this session, in its workspace, whatever session it uses")
    .option("--principal <user/agent>", "this agent, in every workspace unless one is named")
    .option("--workspace <directory>", "with --principal: only in this workspace");
}

/** The target that the options name. @throws KernelError USAGE when they name none or several */
export async function targetOf(
  desk: FreezeDesk,
  { all, session, principal, workspace }: TargetFlags,
): Promise<FreezeTarget> {
  const named = [all === true, session !== undefined, principal !== undefined].filter(Boolean).length;
  if (named !== 1) throw usageError("say whom: one of `--all`, `--session ID` and `--principal USER/AGENT`");
  if (workspace !== undefined && principal === undefined)
    throw usageError("`--workspace` goes together with `--principal`");
  if (all) return { scope: "all" };
  if (session !== undefined) return desk.freezes.targetOf(session);
  const [userId = "", agentId = "", ...more] = (principal ?? "").split("/");
  if (userId === "" || agentId === "")
    throw usageError(`\`${principal}\` names no agent; write USER/AGENT, as \`labels list\` does`);
  const who = { userId, agentId: [agentId, ...more].join("/").replace(/(?<=.)#\d+$/, "") }; // a process of the agent
  if (workspace === undefined) return { scope: "principal", ...who };
  const { workspaceDirectory } = await import("../../server/workspace/workspace-catalog.ts");
  return { scope: "workspace", ...who, serviceRoot: workspaceDirectory(workspace) };
}

/** Whom a freeze holds, in words. */
export function targetName(target: FreezeTarget): string {
  if (target.scope === "all") return "everybody";
  const who = visible(`${target.userId}/${target.agentId}`);
  return target.scope === "principal" ? `${who} in every workspace` : `${who} in ${visible(target.serviceRoot)}`;
}

/** One line about a freeze. */
export function freezeLine({ target, cause, reason, by, atMs }: Freeze): string {
  const why = reason === "" ? "" : `: ${visible(reason)}`;
  return `${targetName(target)}  frozen since ${new Date(atMs).toISOString()} by ${cause === "alert" ? "the alarm" : visible(by)}${why}`;
}
