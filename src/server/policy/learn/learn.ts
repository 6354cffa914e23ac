/**
 * `handrail policy learn`: proposes from a recorded time the permits and the lease that would have made it quiet.
 *
 * INVARIANTS: the same ledger, policies and time give the same proposal. What is proposed was tried against the
 * policies in force, with their examples and its own. Only `writeLearned` writes, and it records who did before the
 * permits take effect.
 */
import { stringify } from "yaml";
import { KernelError } from "../../../base/errors.ts";
import { blake3Hex } from "../../../base/hash.ts";
import { REPLAY_ENTRIES_DEFAULT } from "../../../base/limits.ts";
import { byPerson } from "../../../ledger/actors.ts";
import type { LeaseScope } from "../../../model/people/lease.ts";
import type { PolicyEngine } from "../../../policy/policy.ts";
import { withLedgerReader } from "../../ledger/ledger-reader.ts";
import type { OperatorDirectory } from "../../operator/operator-directory.ts";
import type { PolicyParts } from "../always-allow.ts";
import { asksOf } from "../asked-accesses.ts";
import { buildEngine, exampleInputs } from "../policies.ts";
import { formatFailure, runExamples } from "../policy-examples.ts";
import { writePolicyFile } from "../policy-file.ts";
import { type ReplayReport, replayAgainst } from "../policy-replay.ts";
import { readRecording } from "./asked-requests.ts";
import { type LearnedPermit, type LeftOut, proposalsFor } from "./proposals.ts";
import { smallestLease } from "./smallest-lease.ts";

/** A proposal. */
export interface Learned {
  /** Calls that the recording holds, and how many of them people were asked about. */
  readonly calls: number;
  readonly asked: number;
  /** How many of those would not have asked. */
  readonly quiet: number;
  readonly permits: readonly Omit<LearnedPermit, "request">[];
  readonly leftOut: readonly LeftOut[];
  readonly lease: LeaseScope;
  /** What would be written, relative to the operator's directory; absent where there is nothing to propose. */
  readonly files?: { readonly policy: LearnedFile; readonly examples: LearnedFile };
  /** Calls of the ledger that the permits would have allowed, among them those that asked. */
  readonly past?: Pick<ReplayReport, "entries" | "changed" | "changes" | "notReplayed">;
}

/** A file that would be written. */
export interface LearnedFile {
  readonly file: string;
  readonly text: string;
}

/** Proposes; changes nothing. @param sinceMs milliseconds since the Unix epoch; all of the ledger when absent */
export async function learnFrom(parts: PolicyParts, sinceMs?: number): Promise<Learned> {
  const { stateDirectory, clock } = parts;
  const nowMs = clock.nowMs();
  const operator = parts.operator();
  const engines = new Map<string, Promise<PolicyEngine>>();
  const engineOf = (preset: string) => {
    const known = engines.get(preset) ?? buildEngine(preset, { tools: parts.tools(), operator });
    engines.set(preset, known);
    return known;
  };
  try {
    const recording = await withLedgerReader(stateDirectory, (reader) =>
      readRecording(reader, { stateDirectory, nowMs, ...(sinceMs !== undefined && { sinceMs }) }),
    );
    const { findSession } = parts;
    const { permits, leftOut } = await proposalsFor(recording.asked, {
      tools: parts.tools(),
      engineOf,
      findSession,
      nowMs,
    });
    const left = new Set(leftOut.flatMap(({ entries }) => entries));
    const learned: Learned = {
      calls: recording.calls,
      asked: recording.asked.length,
      quiet: recording.asked.filter(({ sequence }) => !left.has(sequence)).length,
      permits: permits.map(({ request: _, ...permit }) => permit),
      leftOut,
      lease: smallestLease(recording.used),
    };
    return permits.length === 0 ? learned : { ...learned, ...(await tried(parts, operator, permits)) };
  } finally {
    for (const engine of engines.values()) (await engine).dispose();
  }
}

