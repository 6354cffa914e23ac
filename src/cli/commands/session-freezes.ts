/** `handrail sessions freeze|review|resume`: the operator holds a session, looks at what it did, and lets it go on. */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { agentLabel, type Session } from "../../model/people/session.ts";
import type { SecurityEvent } from "../../server/ledger/audit-stream.ts";
import type { ReviewedCall, SessionReview } from "../../server/people/session-review.ts";
import { type DeskFlags, freezeLine, stateDirectoryOf, withDesk, withDeskOptions } from "../start/freeze-options.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, visible } from "../terminal/output.ts";
import { auditLine } from "./audit.ts";

/** Adds the three to `handrail sessions`. */
export function addSessionFreezeCommands(sessions: Command): void {
  withDeskOptions(
    sessions
      .command("freeze <id>")
      .description("hold one session, and end what it runs; its agent may use another one"),
  ).action((id: string, flags: DeskFlags) =>
    withDesk(flags, async ({ freezes }) =>
      showOne(await freezes.freezeSession(id, actOf(flags)), "frozen", flags.json),
    ),
  );
  withDeskOptions(
    sessions
      .command("review [id]")
      .description("what is frozen; of a session: why, its violations, its last calls, what it has seen"),
  ).action((id: string | undefined, flags: DeskFlags) => (id === undefined ? reviewAll(flags) : reviewOne(id, flags)));
  withDeskOptions(
    sessions
      .command("resume <id>")
      .description("let a frozen session and its agent go on in their workspace; violations are counted anew"),
  ).action(resume);
}

function actOf({ reason }: DeskFlags) {
  return { by: currentUser(), reason };
}

/** The session as people are shown it: without the hash of its token. */
export function publicSession({ tokenHash: _never, ...shown }: Session): object {
  return shown;
}

function showOne(session: Session, state: string, json: boolean | undefined): void {
  if (json) printJson(publicSession(session));
  else
    print(
      `${session.id}  ${state}  ${visible(`${session.userId}/${agentLabel(session)}`)}  ${visible(session.serviceRoot)}`,
    );
}

async function resume(id: string, flags: DeskFlags): Promise<void> {
  await withDesk(flags, async ({ freezes }) => {
    const { session, lifted, remaining } = await freezes.resumeSession(id, actOf(flags));
    if (flags.json) return printJson({ session: publicSession(session), lifted, ...(remaining && { remaining }) });
    showOne(session, remaining === undefined ? "resumed" : "still frozen", false);
    if (remaining !== undefined)
      print(`a wider freeze holds it: ${freezeLine(remaining)}; lift that with \`handrail resume\``);
  });
}

async function reviewAll(flags: DeskFlags): Promise<void> {
  await withDesk(flags, async ({ freezes, sessions }) => {
    const held = await freezes.listFreezes();
    const frozen = (await sessions.listSessions()).filter(
      ({ frozenAtMs, revokedAtMs }) => frozenAtMs !== undefined && revokedAtMs === undefined,
    );
    if (flags.json) return printJson({ freezes: held, sessions: frozen.map(publicSession) });
    if (held.length + frozen.length === 0) print("nothing is frozen");
    for (const freeze of held) print(freezeLine(freeze));
    for (const session of frozen) showOne(session, "frozen", false);
  });
}

async function reviewOne(id: string, flags: DeskFlags): Promise<void> {
  const { withLedgerReader } = await import("../../server/ledger/ledger-reader.ts");
  const { reviewSession } = await import("../../server/people/session-review.ts");
  await withDesk(flags, async (desk) => {
    const session = await desk.sessions.findSession(id);
    if (session === undefined) throw usageError(`there is no session \`${id}\`; \`handrail sessions list\` shows them`);
    await withLedgerReader(stateDirectoryOf(flags), async (reader) => {
      const review = await reviewSession({ ...desk, reader }, session, Date.now());
      if (flags.json) printJson({ ...review, session: publicSession(session) });
      else printReview(review);
    });
  });
}

function printReview({ session, freeze, mark, liveSessions, violations, calls }: SessionReview): void {
  const state =
    session.revokedAtMs !== undefined
      ? "revoked"
      : session.frozenAtMs === undefined
        ? "not frozen itself"
        : "frozen itself";
  print(`session     ${session.id}, ${state}`);
  print(
    `agent       ${visible(`${session.userId}/${agentLabel(session)}`)}, role ${session.role}, preset ${session.preset}`,
  );
  print(`workspace   ${visible(session.serviceRoot)}`);
  print(`freeze      ${freeze === undefined ? "none" : freezeLine(freeze)}`);
  print(`has seen    ${mark === undefined ? "nothing yet" : `trust ${mark.trustLevel}, class ${mark.dataClass}`}`);
  print(`sessions    ${liveSessions.length === 0 ? "none is live" : liveSessions.join(" ")}`);
  print(`\nviolations, the last ${violations.length}`);
  for (const violation of violations) print(violationLine(violation));
  print(`\ncalls, the last ${calls.length}`);
  for (const call of calls) print(callLine(call));
}

function violationLine(violation: SecurityEvent): string {
  return `  ${auditLine(violation)}`;
}

function callLine({ sequence, timestamp, event, tool, accesses, problem }: ReviewedCall): string {
  const what = accesses.map((access) => JSON.stringify(access)).join(" ");
  return `  ${String(sequence).padStart(6)}  ${timestamp}  ${event.padEnd(22)} ${visible(tool)} ${problem === undefined ? "ok" : visible(problem)} ${visible(what)}`;
}
