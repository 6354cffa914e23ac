/**
 * What each stage of the pipeline costs for a 4 KB read: its exported function alone, with the inputs it has in a real
 * call, beside the whole call through the kernel's door. The stages of the transports are there too; the whole call
 * does not contain those, so that the shares do not add up to one.
 */
import { create } from "@bufbuild/protobuf";
import { systemRandom } from "../../src/base/ids.ts";
import { ToolRequestSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { finishResult } from "../../src/kernel/answer/result.ts";
import { RunRecord } from "../../src/kernel/call/run-record.ts";
import { decode } from "../../src/kernel/call/submission.ts";
import { analyse } from "../../src/kernel/judge/analyse.ts";
import { evaluateAccesses } from "../../src/kernel/judge/decide.ts";
import { checkMasterGate } from "../../src/kernel/judge/gates.ts";
import { checkScope } from "../../src/kernel/judge/scope.ts";
import { runTool } from "../../src/kernel/run.ts";
import { chainEntries, GENESIS_HASH, pendingEntry } from "../../src/ledger/chain.ts";
import type { LedgerEvent } from "../../src/model/outcome/event.ts";
import { ToolFailure } from "../../src/model/outcome/failure.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import { authenticate } from "../../src/session/session.ts";
import { readFile } from "../../src/tools/file/file-tools.ts";
import { type CallResult, resultOf } from "../../src/transports/mcp/answers/call-result.ts";
import { printAnswer } from "../../src/transports/mcp/answers/print-result.ts";
import { validateRequest } from "../../src/validate/validate.ts";
import { decodeRequest, encodeRequest, encodeResponse, toToolCall, toWireResponse } from "../../src/wire/protobuf.ts";
import { interleave, microsecondsEach, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { type BareKernel, openBareKernel } from "./bare-kernel.ts";
import { stageCall } from "./running-call.ts";

const CHAIN_BATCH = 64;

interface Stage {
  readonly id: string;
  readonly what: string;
  /** Microseconds of one call, from `count` calls. */
  readonly measure: (count: number) => number | Promise<number>;
}

/** The figures. */
export async function measureStages(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("stages", 200);
  await using kernel = await openBareKernel(playground.directory("state-stages"), path);
  const call = (index: number) =>
    ({
      kind: "call",
      requestId: `bench-${index}`,
      sessionToken: kernel.token,
      tool: "read_file",
      arguments: { path: files[index % files.length] },
    }) as const;
  const { signal } = new AbortController();
  const whole = (count: number) => microsecondsEachAwaited(count, (index) => kernel.door.execute(call(index), signal));
  const stages = [...(await kernelStages(kernel, call)), ...(await edgeStages(kernel, call, files))];
  const rows: Row[] = [];
  await whole(effort.calls);
  for (const { id, what, measure } of stages) {
    await measure(effort.calls);
    const subject = {
      id: `stage-${id}`,
      what,
      peer: "the whole 4 KB read through the door",
      unit: "µs",
      better: "lower",
    } as const;
    const count = Math.ceil(effort.calls / 4);
    rows.push(
      await interleave(
        subject,
        effort.rounds,
        () => measure(count),
        () => whole(count),
      ),
    );
  }
  return rows;
}

type Call = (index: number) => Extract<Parameters<typeof decode>[0], { kind: "call" }>;

/** The stages inside the door, in their order. */
async function kernelStages(kernel: BareKernel, call: Call): Promise<readonly Stage[]> {
  const { parts, policy } = kernel;
  const { kernel: staged, who, analysis, running } = await stageCall(kernel, call(0));
  const { caller, tool, demands, accesses, receivedAtMs: nowMs, look } = running;
  const { signal } = new AbortController();
  const ran = await runTool(staged, running, { signal });
  if (ran.kind !== "output") throw new Error("the read of the stages failed");
  const clean = await finishResult({ parts, running }, ran.output, signal);
  if (clean instanceof ToolFailure) throw new Error("the result of the stages was refused");
  return [
    awaited("receive", "envelope: validate a call by name", async (index) => (await decode(call(index))).validate()),
    plain("gate", "master gate", () => checkMasterGate(parts.settings, "read_file")),
    awaited("authenticate", "authenticate: session, token hash, lease", () =>
      authenticate(parts.sessions, kernel.token, nowMs),
    ),
    awaited("workspace", "workspace of the session", () => parts.workspaces.open(who.session)),
    plain("analyse", "analyse: schema and accesses", () => analyse(tool, running.call, look)),
    plain("scope", "scope: lease, role, mode, path, zone", () => checkScope({ caller, tool, nowMs }, analysis)),
    plain("policy", "policy: describe, key, remembered decision", () =>
      evaluateAccesses({ policy, caller, tool, nowMs, demands }, accesses),
    ),
    plain("policy-plain", "policy without memo and slices", () => policy.evaluatePlainly(policyQuestion())),
    awaited("run", "run: contained open and read of 4 KB", () =>
      runTool(staged, { ...running, run: new RunRecord() }, { signal }),
    ),
    plain("clean", "redact, bound, label", () => finishResult({ parts, running }, ran.output, signal)),
    awaited("evidence", "evidence: facts of the outcome", () => staged.evidence.executed(running, clean)),
  ];
}

function policyQuestion() {
  return {
    principal: { sessionId: "ses_bench", workspace: "/w", agent: "bench", user: "bench", role: "dev", mode: "default" },
    action: "read_file",
    tool: "read_file",
    effect: "read",
    resource: { kind: "file", path: "src/same.ts", root: "service", zone: "own" },
    context: { armed: false, trust: "user", dataClass: "internal", network: false, time: 1_800_000_000 },
  } as const;
}

/** What surrounds the door: the two transports, and the ledger on both of its threads. */
async function edgeStages(kernel: BareKernel, call: Call, files: readonly string[]): Promise<readonly Stage[]> {
  const { signal } = new AbortController();
  const response = await kernel.door.execute(call(0), signal);
  const fileRead = { path: files[0] ?? "", offset: 0n, limit: 0n };
  const request = create(ToolRequestSchema, {
    requestId: "bench",
    sessionToken: kernel.token,
    tool: { case: "fileRead", value: fileRead },
  });
  const bytes = encodeRequest(request);
  const raw = await kernel.door.execute({ kind: "wire", bytes }, signal);
  const line = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "read_file", arguments: { path: files[0] } },
  });
  const printed = mcpAnswer(response);
  const event = outcomeEvent(files[0] ?? "");
  const pending = Array.from({ length: CHAIN_BATCH }, () => pendingEntry(event, "buffered"));
  const view = { head: { sequence: 0, hash: GENESIS_HASH }, isOpen: () => true };
  const by = { instanceId: "ins_bench", random: systemRandom };
  return [
    plain("wire-decode", "wire: scan and decode a request", () => decodeRequest(bytes)),
    plain("wire-validate", "wire: validate and map a request", () => [validateRequest(request), toToolCall(request)]),
    plain("wire-encode", "wire: encode an answer of 4 KB", () => encodeResponse(toWireResponse(raw))),
    plain("mcp-parse", "MCP: parse a line", () => JSON.parse(line)),
    plain("mcp-result", "MCP: build the result document", () => mcpAnswer(response)),
    plain("mcp-encode", "MCP: print an answer of 4 KB", () => Buffer.from(printAnswer(1, printed))),
    plain("ledger-send", "ledger: canonical event, main thread", () => pendingEntry(event, "buffered")),
    {
      id: "ledger-chain",
      what: `ledger: encode and chain one of ${CHAIN_BATCH} entries, its own thread`,
      measure: (count) =>
        microsecondsEach(Math.ceil(count / CHAIN_BATCH), () => chainEntries(view, pending, by)) / CHAIN_BATCH,
    },
  ];
}

function mcpAnswer(response: CallResponse): CallResult {
  if (response.outcome.kind !== "success") throw new Error("the read of the stages failed");
  return resultOf(response, readFile);
}

function outcomeEvent(path: string): LedgerEvent {
  const payload = {
    tool: "read_file",
    role: "dev",
    preset: "dev",
    accesses: [{ kind: "file", effect: "read", path }],
    rules: ["dev.read-files"],
    policy: `blake3:${"0".repeat(64)}`,
    args: { path },
    success: true,
    truncated: false,
    secretsFound: 0,
    outputBytes: 4200,
    label: { trustLevel: "verified", dataClass: "internal" },
    executionTime: 0.123,
  };
  return {
    type: "tool_executed",
    sessionId: "ses_0000000000000000000000",
    actor: "bench/bench",
    requestId: "req_0",
    timeMs: Date.now(),
    payload,
  };
}

function plain(id: string, what: string, work: (index: number) => unknown): Stage {
  return { id, what, measure: (count) => microsecondsEach(count, work) };
}

function awaited(id: string, what: string, work: (index: number) => unknown): Stage {
  return { id, what, measure: (count) => microsecondsEachAwaited(count, work) };
}
