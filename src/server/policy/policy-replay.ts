/**
 * Replays the ledger's calls against a candidate for the operator's policies.
 *
 * This is the logic of `handrail policy diff`: it says what the candidate would have decided. Each call is asked about
 * by the accesses that were recorded of it. Nothing runs and nothing is recorded. It trusts the ledger's payloads as
 * far as `handrail ledger verify` vouches for them.
 *
 * INVARIANT: a call that cannot be replayed is counted with its reason, never left out silently.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import { INITIAL_MARK } from "../../flow/flow.ts";
import { imagineAccesses, looksUp, wholeCall } from "../../kernel/index.ts";
import { DATA_CLASSES, TRUST_LEVELS } from "../../model/outcome/label.ts";
import { isPresetName } from "../../model/people/preset.ts";
import type { Session } from "../../model/people/session.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import { type PolicyContext, UNNAMED_CALL } from "../../policy/terms/request.ts";
import { parseRecordedAccess, type RecordedAccess } from "../../policy/terms/resource.ts";
import { resourceId } from "../../policy/terms/vocabulary.ts";
import { openStateStores } from "../../stores/embedded/sessions/state-stores.ts";
import { type LedgerRecord, openLedgerReader } from "../ledger/ledger-reader.ts";
import { effectiveTools } from "../operator/capability-overrides.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { knownTools } from "../upstream/known-tools.ts";
import { buildEngine } from "./policies.ts";
import { POLICY_EXAMPLES_PER_TURN } from "./policy-examples.ts";
import { type PolicyPlace, readPolicyPlace } from "./policy-test.ts";

/** Changes that one comparison of policies lists; the rest are counted. */
const REPLAY_CHANGES_LISTED_MAX = 1_000;

/** Which calls are replayed against which policies. */
export interface ReplayOptions extends PolicyPlace, ReplayExtent {
  readonly candidate: string;
}

/** Which calls are replayed. */
export interface ReplayExtent {
  readonly stateDirectory: string;
  /** Entries before this time are left out; milliseconds since the Unix epoch. */
  readonly sinceMs?: number;
  /** The last so many entries are looked at. */
  readonly entriesMax: number;
  /** Tools of the kernel, as the operator left them; the built-in ones when absent. */
  readonly tools?: readonly Tool[];
  /** Only calls that the candidate allows by one of these rules are listed and counted as changed. */
  readonly byRules?: ReadonlySet<string>;
}

/** A decision, as far as policy makes it. */
export interface ReplayedDecision {
  readonly decision: "allow" | "deny";
  /** The permits of an allowed call, the one rule of a denied one. */
  readonly rules: readonly string[];
  /** What must happen first, as `ask dev.write-protected`. */
  readonly obligations: readonly string[];
}

/** What would change. */
export type ReplayChangeKind = "allow to deny" | "deny to allow" | "obligations" | "rules";

/** A call that the candidate would decide otherwise. */
export interface ReplayChange {
  readonly sequence: number;
  readonly time: string;
  readonly kind: ReplayChangeKind;
  readonly tool: string;
  readonly role: string;
  readonly preset: string;
  readonly accesses: readonly string[];
  readonly recorded: ReplayedDecision;
  readonly candidate: ReplayedDecision;
}

/** What came of the replay. */
export interface ReplayReport {
  readonly directory: string;
  /** Hashes of the candidate, by the presets that were asked. */
  readonly policies: { readonly [preset: string]: string };
  readonly entries: number;
  readonly replayed: number;
  readonly changed: { readonly [kind in ReplayChangeKind]: number };
  /** The first changes; `changed` counts all. */
  readonly changes: readonly ReplayChange[];
  /** Calls that were not replayed, by the reason. */
  readonly notReplayed: { readonly [reason: string]: number };
}

/**
 * Replays the ledger.
 * @throws KernelError POLICY_INVALID when the candidate is not valid; STORE_UNAVAILABLE when there is no ledger
 */
export async function replayLedger(options: ReplayOptions): Promise<ReplayReport> {
  return replayAgainst(await readPolicyPlace(options), options);
}

/**
 * The same for a candidate that is read already.
 * @throws KernelError POLICY_INVALID when the candidate is not valid; STORE_UNAVAILABLE when there is no ledger
 */
