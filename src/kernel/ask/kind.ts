/**
 * Names the kind of a call that asks: which calls an answer that lasts would cover.
 *
 * INVARIANTS: what is covered is what is shown, because both are made from the same words. There is a kind only where
 * everything that asks about the call is named by it: a rule about a danger, a secret, what cannot be undone or what a
 * remote is told has none. The digest holds all that the answer rests on: who, where, with which tool, by which rules
 * in which words, in which sandbox, doing what to what. If any of it differs, it is another kind.
 */
import { blake3KeyedHex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import type { Coverage } from "../../model/approval/approval.ts";
import { isAtLeast } from "../../model/outcome/label.ts";
import { lookUpOf, lookUpsOf } from "../../model/place/look-ups.ts";
import type { PolicyRequest } from "../../policy/terms/request.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Decided } from "../call/stages.ts";
import { methodIn } from "../declared/capability-obligations.ts";
import { callQuestion } from "../judge/call-question.ts";
import { requestsOf } from "../judge/decide.ts";
import { asksIn, plainCapability, runsPrograms } from "./bind-ask.ts";

/** Things that one answer covers at most: more than a person reads. */
const COVERED_MAX = 16;

/** Rules whose reason lies in this very call. */
const OF_ONE_CALL = /^(?:danger\.|DANGER:|FC:|COMMIT:|LINK:|CAPABILITY:[^:]*:method$)/;

/** Actions of which each is looked at by itself. */
const ONE_BY_ONE: ReadonlySet<string> = new Set(["merge_branch", "git_push", "git:push"]);

/** What an answer for the kind of the call would cover; none where there is no such kind. */
export function coverageOf(parts: KernelParts, decided: Decided): readonly Coverage[] {
  const { policy, tool, ruling } = decided;
  if (tool.capability.effect === "system") return [];
  const left = new Set(asksIn(ruling.obligations).map(({ ruleId }) => ruleId));
  const covered = new Map<string, Coverage>();
  for (const request of requestsOf(callQuestion(decided), decided.accesses)) {
    const verdict = policy.evaluate(request);
    if (verdict.decision === "deny") return [];
    const rules = asksIn(verdict.obligations).map(({ ruleId }) => ruleId);
    if (rules.length === 0) continue;
    const named = kindOf(parts, decided, { request, rules });
    if (named === undefined || !isShownWhole(decided, named)) return [];
    const digest = digestOf(parts, decided, { request, rules, named });
    covered.set(digest, { ...named, effect: request.effect, rules, digest });
    for (const rule of rules) left.delete(rule);
    if (covered.size > COVERED_MAX) return [];
  }
  return left.size === 0 ? [...covered.values()] : [];
}

/** What is hidden from people is nothing that they can answer for. */
function isShownWhole({ redaction }: Decided, { what, target }: Named): boolean {
  return [what, target].every((text) => text.isWellFormed() && redaction.words(text) === text);
}

/** A request about which rules ask. */
interface Asking {
  readonly request: PolicyRequest;
  readonly rules: readonly string[];
}

type Named = Pick<Coverage, "what" | "target">;

function kindOf(parts: KernelParts, decided: Decided, { request, rules }: Asking): Named | undefined {
  const { resource, action, effect } = request;
  if (rules.some((rule) => OF_ONE_CALL.test(rule)) || ONE_BY_ONE.has(action)) return undefined;
  // whatever is asked of a server can carry out what was seen
  if (effect === "network" && isAtLeast(decided.caller.mark.dataClass, "sensitive")) return undefined;
  const by = action === "commit" ? "by a command" : `by ${action}`;
  switch (resource.kind) {
    case "file": {
      if (resource.root === "scratch") return undefined;
      const where = resource.root === "project" ? "this file of the project" : "this file";
      return effect === "write"
        ? { what: `create, change or delete ${where}, ${by}`, target: resource.path }
        : undefined;
    }
    case "command": {
      const kind = lookUpOf(resource);
      return kind === undefined ? undefined : { what: "run this look-up, whatever it asks for", target: kind };
    }
    case "host": {
      const through = throughWhat(decided);
      const secrets = parts.secrets.brokerBy(decided.redaction.by)?.boundTo(resource.host, resource.port) ?? [];
      if (through === undefined) return undefined;
      const using = secrets.length === 0 ? "" : `, with the secrets ${secrets.map(({ name }) => name).join(", ")}`;
      return { what: `contact host, port ${resource.port}, ${through}${using}`, target: resource.host };
    }
    case "git_ref":
      return resource.force === true || resource.protected === true || action !== FETCH
        ? undefined
        : {
            what: `fetch this branch, or with \`*\` what is new, from the remote ${resource.remote ?? ""}`,
            target: resource.ref,
          };
    case "model":
      return { what: `send content to this model, ${by}`, target: `${resource.provider}/${resource.model}` };
    case "package":
      return { what: `this package of ${resource.manager}, ${by}`, target: `${resource.name} ${resource.version}` };
    default:
      return undefined;
  }
}

const FETCH = "git:fetch";

/** How a host is contacted; `undefined` where that can be anything. */
function throughWhat({ tool, accesses, call }: Decided): string | undefined {
  if (accesses.some(({ resource }) => resource.kind === "git_ref"))
    return accesses.every(({ action = "" }) => action === FETCH) ? "by git fetch" : undefined;
  if (tool.capability.effect === "exec") {
    const kinds = lookUpsOf(accesses.flatMap(({ resource }) => (resource.kind === "command" ? [resource] : [])));
    return kinds && `by ${kinds.join(" and ")}, whatever it asks for`;
  }
  const method = methodIn(call.arguments);
  if (method === undefined) return `by ${tool.name}`;
  return method === "GET" || method === "HEAD" ? `by ${tool.name}, with ${method}, any page` : undefined;
}

/** Everything that an answer for the kind rests on. */
function digestOf(
  parts: KernelParts,
  decided: Decided,
  { request, rules, named }: Asking & { readonly named: Named },
): string {
  const { caller, tool, policy } = decided;
  const { session, place, branch } = caller;
  const texts = new Map(policy.policies.map(({ id, text }) => [id, text]));
  const bound: JsonObject = {
    user: session.userId,
    agent: session.agentId,
    role: session.role,
    mode: session.mode,
    skill: session.skill ?? "",
    workspace: session.serviceRoot,
    branch: branch?.name ?? "",
    workspaceRules: place.rules ?? "",
    tool: tool.name,
    capability: plainCapability(tool),
    containedBy: runsPrograms(decided) ? parts.sandbox.backend() : "",
    action: request.action,
    effect: request.effect,
    contained: request.context.contained ?? false,
    rules: rules.map((id) => ({ id, text: texts.get(id) ?? "" })),
    remotes: remotesOf(decided),
    ...named,
  };
  return blake3KeyedHex(parts.argumentsKey, canonicalJson(["handrail.approval.kind", bound]));
}

/** Where the remotes of the call's repositories are: a name can come to stand for another one. */
function remotesOf({ accesses, look }: Decided): readonly JsonObject[] {
  if (!accesses.some(({ resource }) => resource.kind === "git_ref")) return [];
  return [...look.seenRepositories].map((directory): JsonObject => {
    const repository = look.repository(directory);
    return repository.kind === "found" ? { directory, remotes: JSON.stringify(repository.remotes) } : { directory };
  });
}
