/**
 * Changes of the operator's policies that would let a call run: permits, waivers and exceptions for exactly what was
 * asked. They are tried on copies of the texts; the operator's files are never written.
 */
import { assert } from "../../base/errors.ts";
import type { CallExplanation } from "../../kernel/index.ts";
import { exceptionFor, isPermittable, narrowestPermit } from "../../policy/explain.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { PolicyRequest } from "../../policy/terms/request.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import type { Advice, AdviceParts, Assumed, NextStep } from "./advice.ts";
import { buildEngine, exampleInputs } from "./policies.ts";
import { formatFailure, runExamples } from "./policy-examples.ts";

/** Changes of the operator's policies that are tried together. */
export class PolicyEdits {
  readonly #parts: AdviceParts;
  readonly #permits = new Map<
    string,
    { readonly request: PolicyRequest; readonly waives: Set<string>; readonly isNeeded: boolean }
  >();
  readonly #exceptions = new Map<string, { readonly place: string; readonly clauses: Set<string> }>();
  readonly #engines: PolicyEngine[] = [];

  constructor(parts: AdviceParts) {
    this.#parts = parts;
  }

  /** What to assume about what policy says of `explanation`. */
  async meet(state: Assumed, { accesses, armed }: CallExplanation): Promise<NextStep> {
    for (const { request, policy } of accesses) {
      const { verdict, matching } = policy;
      const asking = verdict.decision === "allow" ? verdict.obligations.map(({ ruleId }) => ruleId) : [];
      if ((verdict.decision === "deny" || asking.length > 0) && !isPermittable(request, asking)) return UNNAMED;
      if (verdict.decision === "allow") {
        for (const { obligation, ruleId } of verdict.obligations)
          if (!armed || obligation !== "arm") this.#waive(request, ruleId);
      } else if (verdict.cause === "error") {
        return `the rule ${verdict.ruleId} cannot be evaluated, and that denies: ${verdict.message ?? "correct it"}`;
      } else if (verdict.cause === "default") {
        this.#permits.set(keyOf(request), { request, waives: new Set(), isNeeded: true });
      } else {
        for (const { id, file, line } of matching.filter(
          ({ effect, outcome }) => effect === "forbid" && outcome === "matched",
        )) {
          if (!file.startsWith("policy/"))
            return `the rule ${id} (${file}:${line}) ships with Handrail, and nothing lifts it`;
          const known = this.#exceptions.get(id) ?? { place: `${file}:${line}`, clauses: new Set<string>() };
          known.clauses.add(clauseFor(request));
          this.#exceptions.set(id, known);
        }
      }
    }
    const { session } = state.who;
    const engine = await buildEngine(session.preset, {
      tools: this.#parts.tools,
      operator: this.#edited(await this.#policyTexts(session.preset)),
    });
    this.#engines.push(engine);
    return { ...state, assuming: { ...state.assuming, policy: engine } };
  }

  /** What was tried, for people, and the examples that stand against it: with them the policies would not load. */
  async advice(preset: string): Promise<readonly Advice[]> {
    const edits = this.#editsMade();
    if (edits.length === 0) return [];
    const { tools } = this.#parts;
    const edited = this.#edited(await this.#policyTexts(preset));
    const report = await runExamples(exampleInputs({ tools, operator: edited }));
    const against = report.results.filter(({ ok }) => !ok);
    return [
      ...edits,
      ...against.map(
        (result): Advice => ({
          kind: "example",
          change: `change the example that stands against it: ${formatFailure(result)}`,
        }),
      ),
    ];
  }

  #editsMade(): readonly Advice[] {
    const file = `${this.#parts.operator.path}/policy/`;
    const exceptions = [...this.#exceptions].map(([id, { place, clauses }]): Advice => {
      const change = `add to the rule \`${id}\` (${place}), before its closing \`;\``;
      return { kind: "exception", change, text: [...clauses].join("\n") };
    });
    const permits = [...this.#permits.values()].map(({ request, waives, isNeeded }): Advice => {
      const exactly = request.context.onBranch === true ? "exactly this, on branches alone," : "exactly this";
      const lifted = `lifts what ${[...waives].join(", ")} asks for, for exactly this${request.context.onBranch === true ? ", on branches alone" : ""}`;
      const change = isNeeded
        ? `add a permit for ${exactly} to a file in ${file}`
        : `add a permit to a file in ${file} that ${lifted}`;
      return { kind: isNeeded ? "permit" : "waiver", change, text: permitFor(request, waives) };
    });
    return [...exceptions, ...permits];
  }

  /** Frees the engines that were tried. */
  dispose(): void {
    for (const engine of this.#engines) engine.dispose();
  }

  #waive(request: PolicyRequest, ruleId: string): void {
    const known = this.#permits.get(keyOf(request)) ?? { request, waives: new Set<string>(), isNeeded: false };
    known.waives.add(ruleId);
    this.#permits.set(keyOf(request), known);
  }

  /** The texts of the operator's rules as the engine names them, by id. */
  async #policyTexts(preset: string): Promise<ReadonlyMap<string, { readonly file: string; readonly text: string }>> {
    const { tools, operator } = this.#parts;
    const engine = await buildEngine(preset, { tools, operator });
    this.#engines.push(engine);
    return new Map(engine.policies.map(({ id, file, text }) => [id, { file, text }]));
  }

  #edited(texts: ReadonlyMap<string, { readonly file: string; readonly text: string }>): OperatorDirectory {
    const { operator } = this.#parts;
    const policies = operator.policies.map(({ name, text }) => {
      let edited = text;
      for (const [id, { clauses }] of this.#exceptions) {
        const rule = texts.get(id);
        if (rule?.file !== `policy/${name}`) continue;
        edited = edited.replace(rule.text, () => `${rule.text.replace(/\s*;\s*$/, "")}\n${[...clauses].join("\n")};`);
      }
      return { name, text: edited };
    });
    const added = [...this.#permits.values()].map(({ request, waives }) => permitFor(request, waives)).join("\n");
    return {
      ...operator,
      policies: added === "" ? policies : [...policies, { name: "suggested by explain.cedar", text: added }],
    };
  }
}

/** Why nothing is proposed for a call that no policy can name. */
const UNNAMED =
  "no permit could name the call: it is too long, or a rule asks about its arguments; write a permit by hand, or change the call";

function permitFor(request: PolicyRequest, waives: ReadonlySet<string>): string {
  const text = narrowestPermit(request, [...waives].sort());
  assert(text !== undefined, "only calls that can be named were met");
  return text;
}

function clauseFor(request: PolicyRequest): string {
  const clause = exceptionFor(request);
  assert(clause !== undefined, "only calls that can be named were met");
  return clause;
}

/** The same for two requests that one permit is about. */
function keyOf(request: PolicyRequest): string {
  return permitFor(request, new Set());
}
