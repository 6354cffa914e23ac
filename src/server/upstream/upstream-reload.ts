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
import type { JsonObject } from "../../base/json.ts";
import type { ToolRegistry } from "../../kernel/index.ts";
import { BY_KERNEL } from "../../ledger/actors.ts";
import type { EventType } from "../../model/outcome/event.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { directoryState } from "../operator/configuration-state.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import { quietState, refusalOf } from "../reload/quiet-files.ts";
import { type TakeOverParts, takeOver } from "../reload/take-over.ts";
import type { UpstreamPlan, Upstreams } from "./upstreams.ts";

/** What a reload of upstream servers works on. */
export interface UpstreamReloadParts extends TakeOverParts {
  /** The configuration in force. */
  readonly live: { readonly operator: OperatorDirectory };
  /** All declared tools where those are the tools of upstream servers. */
  readonly declaredWithUpstreams: (tools: readonly Tool[]) => ToolRegistry;
  /** Does work while no other reload is under way. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
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
    const state = await quietState(() => this.#state(), before);
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
    const { live, declaredWithUpstreams, tell } = this.#parts;
    const plan = await this.#upstreams.plan();
    if (plan.tools === this.#upstreams.tools && plan.loaded.length + plan.withdrawn.length === 0) return plan.commit();
    await takeOver(this.#parts, {
      operator: live.operator,
      declared: declaredWithUpstreams(plan.tools),
      record: () => this.#recordPlan(plan),
      commit: plan.commit,
    });
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
