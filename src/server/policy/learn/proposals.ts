/**
 * Proposes permits that would have let asked calls run unasked, and says which it leaves out on purpose. Pure but for
 * the engines that it asks.
 *
 * INVARIANTS: a permit is proposed for kinds of calls alone that a lasting answer could cover, which no danger, secret,
 * push or loss is, and for no protected file. People agreed to each, and nobody refused. A look-up at its program's own
 * host takes no agreement. Each permit names one principal, action and resource.
 */
import { looksUp } from "../../../kernel/index.ts";
import type { Session } from "../../../model/people/session.ts";
import { hostsOfLookUp } from "../../../model/place/look-ups.ts";
import type { Tool } from "../../../model/tool/tool.ts";
import { narrowestPermit } from "../../../policy/explain.ts";
import type { PolicyEngine } from "../../../policy/policy.ts";
import type { PolicyRequest } from "../../../policy/terms/request.ts";
import type { RecordedAccess } from "../../../policy/terms/resource.ts";
import { resourceId } from "../../../policy/terms/vocabulary.ts";
import { accessesOf, askedAgain, asksOf } from "../asked-accesses.ts";
import type { AskedRequest } from "./asked-requests.ts";

/** Permits that are proposed at most: more than a person reads before agreeing. */
const PERMITS_MAX = 64;

/** A permit, and the calls that it would have let run. */
export interface LearnedPermit {
  readonly id: string;
  readonly text: string;
  /** Rules whose asking it lifts. */
  readonly waives: readonly string[];
  /** Entries of the ledger at which people were asked. */
  readonly entries: readonly number[];
  readonly approved: number;
  /** An access that it allows, for an example. */
  readonly request: PolicyRequest;
  readonly preset: string;
}

/** What is not proposed. */
export interface LeftOut {
  readonly tool: string;
  readonly rules: readonly string[];
  /** What it is about; the agent may have chosen it. */
  readonly target: string;
  readonly why: string;
  readonly entries: readonly number[];
}

/** What came of a recording. */
export interface Proposals {
  readonly permits: readonly LearnedPermit[];
  readonly leftOut: readonly LeftOut[];
}

/** What proposals rest on. */
export interface ProposalParts {
  readonly tools: readonly Tool[];
  readonly engineOf: (preset: string) => Promise<PolicyEngine>;
  readonly findSession: (id: string) => Promise<Session | undefined>;
  readonly nowMs: number;
}

/** Proposes. */
export async function proposalsFor(asked: readonly AskedRequest[], parts: ProposalParts): Promise<Proposals> {
  const kinds = new Map<string, Kind>();
  const left = new LeftOuts();
  const calls: { readonly one: AskedRequest; readonly kinds: readonly Kind[] }[] = [];
  for (const one of asked) {
    const found = await kindsOf(one, parts);
    if (typeof found === "string") {
      left.add(one, found);
      continue;
    }
    const known = found.map((kind) => kinds.get(kind.text) ?? kind);
    for (const kind of known) {
      kinds.set(kind.text, kind);
      kind.entries.push(one.sequence);
      kind.approved += one.answer === "approved" ? 1 : 0;
      kind.refused += one.answer === "refused" ? 1 : 0;
    }
    calls.push({ one, kinds: known });
  }
  const useful = new Set<Kind>();
  for (const { one, kinds: needed } of calls) {
    const why = needed.map(reasonAgainst).find((reason) => reason !== undefined);
    if (why !== undefined) left.add(one, why);
    else for (const kind of needed) if (useful.size < PERMITS_MAX || useful.has(kind)) useful.add(kind);
  }
  return { permits: [...useful].map(permitOf), leftOut: left.all() };
}

/** One permit that a call would have needed. */
interface Kind {
  readonly text: string;
  readonly waives: readonly string[];
  readonly request: PolicyRequest;
  readonly preset: string;
  /** It asks a program's own host for something. */
  readonly isOwnLookUp: boolean;
  readonly entries: number[];
  approved: number;
  refused: number;
}

