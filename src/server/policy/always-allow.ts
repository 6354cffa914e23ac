/**
 * Proposes the narrowest permit with which a call that asked would not ask again.
 *
 * This is "Always allow". A proposal also tells what else the permit would have let through. It trusts the request's
 * document, which the kernel wrote, for what the call touched.
 *
 * INVARIANTS: a proposal was tried against the policies in force, with their examples, before anybody sees it. It lifts
 * what the request names as asking and nothing else, for this user, agent, workspace, role, tool, effect and resource,
 * and of a call on a branch on branches alone. Only `write` writes, and it records who did before the permit takes
 * effect.
 */

import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { KernelError, usageError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { REPLAY_ENTRIES_DEFAULT } from "../../base/limits.ts";
import { wholeCall } from "../../kernel/index.ts";
import { byPerson } from "../../ledger/actors.ts";
import { readApprovalDocument, type ShownRequest } from "../../model/approval/approval-document.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Session } from "../../model/people/session.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { narrowestPermit } from "../../policy/explain.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import { COMMIT_ACTION } from "../../policy/terms/action.ts";
import { type PolicyRequest, UNNAMED_CALL } from "../../policy/terms/request.ts";
import type { RecordedAccess } from "../../policy/terms/resource.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { accessesOf, askedAgain, asksOf } from "./asked-accesses.ts";
import { buildEngine, exampleInputs } from "./policies.ts";
import { writePolicyFile } from "./policy-file.ts";
import type { ReplayReport } from "./policy-replay.ts";

/** What proposals for the operator's policies rest on. */
export interface PolicyParts {
  /** As they are now. */
  readonly operator: () => OperatorDirectory;
  readonly tools: () => readonly Tool[];
  readonly findSession: (id: string) => Promise<Session | undefined>;
  readonly stateDirectory: string;
  readonly ledger: EventSink;
  readonly clock: Clock;
}

/** A request for approval, as far as a proposal looks at it. */
export interface AskedRequest {
  readonly ref: string;
  readonly document: string;
}

/** A permit that was tried, or why there is none. */
export type AlwaysProposal =
  | {
      readonly kind: "proposed";
      /** File that the permit would stand in. */
      readonly file: string;
      readonly text: string;
      /** Rules whose asking it lifts. */
      readonly waives: readonly string[];
      readonly role: string;
      /** Whether it holds on branches alone, because the call was on one. */
      readonly onBranches: boolean;
      /** Calls of the ledger that it would have allowed, among them those that asked. */
      readonly past: Pick<ReplayReport, "entries" | "changes" | "changed" | "notReplayed">;
    }
  | { readonly kind: "impossible"; readonly why: string };

/** Makes proposals and, at the operator's word, permits of them. */
export class AlwaysAllow {
  readonly #parts: PolicyParts;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  /** The narrowest permit for the call of a request. Changes nothing. */
  async propose(request: AskedRequest): Promise<AlwaysProposal> {
    const permit = await this.#permitFor(request);
    if (typeof permit === "string") return { kind: "impossible", why: permit };
    const { replayAgainst } = await import("./policy-replay.ts");
    const { stateDirectory } = this.#parts;
    const extent = {
      stateDirectory,
      entriesMax: REPLAY_ENTRIES_DEFAULT,
      tools: this.#parts.tools(),
      byRules: new Set(permit.ids),
    };
    const { entries, changes, changed, notReplayed } = await replayAgainst(permit.operator, extent);
    const { file, text, waives, role, onBranches } = permit;
    return { kind: "proposed", file, text, waives, role, onBranches, past: { entries, changes, changed, notReplayed } };
  }

  /**
   * Writes the permit of a request to the operator's policies.
   * @param by the operator who does it, for the record
   * @throws KernelError USAGE when there is none, or it stands already; CONFIG_INVALID when it cannot be written
   */
  async write(request: AskedRequest, by: string): Promise<string> {
    const permit = await this.#permitFor(request);
    if (typeof permit === "string") throw usageError(permit);
    const { ledger, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const { file, text, waives } = permit;
    const named = by.replaceAll(/[^\w.:@-]/g, "_");
    const payload = {
      approvalRef: request.ref,
      approval_ref: request.ref,
      file,
      waives: [...waives],
      permit: text,
      severity: "warning",
    };
    await ledger.record({ type: "always_allowed", ...byPerson(named), timeMs: nowMs, payload }, "durable");
    const comment = `// Allowed without asking by ${named} at ${new Date(nowMs).toISOString()}, after the request\n// ${request.ref}. Remove this file to be asked again.\n`;
    await writePolicyFile(this.#parts.operator().path, file, comment + text);
    return file;
  }

  /** The permit, tried; a text says why there is none. */
  async #permitFor({ ref, document }: AskedRequest): Promise<Permit | string> {
    const request = readApprovalDocument(ref, document);
    if (request === undefined) return "the request cannot be read";
    const { details } = request;
    const accesses = accessesOf(request);
    if (typeof accesses === "string") return accesses;
    if (accesses.some(({ action }) => action === COMMIT_ACTION.name)) return COMMITTED;
    if (accesses.some(({ action }) => action === MERGING)) return MERGED;
    const session = await this.#parts.findSession(details.sessionId);
    if (session === undefined) return "its session is no longer known";
    const tool = this.#parts.tools().find(({ name }) => name === request.tool);
    if (tool === undefined) return `the tool \`${request.tool}\` is not registered here`;
    if (tool.projectWords !== undefined && accesses.some(({ effect }) => effect === "network")) return FETCHES;
    const call = callOf(request, tool, accesses);
    if (call === undefined) return UNNAMED;
    const asked = new Set(details.rules.map(({ ruleId }) => ruleId));
    const requests = askedAgain({ request, session, tool, accesses, call, nowMs: this.#parts.clock.nowMs() });
    return this.#tried({ preset: session.preset, requests, asked, role: details.role });
  }

  async #tried(trial: Trial): Promise<Permit | string> {
    const { preset, requests, asked, role } = trial;
    const operator = this.#parts.operator();
    const before = await this.#engine(preset, operator);
    const permits = permitsFor(before, requests, asked);
    before.dispose();
    if (permits === undefined) return UNNAMED;
    if (permits.size === 0) return "no rule in force asks about it any more; send the call again";
    const text = [...permits.keys()].join("\n");
    const file = `always-allow.${blake3Hex(text).slice(0, 12)}.cedar`;
    if (operator.policies.some(({ name }) => name === file)) return `the permit stands already, in \`policy/${file}\``;
    const edited = { ...operator, policies: [...operator.policies, { name: file, text }] };
    const problem = await this.#problemOf(trial, edited);
    if (problem !== undefined) return problem;
    const ids = [...text.matchAll(/^@id\("([^"]+)"\)$/gm)].map(([, id = ""]) => id);
    return {
      operator: edited,
      file: join("policy", file),
      text,
      waives: [...new Set([...permits.values()].flat())].sort(),
      ids,
      role,
      onBranches: requests.every(({ context }) => context.onBranch === true),
    };
  }

  /** Why the policies with the permit would not do; they are tried on a copy. */
  async #problemOf({ preset, requests, asked }: Trial, operator: OperatorDirectory): Promise<string | undefined> {
    try {
      const engine = await this.#engine(preset, operator);
      const still = requests.flatMap((request) => asksOf(engine, request)).find((ruleId) => asked.has(ruleId));
      engine.dispose();
      if (still !== undefined) return `the rule \`${still}\` would still ask, and no permit lifts that`;
    } catch (error) {
      if (error instanceof KernelError && error.code === "POLICY_INVALID")
        return `the permit is not valid policy: ${error.message}`;
      throw error;
    }
    if ((operator.examples ?? []).length === 0) return undefined;
    const { formatFailure, runExamples } = await import("./policy-examples.ts");
    const report = await runExamples(exampleInputs({ tools: this.#parts.tools(), operator }));
    const failing = report.results.find(({ ok }) => !ok);
    if (failing !== undefined) return `an example beside the policies stands against it: ${formatFailure(failing)}`;
    return report.problems[0];
  }

  #engine(preset: string, operator: OperatorDirectory): Promise<PolicyEngine> {
    return buildEngine(preset, { tools: this.#parts.tools(), operator });
  }
}

/** What a permit is tried with: the requests of the call, and the rules that asked about it. */
interface Trial {
  readonly preset: string;
  readonly requests: readonly PolicyRequest[];
  readonly asked: ReadonlySet<string>;
  readonly role: string;
}

interface Permit {
  /** The policies with the permit. */
  readonly operator: OperatorDirectory;
  /** Relative to the operator's directory. */
  readonly file: string;
  readonly text: string;
  readonly waives: readonly string[];
  readonly ids: readonly string[];
  readonly role: string;
  readonly onBranches: boolean;
}

/**
 * The call in full; `undefined` when a person is not shown all of it, and so nobody can say what a permit would let
 * through.
 */
function callOf({ details }: ShownRequest, tool: Tool, accesses: readonly RecordedAccess[]): string | undefined {
  const call = wholeCall(tool, accesses, details.arguments);
  if (call === "") return call;
  const isWhole = details.argumentsCut !== true && !JSON.stringify(details.arguments).includes("[REDACTED:");
  return isWhole && call !== UNNAMED_CALL ? call : undefined;
}

const UNNAMED =
  "no permit could name the call: it is too long, holds a secret, or a rule asks about its arguments; answer this request alone, or write a permit by hand";

/** A permit names a call, not what files hold: the lock file could name another program the next time. */
const COMMITTED =
  "it is about what a command has changed, which nobody knows before it runs; a permit for the action `commit` on such files is the operator's to write";
/** Nor does it name what a branch brings. */
const MERGED =
  "it is about what a merge brings, which is another thing with each merge; answer this request alone, or write a permit by hand";
const MERGING = "merge_branch";
const FETCHES =
  "what the call fetches stands in files of the workspace, which may change; approve it for the session or for a time, which is bound to them";

/**
 * The permits that lift what is asked, with the rules that each waives; `undefined` when one could not name the call.
 */
function permitsFor(
  engine: PolicyEngine,
  requests: readonly PolicyRequest[],
  asked: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> | undefined {
  const permits = new Map<string, readonly string[]>();
  for (const request of requests) {
    const waives = asksOf(engine, request).filter((ruleId) => asked.has(ruleId));
    if (waives.length === 0) continue;
    const permit = narrowestPermit(request, waives, { whose: "principal" });
    if (permit === undefined) return undefined;
    permits.set(permit, waives);
  }
  return permits;
}
