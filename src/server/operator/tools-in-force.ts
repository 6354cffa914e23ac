/**
 * The tools of one kernel as the operator's configuration in force leaves them. A reload gives others only where it
 * changes capabilities or what tools may use of the machine, so that calls in flight go on under every other change.
 */

import { canonicalJson, type JsonObject } from "../../base/json.ts";
import type { Settings } from "../../config/config.ts";
import { patternsReady, ToolRegistry } from "../../kernel/index.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { configuredTools, type ToolSettings } from "./built-in-tools.ts";
import { effectiveTools, type OverriddenTool, overrideFacts } from "./capability-overrides.ts";

/** Configurations whose tools are kept: the one in force, one that is about to be, and one that was refused. */
const KEPT_MAX = 3;

/** What of a configuration decides which tools there are. */
type DecidingSettings = Pick<Settings, "capabilities"> & ToolSettings;

const NO_MODELS = {};

/** Tools under one configuration. */
export interface ToolsUnder {
  readonly registry: ToolRegistry;
  readonly tools: readonly Tool[];
  readonly overridden: readonly OverriddenTool[];
}

/** The tools of one kernel. */
export class ToolsInForce {
  #declared: ToolsUnder;
  /** By the text of the capabilities; the one that was asked for last is the last. */
  readonly #kept = new Map<string, ToolsUnder>();
  #last: { readonly by: DecidingSettings; readonly under: ToolsUnder } | undefined;

  /** @param declared the tools as their authors declared them */
  constructor(declared: ToolRegistry) {
    this.#declared = underNothing(declared);
  }

  /** From now on these are the declared tools. */
  replace(declared: ToolRegistry): void {
    this.#declared = underNothing(declared);
    this.#kept.clear();
    this.#last = undefined;
  }

  /** The tools under `settings`; equal settings give the same tools. */
  under({ capabilities, system, models = NO_MODELS, tasks }: DecidingSettings): ToolsUnder {
    const last = this.#last;
    const isSame = last?.by.capabilities === capabilities && last.by.system === system;
    if (isSame && last.by.models === models && last.by.tasks === tasks) return last.under;
    const by = { capabilities, system, models, tasks };
    const under = this.#find(by);
    this.#last = { by, under };
    return under;
  }

  /** Resolves once everything that `under` has given can be asked about. */
  ready(): Promise<void> {
    return patternsReady();
  }

  #find(settings: DecidingSettings): ToolsUnder {
    const { capabilities, system, models = NO_MODELS, tasks } = settings;
    const isPlain = Object.keys({ ...capabilities, ...models }).length === 0 && (system ?? tasks) === undefined;
    if (isPlain) return this.#declared;
    const key = canonicalJson(JSON.parse(JSON.stringify({ capabilities, system, models, tasks })) as JsonObject);
    const found = this.#kept.get(key) ?? this.#make(settings);
    this.#kept.delete(key);
    for (const oldest of this.#kept.keys()) if (this.#kept.size >= KEPT_MAX) this.#kept.delete(oldest);
    this.#kept.set(key, found);
    return found;
  }

  #make(settings: DecidingSettings): ToolsUnder {
    const added = configuredTools(settings);
    const { tools, overridden } = effectiveTools([...this.#declared.tools, ...added], settings);
    if (overridden.length + added.length === 0) return this.#declared;
    const registry = new ToolRegistry();
    for (const tool of tools) registry.register(tool);
    return { registry, tools, overridden };
  }
}

function underNothing(declared: ToolRegistry): ToolsUnder {
  return { registry: declared, tools: declared.getAll(), overridden: [] };
}

/** Records what is overridden from now on; a tool that no longer is, is recorded without changes. */
export async function recordOverrides(
  ledger: EventSink,
  nowMs: number,
  { now, before = [] }: { readonly now: readonly OverriddenTool[]; readonly before?: readonly OverriddenTool[] },
): Promise<void> {
  const isKnown = (one: OverriddenTool) => before.some((other) => JSON.stringify(other) === JSON.stringify(one));
  const gone = before
    .filter(({ tool }) => !now.some((one) => one.tool === tool))
    .map(({ tool }) => ({ tool, changes: [] }));
  for (const overridden of [...now.filter((one) => !isKnown(one)), ...gone]) {
    const payload = overrideFacts(overridden);
    await ledger.record({ type: "capability_overridden", ...BY_OPERATOR, timeMs: nowMs, payload }, "durable");
  }
}
