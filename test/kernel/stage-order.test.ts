/**
 * The order of the stages: a call that breaks many rules is refused by the earliest, and each refusal has its own code.
 */
import { expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import { ToolFailure } from "../../src/model/outcome/failure.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import {
  type MemoryKernel,
  type MemoryKernelOptions,
  memoryKernel,
  START_MS,
  testTool,
} from "../support/memory-kernel.ts";

/**
 * What is wrong with a call, from the first stage to the last, and what answers it as long as nothing before is wrong.
 */
const STAGES = [
  ["an empty request id", "validate", "validation_failed", "INV-0001"],
  ["closed master gate", "gates", "tools_disabled", "GATE:master"],
  ["tool switched off by the operator", "gates", "tool_not_allowed", "GATE:probe"],
  ["wrong token", "authenticate", "session_invalid", "SESSION:invalid"],
  ["revoked session", "authenticate", "session_revoked", "SESSION:revoked"],
  ["frozen session", "authenticate", "session_frozen", "SESSION:frozen"],
  ["expired session", "authenticate", "session_expired", "SESSION:expired"],
  ["arguments that do not fit", "call", "tool_input_invalid", "SCHEMA:probe"],
  ["another role required", "scope", "permission_denied", "RBAC:probe"],
  ["expired lease", "scope", "lease_expired", "LEASE:lea_test"],
  ["lease for other tools", "scope", "lease_scope", "LEASE:lea_test"],
  ["unknown mode", "scope", "tool_not_allowed", "MODE:strict"],
  ["unknown skill", "scope", "skill_tool_not_allowed", "SKILL:docs"],
  ["tool switched off in the workspace", "scope", "tool_not_allowed", "WORKSPACE:probe"],
  ["a path in a secret zone", "workspace", "workspace_blocked_zone", "ZONE:secret"],
  ["lease for other paths", "scope", "lease_scope", "LEASE:lea_test"],
  ["a forbidding policy", "policy", "probe_denied", "test.forbid"],
  ["data that would leave", "flow", "flow_sensitive_egress", "FC-2"],
  ["a dedupe key of another call", "error", "DEDUPE_CONFLICT", "dev.write-own,test.permit"],
  ["calls that come too fast", "error", "RATE_LIMITED", "dev.write-own,test.permit"],
  ["a tool that needs arming", "gates", "tool_requires_arming", "CAPABILITY:probe"],
  ["a tool that asks", "approval", "tool_approval_required", "CAPABILITY:probe"],
  ["a lease with nothing left", "budget", "budget_exceeded", "LEASE:lea_test"],
  ["a ledger that takes no intent", "error", "LEDGER_UNAVAILABLE", "dev.write-own,test.permit"],
  ["a session revoked while the intent was recorded", "authenticate", "session_revoked", "SESSION:revoked"],
  ["a tool that fails", "error", "IO_ERROR", "dev.write-own,test.permit"],
] as const;

type Wrong = (typeof STAGES)[number][0];

