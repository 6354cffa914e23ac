/** `handrail sessions` and `handrail leases`: the operator makes, lists, narrows and ends them. */

import type { Command } from "commander";
import type { Lease } from "../../model/people/lease.ts";
import { agentLabel, type Session } from "../../model/people/session.ts";
import { printBudget } from "../../model/spending/budget-text.ts";
import {
  AS_OPERATOR,
  operatorOf,
  type ServingFlags,
  UNUSUAL,
  withKernel,
  withKernelOptions,
} from "../start/kernel-options.ts";
import { SCOPE_FLAGS, type ScopeFlags, scopeOf, withScopeOptions } from "../start/lease-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { currentUser, parseDuration } from "../terminal/inputs.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";
import { addSessionFreezeCommands, publicSession } from "./session-freezes.ts";

interface CreateFlags extends ServingFlags, SessionFlags, ScopeFlags {
  readonly agent: string;
  readonly asOperator?: boolean;
  readonly lifetime?: string;
  readonly lease?: string;
  readonly json?: boolean;
}

/** Adds `handrail sessions`. */
export function addSessionsCommand(program: Command): void {
  const sessions = program.command("sessions").description("make, list, freeze, review and revoke sessions");
  const made = sessions.command("create").description("make a session and show its token once");
  const create = withSessionOptions(made, { role: "role of the session (default: dev)" })
    .option("--agent <name>", "agent name for the evidence", "agent")
    .option(...AS_OPERATOR)
    .option("--lifetime <duration>", "such as 8h (default: 12h)")
    .option("--lease <id>", "act under an existing lease, narrowed by what else is said")
    .option(...UNUSUAL)
    .option("--json", "print JSON");
  withKernelOptions(withScopeOptions(create)).action(createSession);
  withKernelOptions(
    sessions.command("list").description("list sessions, newest first").option("--json", "print JSON"),
  ).action((flags: CreateFlags) =>
    withKernel(flags, async ({ administration, arming }) =>
      showSessions(await administration.listSessions(), flags.json, await arming.list()),
    ),
  );
  withKernelOptions(
    sessions.command("revoke <id>").description("end a session for good").option("--json", "print JSON"),
  ).action((id: string, flags: CreateFlags) =>
    withKernel(flags, async (kernel) => showSessions([await kernel.administration.revokeSession(id)], flags.json)),
  );
  addSessionFreezeCommands(sessions);
}

/** Adds `handrail leases`. */
export function addLeasesCommand(program: Command): void {
  const leases = program.command("leases").description("make, list, derive, renew and release leases");
  withKernelOptions(
    leases.command("list").description("list leases, newest first").option("--json", "print JSON"),
  ).action((flags: CreateFlags) =>
    withKernel(flags, async (kernel) => showLeases(await kernel.administration.listLeases(), flags.json)),
  );
  const create = leases
    .command("create")
    .description("make a lease that sessions can be made under (`handrail sessions create --lease`)")
    .requiredOption("--lifetime <duration>", "such as 1h")
    .option("--json", "print JSON");
  withKernelOptions(withScopeOptions(create)).action((flags: CreateFlags) =>
    withKernel(flags, async ({ administration }) =>
      showLeases(
        [await administration.createLease(scopeOf(flags), parseDuration(flags.lifetime ?? ""), flags.budget)],
        flags.json,
      ),
    ),
  );
  const derive = leases
    .command("derive <parent>")
    .description("make a narrower lease from another")
    .requiredOption("--lifetime <duration>", "such as 1h")
    .option("--json", "print JSON");
  withKernelOptions(withScopeOptions(derive)).action((parent: string, flags: CreateFlags) =>
    withKernel(flags, async (kernel) =>
      showLeases(
        [
          await kernel.administration.deriveLease(parent, {
            scope: scopeOf(flags),
            lifetimeMs: parseDuration(flags.lifetime ?? ""),
            budget: flags.budget,
          }),
        ],
        flags.json,
      ),
    ),
  );
  withKernelOptions(
    leases
      .command("renew <id>")
      .description("extend a lease")
      .requiredOption("--lifetime <duration>", "such as 1h")
      .option("--json", "print JSON"),
  ).action((id: string, flags: CreateFlags) =>
    withKernel(flags, async (kernel) =>
      showLeases([await kernel.administration.renewLease(id, parseDuration(flags.lifetime ?? ""))], flags.json),
    ),
  );
  withKernelOptions(
    leases.command("release <id>").description("give a lease back").option("--json", "print JSON"),
  ).action((id: string, flags: CreateFlags) =>
    withKernel(flags, async (kernel) => showLeases([await kernel.administration.releaseLease(id)], flags.json)),
  );
}