/** The permits that a request would have needed; a text says why there are none. */
async function kindsOf(one: AskedRequest, parts: ProposalParts): Promise<readonly Kind[] | string> {
  const { request } = one;
  if (request === undefined) return "what was asked is kept no longer";
  const { details } = request;
  if ((details.covers ?? []).length === 0) return "it is asked about call by call: a danger, a secret, a loss, a push";
  const tool = parts.tools.find(({ name }) => name === request.tool);
  if (tool === undefined) return "its tool is not registered here";
  const session = await parts.findSession(details.sessionId);
  if (session === undefined) return "its session is no longer known";
  const accesses = accessesOf(request);
  if (typeof accesses === "string") return accesses;
  const engine = await parts.engineOf(session.preset);
  const kinds: Kind[] = [];
  for (const wanted of askedAgain({ request, session, tool, accesses, nowMs: parts.nowMs })) {
    const waives = asksOf(engine, wanted).filter((ruleId) => details.rules.some((rule) => rule.ruleId === ruleId));
    if (waives.length === 0) continue;
    const text = narrowestPermit(wanted, waives, { whose: "principal", when: boundsOf(wanted, tool) });
    if (text === undefined) return "no permit could name it";
    const isOwnLookUp = isAtOwnHost(wanted, accesses);
    kinds.push({
      text,
      waives,
      request: wanted,
      preset: session.preset,
      isOwnLookUp,
      entries: [],
      approved: 0,
      refused: 0,
    });
  }
  return kinds.length === 0 ? "no rule in force asks about it any more" : kinds;
}

/** What a permit holds for besides: as little as what was shown. */
function boundsOf({ effect, resource }: PolicyRequest, { capability }: Tool): readonly string[] {
  if (effect === "network")
    return [
      '["public", "internal"].contains(context.dataClass)',
      ...(capability.effect === "exec" && resource.kind === "host" ? ["context.lookUp"] : []),
    ];
  return ['context.trust != "untrusted"'];
}

function isAtOwnHost({ resource }: PolicyRequest, accesses: readonly RecordedAccess[]): boolean {
  if (resource.kind !== "host" || resource.port !== 443 || !looksUp(accesses)) return false;
  return accesses.some((one) => one.resource.kind === "command" && hostsOfLookUp(one.resource).includes(resource.host));
}

/** Why a permit is not proposed. */
function reasonAgainst({ refused, approved, request, isOwnLookUp }: Kind): string | undefined {
  if (refused > 0) return "a person refused it";
  if (request.resource.kind === "file" && request.resource.zone !== "own")
    return "people's tools obey it, and who is asked should see what it would say";
  return isOwnLookUp || approved > 0 ? undefined : "nobody agreed to it";
}

function permitOf({ text, waives, request, preset, entries, approved }: Kind): LearnedPermit {
  const [, id = ""] = /^@id\("([^"]+)"\)/.exec(text) ?? [];
  return { id, text, waives, entries, approved, request, preset };
}

/** What is left out, gathered by tool, rules, target and reason. */
class LeftOuts {
  readonly #all = new Map<string, LeftOut & { readonly entries: number[] }>();

  add({ sequence, request }: AskedRequest, why: string): void {
    const tool = request?.tool ?? "";
    const rules = request?.details.rules.map(({ ruleId }) => ruleId) ?? [];
    const [first] = (request?.details.covers ?? []).map(({ target }) => target);
    const target = first ?? (request === undefined ? "" : firstTarget(request));
    const key = JSON.stringify([tool, rules, target, why]);
    const one = this.#all.get(key) ?? { tool, rules, target, why, entries: [] };
    one.entries.push(sequence);
    this.#all.set(key, one);
  }

  all(): readonly LeftOut[] {
    return [...this.#all.values()];
  }
}

function firstTarget(request: NonNullable<AskedRequest["request"]>): string {
  const accesses = accessesOf(request);
  if (typeof accesses === "string") return "";
  const wanted = accesses.find(({ effect }) => effect !== "read") ?? accesses[0];
  if (wanted === undefined) return "";
  return wanted.resource.kind === "file" ? wanted.resource.path : resourceId(wanted.resource);
}
