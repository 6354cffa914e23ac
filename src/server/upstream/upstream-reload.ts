/**
 * Takes over what the operator changes in upstream servers while the kernel runs.
 *
 * A look compares the states of their files. What has changed and is quiet is read; then policies are prepared for the
 * tools that there will be, it is recorded, and all of it takes effect in one step. A tool that stays as it was stays
 * the same tool, so that calls of it go on.
 *
 * INVARIANTS: nothing serves before it is recorded; whatever fails, what was in force stays. A failed look is tried
 * again.
 */
import { setTimeout as wait } from "node:timers/promises";
import { KernelError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ToolRegistry } from "../../kernel/index.ts";
import { BY_KERNEL } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { directoryState } from "../operator/configuration-state.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { recordOverrides, ToolsInForce } from "../operator/tools-in-force.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import type { UpstreamPlan, Upstreams } from "./upstreams.ts";

/** Milliseconds that the files must stay as they are before they are read. */
const SETTLE_MS = 100;
/** Looks at files that keep changing; then they are looked at again later. */
const SETTLE_LOOKS_MAX = 20;

/** Policies that are about to be in force. */
export interface ReadyPolicies {
  /** Records what differs. */
  readonly record: () => Promise<void>;
  /** Puts them in force, at once. */
  readonly commit: () => void;
}

/** What a reload of upstream servers works on. */
export interface UpstreamReloadParts {
  /** The configuration in force. */
  readonly live: { readonly operator: OperatorDirectory };
  readonly tools: ToolsInForce;
  /** All declared tools where those are the tools of upstream servers. */
  readonly declaredWithUpstreams: (tools: readonly Tool[]) => ToolRegistry;
  /** Prepares the operator's policies for those tools. @throws KernelError POLICY_INVALID where they do not fit */
  readonly policiesFor: (operator: OperatorDirectory, tools: ToolsInForce) => Promise<ReadyPolicies>;
  /** Does work while no other reload is under way. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  readonly ledger: EventSink;
  readonly nowMs: () => number;
  readonly tell: (message: string) => void;
}

/** The reload of one kernel's upstream servers. */
export class UpstreamReload {
  readonly #directory: string;
  readonly #upstreams: Upstreams;
  readonly #parts: UpstreamReloadParts;
  /** State of the files that was last judged. */
  #seen: string | undefined;
  /** The refusal that the operator was last told of. */
  #told = "";

  constructor(directory: string, upstreams: Upstreams, parts: UpstreamReloadParts) {
    this.#directory = directory;
    this.#upstreams = upstreams;
    this.#parts = parts;
  }

  /** Looks once, and takes over what has changed. @throws what failed; the next look tries again */
  async look(): Promise<void> {
    const before = await this.#state();
    if (before === this.#seen) return;
    const state = await this.#quietState(before);
    if (state === undefined) return; // the next look is soon
    try {
      await this.#parts.alone(() => this.#putInForce());
      this.#told = "";
    } catch (error) {
      const problem = refusalOf(error);
      if (problem !== this.#told)
        this.#parts.tell(`the changed upstream servers are refused, and those that were in force stay: ${problem}`);
      this.#told = problem;
    }
    this.#seen = state;
  }

  async #putInForce(): Promise<void> {
    const { live, tools, declaredWithUpstreams, policiesFor, ledger, nowMs, tell } = this.#parts;
    const { operator } = live;
    const plan = await this.#upstreams.plan();
    if (plan.tools === this.#upstreams.tools && plan.loaded.length + plan.withdrawn.length === 0) return plan.commit();
    const declared = declaredWithUpstreams(plan.tools);
    const next = new ToolsInForce(declared);
    const now = tools.under(operator.settings);
    const then = next.under(operator.settings);
    await next.ready();
    // a tool less needs no other policies: what they say of it decides nothing
    const isAdded = then.tools.some(({ name }) => now.registry.get(name) === undefined);
    const prepared = isAdded ? await policiesFor(operator, next) : undefined;
    await prepared?.record();
    await recordOverrides(ledger, nowMs(), { now: then.overridden, before: now.overridden });
    await this.#recordPlan(plan);
    // No await from here on: tools and policies change together.
    tools.replace(declared);
    prepared?.commit();
    plan.commit();
    for (const line of linesOf(plan)) tell(line);
  }

  async #recordPlan({ loaded, withdrawn }: UpstreamPlan): Promise<void> {
    for (const { module, replaces } of loaded)
      await this.#record("plugin_loaded", { ...factsOf(module), ...(replaces !== undefined && { replaces }) });
    for (const module of withdrawn) await this.#record("plugin_withdrawn", { ...factsOf(module), why: "removed" });
  }

  async #record(type: EventType, payload: JsonObject): Promise<void> {
    const { ledger, nowMs } = this.#parts;
    await ledger.record({ type, ...BY_KERNEL, timeMs: nowMs(), payload }, "durable");
  }

  /** The state once it is quiet, or nothing while somebody keeps changing it. */
  async #quietState(first: string): Promise<string | undefined> {
    let before = first;
    for (let looks = 0; looks < SETTLE_LOOKS_MAX; looks += 1) {
      await wait(SETTLE_MS);
      const now = await this.#state();
      if (now === before) return now;
      before = now;
    }
    return undefined;
  }

  #state(): Promise<string> {
    return directoryState(this.#directory, /\.json$/);
  }
}

function factsOf({ tools, ...module }: LoadedModule): JsonObject {
  return { ...module, tools: [...tools] };
}

function linesOf({ loaded, withdrawn }: UpstreamPlan): readonly string[] {
  return [
    ...loaded.map(({ module: { module, tools } }) => `upstream server \`${module}\` offers ${tools.length} tools now`),
    ...withdrawn.map(({ module }) => `upstream server \`${module}\` is gone, with its tools`),
  ];
}

/** Why the files or the policies for their tools are refused. @throws any other failure */
function refusalOf(error: unknown): string {
  if (error instanceof KernelError && (error.code === "CONFIG_INVALID" || error.code === "POLICY_INVALID"))
    return error.message;
  throw error;
}