export async function replayAgainst(operator: OperatorDirectory, options: ReplayExtent): Promise<ReplayReport> {
  const reader = await openLedgerReader(options.stateDirectory);
  try {
    const { sessions } = await openStateStores(options.stateDirectory);
    const tools = options.tools ?? effectiveTools(await knownTools(operator), operator.settings).tools;
    const engines = new Map<string, Promise<PolicyEngine>>();
    const engineOf = (preset: string) => {
      const known = engines.get(preset) ?? buildEngine(preset, { tools, operator });
      engines.set(preset, known);
      return known;
    };
    // What is not valid is said even where there is nothing to replay.
    await engineOf(operator.settings.preset ?? "dev");
    const tally = new Tally(options.byRules);
    const namesCalls = operator.policies.some(({ text }) => text.includes("context.call"));
    const candidate = { tools, engineOf, namesCalls, findSession: (id: string) => sessions.findSession(id) };
    try {
      const head = (await reader.head()).sequence;
      for (let from = Math.max(1, head - options.entriesMax + 1); from <= head; from += LEDGER_READ_ROWS_MAX) {
        const records = await reader.range(from, LEDGER_READ_ROWS_MAX);
        for (const record of records) {
          if (record.entry.timeMicros / 1000 < (options.sinceMs ?? 0)) continue;
          tally.entries += 1;
          if (tally.entries % POLICY_EXAMPLES_PER_TURN === 0) await nextTurn();
          await replayOne(record, candidate, tally);
        }
      }
    } finally {
      await sessions.close();
    }
    const policies = Object.fromEntries(
      await Promise.all([...engines].map(async ([preset, engine]) => [preset, (await engine).hash] as const)),
    );
    return { directory: operator.path, policies, ...tally.report() };
  } finally {
    await reader.close();
  }
}

