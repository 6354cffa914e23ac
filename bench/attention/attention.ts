/**
 * Counts how often a trace of tool calls asks people: `npm run bench -- attention [TRACE.ndjson] [WORKSPACE]`.
 *
 * The calls are made, one after the other, on a copy of the workspace, by a kernel of their own that asks and waits for
 * nobody. Beside it stands what a plain list of allowed command prefixes would ask. With `--learn` every request is
 * approved first, `policy learn` writes what it proposes, and the trace is made once more under that.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApprovalManager } from "../../src/approval/handler.ts";
import { blake3Hex } from "../../src/base/hash.ts";
import { newId, systemRandom } from "../../src/base/ids.ts";
import { openKernel } from "../../src/server/compose.ts";
import { withLedgerReader } from "../../src/server/ledger/ledger-reader.ts";
import { learnFrom, writeLearned } from "../../src/server/policy/learn/learn.ts";
import { type PromptStats, promptStats } from "../../src/server/policy/prompt-stats.ts";
import { createPlayground, type Playground } from "../playground.ts";
import { asksByPrefix } from "./allow-list.ts";
import { forbiddenIn, watched } from "./forbidden.ts";
import { readTrace, type TracedCall } from "./trace.ts";

const OWN_TRACE = fileURLToPath(new URL("./trace.ndjson", import.meta.url));

/** What came of a trace. */
export interface Attention {
  readonly trace: string;
  readonly preset: string;
  readonly calls: number;
  /** Lines that are no calls. */
  readonly skipped: number;
  /** Calls of tools that there are not. */
  readonly unknown: number;
  readonly stats: PromptStats;
  /** Requests for calls that the trace says a person wants to be asked about. */
  readonly wanted: number;
  /** Calls that would have asked, had there not been too many requests already. */
  readonly crowded: number;
  /** Refused without a request, though the trace says that they are harmless. */
  readonly harmlessRefused: readonly string[];
  /** What must not have happened and has. */
  readonly forbidden: readonly string[];
  readonly prefixPrompts: number;
}

/** Replays, and prints. */
export async function runAttention(args: readonly string[]): Promise<void> {
  const flags = args.filter((one) => one.startsWith("--"));
  const [trace = OWN_TRACE, workspace] = args.filter((one) => !one.startsWith("--"));
  const preset = flags.find((one) => one.startsWith("--preset="))?.slice("--preset=".length) ?? "dev";
  using playground = createPlayground();
  const wanted = { trace, preset, ...(workspace !== undefined && { workspace }) };
  const learns = flags.includes("--learn");
  const runs = [await replay(playground, { ...wanted, learns })];
  if (learns) runs.push(await replay(playground, { ...wanted, round: "second" }));
  for (const found of runs) console.log(flags.includes("--json") ? JSON.stringify(found, undefined, 2) : report(found));
}

interface Replaying {
  readonly trace: string;
  readonly preset: string;
  readonly workspace?: string;
  /** Whether requests are approved, and what `policy learn` proposes of them is written. */
  readonly learns?: boolean;
  /** Of two that share their configuration. */
  readonly round?: "first" | "second";
}

