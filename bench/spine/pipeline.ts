/**
 * What the pipeline costs when the tool does nothing and the ledger answers at once: when the policy's decision is
 * remembered, and when every call is a new one, against asking Cedar alone.
 *
 * The policies are those of the preset `dev`, and one forbid that reads the path: without it calls that differ in their
 * path alone share one decision, and a miss could not be had.
 */
import { z } from "zod";
import type { Tool } from "../../src/model/tool/tool.ts";
import { PreparedSet } from "../../src/policy/evaluate/evaluator.ts";
import { sliceOf } from "../../src/policy/evaluate/slice.ts";
import type { PolicyRequest } from "../../src/policy/policy.ts";
import { groupsOf } from "../../src/policy/terms/action.ts";
import { describe } from "../../src/policy/terms/vocabulary.ts";
import { interleave, microsecondsEach, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { type BareKernel, openBareKernel } from "./bare-kernel.ts";

const parameters = z.strictObject({ path: z.string() });

/** Names a file and does not touch it. */
const idleTool: Tool<z.infer<typeof parameters>> = {
  name: "idle",
  title: "Do nothing",
  description: "Names a file and does not touch it.",
  parameters,
  capability: {
    effect: "read",
    risk: "low",
    approval: { level: "auto" },
    execution: { sandbox: "process", networkDefault: "none" },
    audit: { logArgs: true, logOutput: false },
  },
  analyse: ({ path }) => [{ resource: { kind: "file", path }, effect: "read" }],
  execute: () => ({ kind: "data", data: {} }),
};

const POLICY = `@id("bench.reads-the-path")
@rationale("bench_denied")
@message("never matches; it makes the decision depend on the path")
forbid (principal, action, resource is Handrail::File)
when { resource.path like "no-such-directory/*" };
`;

/** The figures. */
export async function measurePipeline(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path } = playground.workspace("pipeline", 1);
  await using kernel = await openBareKernel(playground.directory("state-pipeline"), path, [idleTool as Tool], POLICY);
  let fresh = 0;
  const hit = () => microsecondsEachAwaited(effort.calls, (index) => callIdle(kernel, index, "src/same.ts"));
  const miss = () => microsecondsEachAwaited(effort.calls, (index) => callIdle(kernel, index, `src/file${fresh++}.ts`));
  const { ask, release } = bareCedar(kernel);
  const cedar = () => microsecondsEach(effort.calls, ask);
  await hit();
  await miss();
  cedar();
  const peer = "asking Cedar alone, the same set and request";
  const common = { peer, unit: "µs", better: "lower" } as const;
  const hitRow = await interleave(
    { id: "pipeline-hit", what: "whole pipeline, idle tool, decision remembered", ...common },
    effort.rounds,
    hit,
    cedar,
  );
  const misses = kernel.policy.statistics().misses;
  const missRow = await interleave(
    { id: "pipeline-miss", what: "whole pipeline, idle tool, new decision", ...common },
    effort.rounds,
    miss,
    cedar,
  );
  if (kernel.policy.statistics().misses - misses !== effort.rounds * effort.calls)
    throw new Error("a call that should miss the memo hit it");
  release();
  return [hitRow, missRow];
}

async function callIdle(kernel: BareKernel, index: number, path: string): Promise<void> {
  const submission = {
    kind: "call",
    requestId: `bench-${index}`,
    sessionToken: kernel.token,
    tool: "idle",
    arguments: { path },
  } as const;
  const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
  if (outcome.kind !== "success") throw new Error(`the idle tool was refused: ${JSON.stringify(outcome)}`);
}

/** One request of the idle tool, put to Cedar with the policies that the engine would put it to. */
function bareCedar(kernel: BareKernel): { readonly ask: () => void; readonly release: () => void } {
  const groups = groupsOf({ name: "idle", effect: "read", resources: ["file"] });
  const slice = sliceOf(kernel.policy.policies, { action: "idle", groups, role: "dev", kind: "file" });
  const set = new PreparedSet(slice);
  const request: PolicyRequest = {
    principal: { sessionId: "ses_bench", workspace: "/w", agent: "bench", user: "bench", role: "dev", mode: "default" },
    action: "idle",
    tool: "idle",
    effect: "read",
    resource: { kind: "file", path: "src/same.ts", root: "service", zone: "own" },
    context: {
      armed: false,
      trust: "user",
      dataClass: "internal",
      network: false,
      time: Math.floor(Date.now() / 1000),
    },
  };
  const described = describe(request, {});
  if (typeof described === "string") throw new Error(`the request has no \`${described}\``);
  const ask = (): void => {
    if (set.ask(request, described, groups).kind !== "allow") throw new Error("Cedar did not allow the idle tool");
  };
  return { ask, release: () => set.release() };
}