class Tally {
  entries = 0;
  #replayed = 0;
  readonly #changed: Record<ReplayChangeKind, number> = {
    "allow to deny": 0,
    "deny to allow": 0,
    obligations: 0,
    rules: 0,
  };
  readonly #changes: ReplayChange[] = [];
  readonly #reasons = new Map<string, number>();
  readonly #byRules: ReadonlySet<string> | undefined;

  constructor(byRules: ReadonlySet<string> | undefined) {
    this.#byRules = byRules;
  }

  skip(reason: string): void {
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  count(change: Omit<ReplayChange, "kind">): void {
    this.#replayed += 1;
    const kind = kindOf(change.recorded, change.candidate);
    if (kind === undefined) return;
    const byRules = this.#byRules;
    if (
      byRules !== undefined &&
      !(change.candidate.decision === "allow" && change.candidate.rules.some((rule) => byRules.has(rule)))
    )
      return;
    this.#changed[kind] += 1;
    if (this.#changes.length < REPLAY_CHANGES_LISTED_MAX) this.#changes.push({ ...change, kind });
  }

  report() {
    const { entries } = this;
    return {
      entries,
      replayed: this.#replayed,
      changed: this.#changed,
      changes: this.#changes,
      notReplayed: Object.fromEntries(this.#reasons),
    };
  }
}

function kindOf(recorded: ReplayedDecision, candidate: ReplayedDecision): ReplayChangeKind | undefined {
  if (recorded.decision !== candidate.decision)
    return recorded.decision === "allow" ? "allow to deny" : "deny to allow";
  if (recorded.obligations.join("\n") !== candidate.obligations.join("\n")) return "obligations";
  return recorded.rules.join("\n") === candidate.rules.join("\n") ? undefined : "rules";
}

/** The policies that recorded calls are put to, and what describes those calls. */
interface Candidate {
  readonly tools: readonly Tool[];
  readonly engineOf: (preset: string) => Promise<PolicyEngine>;
  /** Whether a policy names whole calls. */
  readonly namesCalls: boolean;
  readonly findSession: (id: string) => Promise<Session | undefined>;
}

async function replayOne({ entry, payload }: LedgerRecord, candidate: Candidate, tally: Tally): Promise<void> {
  const { tools, engineOf, namesCalls, findSession } = candidate;
  if (entry.eventType === "tool_outcome_unknown") return tally.skip("the outcome is unknown");
  if (entry.eventType !== "tool_executed" && entry.eventType !== "tool_execution_denied") return;
  const facts = factsOf(payload);
  if (typeof facts === "string") return tally.skip(facts);
  const recorded = recordedDecision(facts);
  if (typeof recorded === "string") return tally.skip(recorded);
  const call = recordedCall(facts, tools);
  if (typeof call === "string") return tally.skip(call);
  if (call.call === UNNAMED_CALL && namesCalls)
    return tally.skip("its arguments were not recorded as they were, and a policy names whole calls");
  const session = await findSession(entry.sessionId);
  if (session === undefined) return tally.skip("its session is no longer known");
  const time = Math.floor(entry.timeMicros / 1_000_000);
  const engine = await engineOf(call.preset);
  const contained = facts["contained"] === true;
  const context = {
    ...call.mark,
    time,
    call: call.call,
    onBranch: facts["branch"] !== undefined,
    contained,
    lookUp: looksUp(call.accesses),
  };
  const verdict = imagineAccesses(engine, {
    session: { ...session, role: call.role },
    tool: call.tool,
    accesses: call.accesses,
    context,
    known: argumentDemands(recorded),
  });
  tally.count({
    sequence: entry.sequence,
    time: new Date(entry.timeMicros / 1000).toISOString(),
    tool: call.tool.name,
    role: call.role,
    preset: call.preset,
    accesses: call.accesses.map(
      ({ resource, effect }) => `${effect} ${resource.kind === "file" ? resource.path : resourceId(resource)}`,
    ),
    recorded,
    candidate: verdict.ok
      ? { decision: "allow", rules: verdict.value.permits, obligations: obligationsOf(verdict.value.obligations) }
      : { decision: "deny", rules: [verdict.denial.ruleId], obligations: [] },
  });
}

/** What the tool's capability asked because of arguments, which are not kept: the same would be asked again. */
function argumentDemands({ obligations }: ReplayedDecision) {
  return obligations
    .filter((due) => /^ask (?:DANGER:|CAPABILITY:\w+:method$)/.test(due))
    .map((due) => ({ obligation: "ask" as const, ruleId: due.slice("ask ".length) }));
}

function obligationsOf(due: readonly { readonly obligation: string; readonly ruleId: string }[]): readonly string[] {
  return [...new Set(due.map(({ obligation, ruleId }) => `${obligation} ${ruleId}`))].sort();
}

function factsOf(payload: Uint8Array | undefined): JsonObject | string {
  if (payload === undefined) return "its payload was pruned";
  const facts: unknown = JSON.parse(Buffer.from(payload).toString("utf8"));
  if (!isJsonObject(facts)) return "its payload is no record of a call";
  return facts["payload_omitted"] === undefined ? facts : "its payload was too large to be kept";
}

/** What policy decided then; a string says why that cannot be told. */
function recordedDecision(facts: JsonObject): ReplayedDecision | string {
  const rules = namesIn(facts["rules"]);
  if (facts["decision"] === "deny" && facts["layer"] === "policy") {
    if (rules.length > 0) return "it was refused while it ran";
    return { decision: "deny", rules: [String(facts["ruleId"])], obligations: [] };
  }
  if (rules.length === 0) return "policy was not asked: another stage refused it first";
  return { decision: "allow", rules, obligations: [...new Set(namesIn(facts["obligations"]))].sort() };
}

function recordedCall(facts: JsonObject, tools: readonly Tool[]) {
  const { tool: name, role, preset } = facts;
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) return "its tool is not registered here";
  if (typeof role !== "string" || typeof preset !== "string" || !isPresetName(preset))
    return "its role or preset was not recorded";
  const accesses: RecordedAccess[] = [];
  for (const fact of Array.isArray(facts["accesses"]) ? facts["accesses"] : []) {
    const access = parseRecordedAccess(fact);
    if (access === undefined)
      return "its accesses were recorded without what policy looks at (the zone of a file, by an earlier version)";
    accesses.push(access);
  }
  const mark = markIn(facts["mark"]);
  const call = recordedName(facts["args"], tool, accesses);
  return mark === undefined
    ? "what its principal had seen was not recorded as expected"
    : { tool, role, preset, accesses, mark, call };
}

/** The call in full, where its arguments stand in the record as they were. */
function recordedName(args: unknown, tool: Tool, accesses: readonly RecordedAccess[]): string {
  const isKnown = isJsonObject(args) && !JSON.stringify(args).includes("[REDACTED:");
  const call = wholeCall(tool, accesses, isKnown ? args : {});
  return isKnown || call === "" ? call : UNNAMED_CALL;
}

/** What the principal had seen; nothing is recorded where it is what everybody begins with. */
function markIn(fact: unknown): Pick<PolicyContext, "trust" | "dataClass"> | undefined {
  if (fact === undefined) return { trust: INITIAL_MARK.trustLevel, dataClass: INITIAL_MARK.dataClass };
  const [first, second] = String(fact).split(" ");
  const [trust, dataClass] = [TRUST_LEVELS.find((one) => one === first), DATA_CLASSES.find((one) => one === second)];
  return trust === undefined || dataClass === undefined ? undefined : { trust, dataClass };
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