async function createSession(flags: CreateFlags): Promise<void> {
  await withKernel(flags, async (kernel) => {
    const { session, token } = await kernel.administration.createSession({
      ...(await operatorOf(flags, kernel)),
      ...wishOf(flags),
      ...(flags.lifetime !== undefined && { lifetimeMs: parseDuration(flags.lifetime) }),
      ...(flags.lease !== undefined && { leaseId: flags.lease }),
      userId: currentUser(),
      agentId: flags.agent,
      scope: scopeOf(flags),
      ...(flags.budget !== undefined && { budget: flags.budget }),
    });
    if (flags.json) return printJson({ ...publicSession(session), token });
    print(
      `session  ${session.id}\nlease    ${session.leaseId}\nexpires  ${new Date(session.expiresAtMs).toISOString()}\ntoken    ${token}\n\nthe token is shown this once; only its hash is stored`,
    );
  });
}

type Armings = Awaited<ReturnType<import("../../server/compose.ts").OpenKernel["arming"]["list"]>>;

/** The longest of the armings that cover the session. */
function armedOf({ id }: Session, armings: Armings): { readonly armedUntil?: string } {
  const covering = armings.filter(({ sessionId }) => sessionId === undefined || sessionId === id);
  if (covering.length === 0) return {};
  return { armedUntil: new Date(Math.max(...covering.map(({ untilMs }) => untilMs))).toISOString() };
}

function stateOf(session: Session): string {
  if (session.revokedAtMs !== undefined) return "revoked";
  if (session.frozenAtMs !== undefined) return "frozen";
  return Date.now() >= session.expiresAtMs ? "expired" : "active";
}

function showSessions(sessions: readonly Session[], json: boolean | undefined, armings: Armings = []): void {
  if (json) {
    printJson(sessions.map((session) => ({ ...publicSession(session), ...armedOf(session, armings) })));
    return;
  }
  const rows = sessions.map((session) => [
    session.id,
    stateOf(session),
    armedOf(session, armings).armedUntil ?? "-",
    session.role,
    session.preset,
    session.skill === undefined ? session.mode : `${session.mode}+${session.skill}`,
    visible(agentLabel(session)),
    visible(session.serviceRoot),
  ]);
  print(table([["SESSION", "STATE", "ARMED UNTIL", "ROLE", "PRESET", "MODE", "AGENT", "WORKSPACE"], ...rows]));
}

function showLeases(leases: readonly Lease[], json: boolean | undefined): void {
  if (json) {
    printJson(leases);
    return;
  }
  const rows = leases.map((lease) => [
    lease.id,
    leaseState(lease),
    lease.parentId ?? "-",
    new Date(lease.expiresAtMs).toISOString(),
    printBudget(lease.budget),
    visible(shownScope(lease.scope)),
  ]);
  print(table([["LEASE", "STATE", "PARENT", "EXPIRES", "BUDGET", "ONLY"], ...rows]));
}

/** What the lease is restricted to, by the flags that say it. */
function shownScope(scope: Lease["scope"]): string {
  const parts = SCOPE_FLAGS.flatMap(({ flag, dimension }) =>
    scope[dimension].map((patterns) => `${flag}=${patterns.join(",") || "none"}`),
  );
  return parts.length === 0 ? "-" : parts.join(" ");
}

function leaseState(lease: Lease): string {
  if (lease.releasedAtMs !== undefined) return "released";
  return Date.now() >= lease.expiresAtMs ? "expired" : "active";
}
