/**
 * Holds the policies in force: one engine per preset, made when it is first needed.
 *
 * The loading of an engine is recorded before it decides anything. A new set of policies is built and checked beside
 * the old one, and takes its place in one step or not at all.
 *
 * Policies that are not valid are remembered as such and refuse every call of that preset until they are replaced. Any
 * other failure may pass, and the next call tries again.
 *
 * INVARIANT: between two calls there is one set of policies for all presets, never parts of two.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { KernelError } from "../../base/errors.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import { isPresetName, PRESET_NAMES } from "../../model/people/preset.ts";
import type { Session } from "../../model/people/session.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { isClosed } from "../../policy/closed-tools.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import { buildEngine, type PolicyInputs, requireKeptExamples } from "./policies.ts";

/**
 * Replaced policies that are kept for the calls that were decided by them; a call that outlives them all is refused.
 */
export const POLICY_RETIRED_MAX = 4;

/** The engine of one preset in use and what it replaces; `previous` is absent where the old policies were not valid. */
export interface PolicyChange {
  readonly preset: string;
  readonly policy: string;
  readonly previous?: string;
}

/** A checked set of policies that can take the place of the one in force. */
export interface PreparedPolicies {
  /** What differs for the presets that are in use. */
  readonly changes: readonly PolicyChange[];
  /** Puts it in force, at once. */
  readonly commit: () => void;
}

/** Engines by preset. */
export class PolicyCatalog {
  readonly #ledger: EventSink;
  readonly #nowMs: () => number;
  #current: PolicySet;
  readonly #retired: PolicyEngine[] = [];

  constructor(inputs: PolicyInputs, ledger: EventSink, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
    this.#current = new PolicySet(inputs, this.#record);
  }

  /** The engine in force under a preset. @throws KernelError POLICY_INVALID while the policies are not valid */
  readonly engine = (preset: string): Promise<PolicyEngine> => this.#current.engine(preset);

  /**
   * Whether the session's preset refuses every call of the tool. Policies of the operator's may open what is closed, so
   * that nothing is known to be while there are any.
   */
  readonly closes = ({ preset, role }: Pick<Session, "preset" | "role">, tool: Tool): boolean =>
    !this.#current.hasOwnPolicies &&
    isPresetName(preset) &&
    isClosed(preset, role, { name: tool.name, effect: tool.capability.effect, actions: tool.actions });

  /** The hashes in force, by the presets in use. */
  async hashes(): Promise<{ readonly [preset: string]: string }> {
    const known = await Promise.all(
      this.#current.presets().map(async (preset) => [preset, (await this.#current.settled(preset))?.hash]),
    );
    return Object.fromEntries(known.filter(([, hash]) => hash !== undefined));
  }

  /**
   * Builds and checks what would be in force with `inputs`, under every preset.
   * @throws KernelError POLICY_INVALID or CONFIG_INVALID when anything in it is not valid
   */
  async prepare(inputs: PolicyInputs): Promise<PreparedPolicies> {
    const next = new PolicySet(inputs, this.#record);
    for (const preset of PRESET_NAMES) {
      await next.build(preset);
      await nextTurn(); // validating holds the thread; calls get their turn in between
    }
    await next.requireExamples();
    const changes: PolicyChange[] = [];
    const before = new Map<string, PolicyEngine>();
    const used = this.#current.presets();
    for (const preset of used) {
      const [old, engine] = [await this.#current.settled(preset), await next.build(preset)];
      if (old !== undefined) before.set(preset, old);
      if (old !== undefined && old.hash === engine.hash) next.adopt(preset, old);
      else changes.push({ preset, policy: engine.hash, ...(old !== undefined && { previous: old.hash }) });
    }
    const commit = () => {
      // A preset that came into use since is built and recorded when its next call comes.
      for (const preset of used) next.markRecorded(preset);
      this.#current = next;
      const replaced = changes.flatMap(({ preset }) => before.get(preset) ?? []);
      this.#retired.push(...replaced);
      for (const engine of this.#retired.splice(0, Math.max(0, this.#retired.length - POLICY_RETIRED_MAX)))
        engine.dispose();
    };
    return { changes, commit };
  }

  readonly #record = async (inputs: PolicyInputs, { preset, policy, previous }: PolicyChange): Promise<void> => {
    const payload = {
      preset,
      policy,
      ...(previous !== undefined && { previous }),
      operatorFiles: inputs.operator.policies.map((file) => file.name),
    };
    const event = { type: "policy_loaded", ...BY_OPERATOR, timeMs: this.#nowMs(), payload } as const;
    await this.#ledger.record(event, "durable");
  };

  /** Records changes that are about to be put in force. */
  async recordChanges(inputs: PolicyInputs, { changes }: PreparedPolicies): Promise<void> {
    for (const change of changes) await this.#record(inputs, change);
  }
}

type Recording = (inputs: PolicyInputs, change: PolicyChange) => Promise<void>;

/** One set of policies: all presets of the same files. */
class PolicySet {
  readonly #inputs: PolicyInputs;
  readonly #record: Recording;
  readonly #built = new Map<string, Promise<PolicyEngine>>();
  readonly #inForce = new Map<string, Promise<PolicyEngine>>();
  #examples: Promise<void> | undefined;

  constructor(inputs: PolicyInputs, record: Recording) {
    this.#inputs = inputs;
    this.#record = record;
  }

  /** Whether the operator has written policies. */
  get hasOwnPolicies(): boolean {
    return this.#inputs.operator.policies.length > 0;
  }

  /** Presets that were asked for. */
  presets(): readonly string[] {
    return [...this.#inForce.keys()];
  }

  /** The engine that decides, recorded. */
  engine(preset: string): Promise<PolicyEngine> {
    return remembered(this.#inForce, preset, async () => {
      const engine = await this.build(preset);
      await this.requireExamples();
      await this.#record(this.#inputs, { preset, policy: engine.hash });
      return engine;
    });
  }

  build(preset: string): Promise<PolicyEngine> {
    return remembered(this.#built, preset, () => buildEngine(preset, this.#inputs));
  }

  requireExamples(): Promise<void> {
    this.#examples ??= requireKeptExamples(this.#inputs);
    this.#examples.catch((error: unknown) => {
      if (!lasts(error)) this.#examples = undefined;
    });
    return this.#examples;
  }

  /** The engine that decides under `preset`, if there is one. */
  async settled(preset: string): Promise<PolicyEngine | undefined> {
    return this.#inForce.get(preset)?.catch(() => undefined);
  }

  /** Goes on with an engine of equal policies, which remembers its decisions. */
  adopt(preset: string, engine: PolicyEngine): void {
    this.#built.set(preset, Promise.resolve(engine));
  }

  markRecorded(preset: string): void {
    const built = this.#built.get(preset);
    if (built !== undefined) this.#inForce.set(preset, built);
  }
}

/** Makes each value once. Only a failure that lies in the policies themselves is kept. */
function remembered<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found) return found;
  const making = make();
  known.set(key, making);
  making.catch((error: unknown) => {
    if (!lasts(error) && known.get(key) === making) known.delete(key);
  });
  return making;
}

function lasts(error: unknown): boolean {
  return error instanceof KernelError && (error.code === "POLICY_INVALID" || error.code === "CONFIG_INVALID");
}