/** Makes the calls of a trace. @throws Error for a trace that is not there */
export async function replay(playground: Playground, replaying: Replaying): Promise<Attention> {
  const { trace, preset, workspace, learns = false, round = "first" } = replaying;
  if (!existsSync(trace)) throw new Error(`there is no trace \`${trace}\``);
  // at the same place in both rounds: permits name the workspace
  const root = join(playground.root, "attention-workspace");
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  if (workspace === undefined) ownWorkspace(root);
  else cpSync(workspace, root, { recursive: true, filter: (path) => !path.includes("/node_modules/") });
  const configDirectory = join(playground.root, "attention-config");
  mkdirSync(configDirectory, { recursive: true, mode: 0o700 });
  const settings = {
    approvals: { wait_seconds: learns ? 45 : 0, prompts_per_minute: 1000, prompts_per_hour: 1000 },
    alert: { freeze: false },
  };
  writeFileSync(join(configDirectory, "handrail.yaml"), JSON.stringify(settings), { mode: 0o600 });
  const approvals = new ApprovalManager();
  if (learns) approvals.setHandler({ request: async () => true });
  const kernel = await openKernel({
    approvals,
    stateDirectory: playground.directory(`attention-state-${round}`),
    configDirectory,
    environment: { HOME: playground.root, PATH: process.env["PATH"] ?? "" },
    onWarning: () => undefined,
  });
  const counts = { calls: 0, skipped: 0, unknown: 0, wanted: 0, crowded: 0, prefixPrompts: 0 };
  const harmlessRefused: string[] = [];
  const before = watched(root);
  try {
    const { token } = await kernel.administration.createSession({
      workspace: root,
      userId: "bench",
      agentId: "bench",
      preset,
    });
    const asked = new Set<string>();
    for await (const call of readTrace(trace)) {
      if (typeof call === "string") {
        counts.skipped += 1;
        continue;
      }
      counts.calls += 1;
      if (asksByPrefix(call)) counts.prefixPrompts += 1;
      const said = await make(kernel, token, call);
      if (said.kind === "unknown") counts.unknown += 1;
      if (said.kind === "crowded") counts.crowded += 1;
      if (said.kind === "asks" && !asked.has(said.ref)) {
        asked.add(said.ref);
        if (call.isWanted) counts.wanted += 1;
      }
      if (said.kind === "refused" && call.isHarmless)
        harmlessRefused.push(`${said.rule}: ${call.tool} ${JSON.stringify(call.arguments).slice(0, 160)}`);
      if (counts.calls % 100 === 0) process.stderr.write(`attention: ${counts.calls} calls\n`);
    }
    if (learns) await writeLearned(kernel.policyParts, await learnFrom(kernel.policyParts), "bench");
  } finally {
    await kernel.close();
  }
  const stats = await withLedgerReader(kernel.stateDirectory, (reader) => promptStats(reader));
  return { trace, preset, ...counts, stats, harmlessRefused, forbidden: forbiddenIn(root, before) };
}

type Said =
  | { readonly kind: "done" | "unknown" | "crowded" }
  | { readonly kind: "asks"; readonly ref: string }
  | { readonly kind: "refused"; readonly rule: string };

async function make(
  kernel: Awaited<ReturnType<typeof openKernel>>,
  sessionToken: string,
  { tool, arguments: args }: TracedCall,
): Promise<Said> {
  const call = { kind: "call", requestId: newId("req", systemRandom), sessionToken, tool, arguments: args } as const;
  const { outcome } = await kernel.door.execute(call, new AbortController().signal);
  if (outcome.kind === "error" && outcome.code === "RATE_LIMITED") return { kind: "crowded" };
  if (outcome.kind !== "denied") return { kind: "done" };
  const { reason, ruleId, approvalRef } = outcome.denial;
  if (reason === "tool_spec_missing") return { kind: "unknown" };
  return approvalRef === undefined ? { kind: "refused", rule: ruleId } : { kind: "asks", ref: approvalRef };
}

/** A small project to work on, where none is given. */
function ownWorkspace(root: string): void {
  const put = (path: string, text: string) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put("package.json", JSON.stringify({ name: "shop", version: "1.0.0", scripts: { test: "node --test" } }));
  put("README.md", "# Shop\n");
  put("CLAUDE.md", "Be careful.\n");
  for (let number = 0; number < 20; number += 1)
    put(`src/part-${number}.ts`, `export const part${number} = "${blake3Hex(String(number))}";\n`);
}

function report({ stats, ...found }: Attention): string {
  const { calls, skipped, unknown, wanted, crowded, harmlessRefused, forbidden, prefixPrompts } = found;
  const asked = stats.prompts.asked + crowded;
  const rate = (count: number) => (calls === 0 ? "0" : ((count * 1000) / calls).toFixed(1));
  return [
    `${calls} calls under ${found.preset} (${skipped} lines are no calls, ${unknown} name unknown tools)`,
    `asked: ${asked} requests, ${rate(asked)} per 1,000 calls; ${wanted} of them wanted by the trace`,
    `a list of allowed prefixes: ${prefixPrompts} requests, ${rate(prefixPrompts)} per 1,000 calls`,
    ...stats.by_rule.map(({ rule, asked }) => `  asked by ${rule}: ${asked}`),
    `refused without a request: ${stats.refusals.map(({ rule, calls: count }) => `${rule} ${count}`).join(", ") || "none"}`,
    `harmless and refused: ${harmlessRefused.length}`,
    ...harmlessRefused.slice(0, 20).map((line) => `  ${line}`),
    `forbidden effects: ${forbidden.length}`,
    ...forbidden.map((line) => `  ${line}`),
  ].join("\n");
}
