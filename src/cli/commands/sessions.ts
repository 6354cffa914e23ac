/** `handrail sessions` and `handrail leases`: the operator makes, lists, narrows and ends them. */
import type { Command } from "commander";
import { type Lease, type LeaseScope, UNRESTRICTED_SCOPE } from "../../model/lease.ts";
import type { Session } from "../../model/session.ts";
import { currentUser, parseDuration } from "../inputs.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../kernel-options.ts";
import { print, printJson, table, visible } from "../output.ts";

interface ScopeFlags {
  readonly tools?: string[];
  readonly read?: string[];
  readonly write?: string[];
}

interface CreateFlags extends KernelFlags, ScopeFlags {
  readonly workspace: string;
  readonly project?: string;
  readonly role?: string;
  readonly preset?: string;
  readonly agent: string;
  readonly lifetime?: string;
  readonly lease?: string;
  readonly json?: boolean;
}

/** Adds `handrail sessions`. */
export function addSessionsCommand(program: Command): void {
  const sessions = program.command("sessions").description("make, list and revoke sessions");
  const create = sessions
    .command("create")
    .description("make a session and show its token once")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--project <directory>", "project root that holds the workspace")
    .option("--role <role>", "role of the session (default: dev)")
    .option("--preset <name>", "reader, dev, autonomous, meao, brio or open")
    .option("--agent <name>", "agent name for the evidence", "agent")
    .option("--lifetime <duration>", "such as 8h (default: 12h)")
    .option("--lease <id>", "act under an existing lease, narrowed by --tools, --read and --write")
    .option("--json", "print JSON");
  withKernelOptions(withScopeOptions(create)).action(createSession);
  withKernelOptions(sessions.command("list").description("list sessions, newest first").option("--json", "print JSON")).action(
    (flags: CreateFlags) => withKernel(flags, async (kernel) => showSessions(await kernel.administration.listSessions(), flags.json)),
  );
  withKernelOptions(sessions.command("revoke <id>").description("end a session for good").option("--json", "print JSON")).action(
    (id: string, flags: CreateFlags) =>
      withKernel(flags, async (kernel) => showSessions([await kernel.administration.revokeSession(id)], flags.json)),
  );
}

/** Adds `handrail leases`. */
export function addLeasesCommand(program: Command): void {
  const leases = program.command("leases").description("list, derive, renew and release leases");
  withKernelOptions(leases.command("list").description("list leases, newest first").option("--json", "print JSON")).action(
    (flags: CreateFlags) => withKernel(flags, async (kernel) => showLeases(await kernel.administration.listLeases(), flags.json)),
  );
  const derive = leases
    .command("derive <parent>")
    .description("make a narrower lease from another")
    .requiredOption("--lifetime <duration>", "such as 1h")
    .option("--json", "print JSON");
  withKernelOptions(withScopeOptions(derive)).action((parent: string, flags: CreateFlags) =>
    withKernel(flags, async (kernel) =>
      showLeases([await kernel.administration.deriveLease(parent, scopeOf(flags), parseDuration(flags.lifetime ?? ""))], flags.json),
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
  withKernelOptions(leases.command("release <id>").description("give a lease back").option("--json", "print JSON")).action(
    (id: string, flags: CreateFlags) =>
      withKernel(flags, async (kernel) => showLeases([await kernel.administration.releaseLease(id)], flags.json)),
  );
}

function withScopeOptions(command: Command): Command {
  return command
    .option("--tools <names...>", "tools that the lease covers (default: all)")
    .option("--read <globs...>", "paths that may be read, from the workspace root or @project/ (default: all)")
    .option("--write <globs...>", "paths that may be written (default: all)");
}

function scopeOf(flags: ScopeFlags): LeaseScope {
  const only = (patterns: readonly string[] | undefined) => (patterns === undefined ? [] : [patterns]);
  return { ...UNRESTRICTED_SCOPE, tools: only(flags.tools), readPaths: only(flags.read), writePaths: only(flags.write) };
}

async function createSession(flags: CreateFlags): Promise<void> {
  await withKernel(flags, async (kernel) => {
    const { session, token } = await kernel.administration.createSession({
      workspace: flags.workspace,
      ...(flags.project !== undefined && { projectRoot: flags.project }),
      ...(flags.role !== undefined && { role: flags.role }),
      ...(flags.preset !== undefined && { preset: flags.preset }),
      ...(flags.lifetime !== undefined && { lifetimeMs: parseDuration(flags.lifetime) }),
      ...(flags.lease !== undefined && { leaseId: flags.lease }),
      userId: currentUser(),
      agentId: flags.agent,
      scope: scopeOf(flags),
      askedBy: "operator",
    });
    if (flags.json) return printJson({ ...publicSession(session), token });
    print(
      `session  ${session.id}\nlease    ${session.leaseId}\nexpires  ${new Date(session.expiresAtMs).toISOString()}\ntoken    ${token}\n\nthe token is shown this once; only its hash is stored`,
    );
  });
}

function publicSession(session: Session): object {
  const { tokenHash: _never, ...shown } = session;
  return shown;
}

function stateOf(session: Session): string {
  if (session.revokedAtMs !== undefined) return "revoked";
  if (session.frozenAtMs !== undefined) return "frozen";
  return Date.now() >= session.expiresAtMs ? "expired" : "active";
}

function showSessions(sessions: readonly Session[], json: boolean | undefined): void {
  if (json) {
    printJson(sessions.map(publicSession));
    return;
  }
  const rows = sessions.map((session) => [
    session.id,
    stateOf(session),
    session.role,
    session.preset,
    visible(session.agentId),
    visible(session.serviceRoot),
  ]);
  print(table([["SESSION", "STATE", "ROLE", "PRESET", "AGENT", "WORKSPACE"], ...rows]));
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
    visible(JSON.stringify(lease.scope.tools)),
  ]);
  print(table([["LEASE", "STATE", "PARENT", "EXPIRES", "TOOLS"], ...rows]));
}

function leaseState(lease: Lease): string {
  if (lease.releasedAtMs !== undefined) return "released";
  return Date.now() >= lease.expiresAtMs ? "expired" : "active";
}