const PERMIT = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);\n`;
const FORBID = `@id("test.forbid")\n@message("m")\nforbid (principal, action == Handrail::Action::"probe", resource);\n`;

/** One call with everything in `wrong` wrong at the same time. */
async function callWith(wrong: ReadonlySet<Wrong>): Promise<CallResponse> {
  const ran: boolean[] = [];
  const isWrong = (name: Wrong) => wrong.has(name);
  const kernel = await memoryKernel(optionsFor(isWrong, () => void ran.push(true)));
  await kernel.sessions.updateLease(kernel.lease.id, { expiresAtMs: START_MS + (isWrong("expired lease") ? -1 : 1) });
  kernel.ledger.before = async (event) => {
    if (event.type !== "tool_selected") return;
    if (isWrong("a ledger that takes no intent")) throw new KernelError("LEDGER_UNAVAILABLE", "the disk is full");
    if (isWrong("a session revoked while the intent was recorded"))
      await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: START_MS });
  };
  await keepAnother(kernel);
  if (isWrong("calls that come too fast"))
    kernel.paced.take = async () => ({ kind: "empty", key: "session:one", retryAfterMs: 5 });
  if (isWrong("data that would leave"))
    await kernel.marks.raiseMark(
      kernel.session,
      { initial: INITIAL_MARK, seen: { trustLevel: "user", dataClass: "sensitive" } },
      START_MS,
    );
  const response = await kernel.call(
    "probe",
    isWrong("arguments that do not fit") ? { path: 7 } : { path: pathFor(isWrong) },
    {
      requestId: isWrong("an empty request id") ? "" : "one",
      token: isWrong("wrong token") ? `${kernel.session.id}.guess` : kernel.token,
      ...(isWrong("a dedupe key of another call") && { dedupeKey: "key" }),
    },
  );
  expect(ran.length).toBe(wrong.size === 0 || (wrong.size === 1 && isWrong("a tool that fails")) ? 1 : 0);
  return response;
}

/** Has the store hold the answer of another call under the key. */
async function keepAnother({ kept, session }: MemoryKernel): Promise<void> {
  const key = { sessionId: session.id, dedupeKey: "key" };
  await kept.claim({ ...key, call: new Uint8Array(32), holder: "ins_other", nowMs: START_MS, forgetBeforeMs: 0 });
  await kept.keep(key, "ins_other", { text: "{}", bytes: new Uint8Array(), nowMs: START_MS });
}

function pathFor(isWrong: (name: Wrong) => boolean): string {
  return isWrong("a path in a secret zone") ? ".env" : "a.txt";
}

function optionsFor(isWrong: (name: Wrong) => boolean, onRun: () => void): MemoryKernelOptions {
  const capability = {
    approval: { level: isWrong("a tool that asks") ? "ask" : "auto" },
    requiresArming: isWrong("a tool that needs arming"),
    ...(isWrong("another role required") && { requiredRole: "sre" }),
  } as const;
  const execute = () => {
    onRun();
    if (isWrong("a tool that fails")) throw new ToolFailure("IO_ERROR", "it broke", "mend it");
    return { kind: "data", data: {} } as const;
  };
  const effect = isWrong("data that would leave") ? "network" : "write";
  const analyse = () => [{ resource: { kind: "file", path: pathFor(isWrong) }, effect } as const];
  return {
    tools: [testTool("probe", execute, capability, analyse)],
    settings: {
      toolsEnabled: !isWrong("closed master gate"),
      limits: { id: "test", rates: { session: { callsPerMinute: 600, burst: 10 }, tools: new Map() } },
      disabledTools: new Set(isWrong("tool switched off by the operator") ? ["probe"] : []),
    },
    session: {
      ...(isWrong("revoked session") && { revokedAtMs: START_MS }),
      ...(isWrong("frozen session") && { frozenAtMs: START_MS }),
      ...(isWrong("expired session") && { expiresAtMs: START_MS }),
      ...(isWrong("unknown mode") && { mode: "strict" }),
      ...(isWrong("unknown skill") && { skill: "docs" }),
    },
    scope: {
      tools: isWrong("lease for other tools") ? [["read_file"]] : [],
      writePaths: isWrong("lease for other paths") ? [["docs/**"]] : [],
    },
    budget: isWrong("a lease with nothing left") ? { calls: 0 } : {},
    workspaceDisabled: isWrong("tool switched off in the workspace") ? ["probe"] : [],
    policies: PERMIT + (isWrong("a forbidding policy") ? FORBID : ""),
  };
}

/** Where the call ended, why, and by which rule. */
function endOf({ outcome, rules }: CallResponse): readonly unknown[] {
  if (outcome.kind === "denied") return [outcome.denial.layer, outcome.denial.reason, outcome.denial.ruleId];
  return outcome.kind === "error" ? ["error", outcome.code, rules.join()] : ["success", undefined, rules.join()];
}

test.each(STAGES)("%s is refused before everything that comes after: %s, %s by %s", async (...stage) => {
  const [, ...expected] = stage;
  const wrong = new Set(STAGES.slice(STAGES.findIndex(([name]) => name === stage[0])).map(([name]) => name));
  expect(endOf(await callWith(wrong))).toEqual(expected);
});

test.each(STAGES)("%s alone is refused all the same: %s, %s by %s", async (name, ...expected) => {
  expect(endOf(await callWith(new Set([name])))).toEqual(expected);
});

test("the same call with nothing wrong runs", async () => {
  expect(endOf(await callWith(new Set()))).toEqual(["success", undefined, "dev.write-own,test.permit"]);
});