/** Writes what was proposed. @param by the operator who does it, for the record */
export async function writeLearned(
  { operator, ledger, clock }: PolicyParts,
  { permits, files }: Learned,
  by: string,
): Promise<void> {
  if (files === undefined) return;
  const { policy, examples } = files;
  const named = by.replaceAll(/[^\w.:@-]/g, "_");
  const waives = [...new Set(permits.flatMap((permit) => permit.waives))].sort();
  const payload = { file: policy.file, waives, permit: policy.text, learned: true, severity: "warning" };
  await ledger.record({ type: "always_allowed", ...byPerson(named), timeMs: clock.nowMs(), payload }, "durable");
  const { path } = operator();
  // the examples first: permits that do not do what they should are then refused from the beginning
  await writePolicyFile(path, examples.file, examples.text);
  await writePolicyFile(path, policy.file, policy.text);
}

/** The files, tried on a copy of the operator's. @throws KernelError POLICY_INVALID where they would not do */
async function tried(
  parts: PolicyParts,
  operator: OperatorDirectory,
  permits: readonly LearnedPermit[],
): Promise<Pick<Learned, "files" | "past">> {
  const text = permits.map(policyText).join("\n");
  const name = `learned.${blake3Hex(text).slice(0, 12)}`;
  const examples = stringify(permits.map(exampleOf), { lineWidth: 0 });
  const edited: OperatorDirectory = {
    ...operator,
    policies: [...operator.policies, { name: `${name}.cedar`, text }],
    examples: [...(operator.examples ?? []), { name: `${name}.test.yaml`, text: examples }],
  };
  const tools = parts.tools();
  for (const preset of new Set(permits.map((permit) => permit.preset))) {
    const engine = await buildEngine(preset, { tools, operator: edited });
    const asking = permits.find(
      ({ preset: its, request, waives }) =>
        its === preset && asksOf(engine, request).some((rule) => waives.includes(rule)),
    );
    engine.dispose();
    if (asking !== undefined) throw notGood(`\`${asking.waives.join("`, `")}\` would still ask`);
  }
  const { results, problems } = await runExamples(exampleInputs({ tools, operator: edited }));
  const failing = results.find(({ ok }) => !ok);
  if (failing !== undefined) throw notGood(`an example stands against it: ${formatFailure(failing)}`);
  if (problems[0] !== undefined) throw notGood(problems[0]);
  const byRules = new Set(permits.map(({ id }) => id));
  const extent = { stateDirectory: parts.stateDirectory, entriesMax: REPLAY_ENTRIES_DEFAULT, tools, byRules };
  const { entries, changed, changes, notReplayed } = await replayAgainst(edited, extent);
  return {
    files: {
      policy: { file: `policy/${name}.cedar`, text },
      examples: { file: `policy/${name}.test.yaml`, text: examples },
    },
    past: { entries, changed, changes, notReplayed },
  };
}

function notGood(why: string): KernelError {
  return new KernelError("POLICY_INVALID", `what was learned does not fit the policies in force: ${why}`);
}

function policyText({ text, entries, approved }: LearnedPermit): string {
  const shown = entries.slice(0, ENTRIES_NAMED_MAX).join(", ");
  const more = entries.length > ENTRIES_NAMED_MAX ? ` and ${entries.length - ENTRIES_NAMED_MAX} more` : "";
  return `// Asked ${entries.length} times, agreed to ${approved} times: entries ${shown}${more} of the ledger.\n${text}`;
}

/** Entries that a comment names. */
const ENTRIES_NAMED_MAX = 12;

/** An example that fails as soon as the call asks again. */
function exampleOf({ request, preset }: LearnedPermit) {
  const { action, effect, resource, principal, context } = request;
  const { trust, dataClass, lookUp = false, onBranch = false } = context;
  return {
    allow: action,
    resource,
    effect,
    role: principal.role,
    preset,
    workspace: principal.workspace,
    agent: principal.agent,
    user: principal.user,
    context: { trust, dataClass, ...(lookUp && { lookUp }), ...(onBranch && { onBranch }) },
  };
}
