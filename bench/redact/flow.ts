/**
 * What labels and flow control cost a call: judging what the principal has seen against each access, what must happen
 * first, labelling the result, and looking whether the mark covers it. Wanted: at most 5 µs together.
 */
import { flowObligations, INITIAL_MARK, judgeFlow } from "../../src/flow/flow.ts";
import { labelResult, NOTHING_FOUND } from "../../src/flow/labels.ts";
import { covers, type Mark } from "../../src/model/outcome/label.ts";
import type { Access } from "../../src/model/place/access.ts";
import type { ToolCapability } from "../../src/model/tool/capability.ts";
import { interleave, microsecondsEach, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const RESULT_CHARACTERS = 4096;

interface FlowCall {
  readonly id: string;
  readonly what: string;
  readonly mark: Mark;
  readonly capability: ToolCapability;
  readonly accesses: readonly Access[];
}

const CALLS: readonly FlowCall[] = [
  {
    id: "flow-read",
    what: "labels and flow of a call that reads a file",
    mark: { trustLevel: "verified", dataClass: "internal" },
    capability: { effect: "read", risk: "low", approval: { level: "auto" }, labels: { outputTrust: "verified" } },
    accesses: [{ resource: { kind: "file", path: "src/a.ts" }, effect: "read" }],
  },
  {
    id: "flow-send",
    what: "labels and flow of a call to one of 16 known hosts, after untrusted content",
    mark: { trustLevel: "untrusted", dataClass: "sensitive" },
    capability: {
      effect: "network",
      risk: "medium",
      approval: { level: "ask" },
      network: {
        mode: "allowlist",
        allowedHosts: Array.from({ length: 16 }, (_, index) => `*.known-${index}.example`),
      },
      labels: { outputTrust: "untrusted" },
    },
    accesses: [{ resource: { kind: "host", host: "api.known-15.example", port: 443 }, effect: "network" }],
  },
];

/** The figures. */
export async function measureFlow(_: Playground, effort: Effort): Promise<readonly Row[]> {
  const answer = { success: true, content: "line of an answer\n".repeat(RESULT_CHARACTERS / 18), label: INITIAL_MARK };
  const count = effort.calls * 10;
  const rows: Row[] = [];
  for (const call of CALLS) {
    const { id, what } = call;
    const subject = { id, what, peer: "printing an answer of 4 KB as JSON", unit: "µs", better: "lower" } as const;
    const ours = () => microsecondsEach(count, (index) => follow(call, index));
    const theirs = () => microsecondsEach(count, () => JSON.stringify(answer));
    ours();
    theirs();
    rows.push(await interleave(subject, effort.rounds, ours, theirs));
  }
  return rows;
}

/** Everything about labels and flow that the pipeline does for one call. */
function follow({ mark, capability, accesses }: FlowCall, nowMs: number): boolean {
  const verdict = judgeFlow(mark, capability, accesses);
  let due = 0;
  for (const access of accesses) due += flowObligations(mark, capability, access).length;
  const { seen } = labelResult({ tool: { name: "tool", capability }, mark, sources: [], found: NOTHING_FOUND, nowMs });
  return verdict.ok && due >= 0 && covers(mark, seen);
}
