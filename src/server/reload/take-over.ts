/**
 * Puts other tools in force while the kernel runs, with the policies that know them.
 *
 * INVARIANTS: nothing serves before it is recorded; whatever fails, what was in force stays. Tools and policies change
 * in one step.
 */
import type { ToolRegistry } from "../../kernel/index.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { recordOverrides, ToolsInForce } from "../operator/tools-in-force.ts";

/** Policies that are about to be in force. */
export interface ReadyPolicies {
  /** Records what differs. */
  readonly record: () => Promise<void>;
  /** Puts them in force, at once. */
  readonly commit: () => void;
}

/** What is changed, and where that is recorded. */
export interface TakeOverParts {
  readonly tools: ToolsInForce;
  /** Prepares the operator's policies for those tools. @throws KernelError POLICY_INVALID where they do not fit */
  readonly policiesFor: (operator: OperatorDirectory, tools: ToolsInForce) => Promise<ReadyPolicies>;
  readonly ledger: EventSink;
  readonly nowMs: () => number;
}

/** What is to be in force. */
export interface NextTools {
  /** The configuration that they are judged by, which is in force. */
  readonly operator: OperatorDirectory;
  readonly declared: ToolRegistry;
  /** Records what has changed in the source of the tools. */
  readonly record: () => Promise<void>;
  /** Puts that source's change in force, at once. */
  readonly commit: () => void;
}

/** Takes them over. @throws what failed; then nothing has changed */
export async function takeOver(
  { tools, policiesFor, ledger, nowMs }: TakeOverParts,
  { operator, declared, record, commit }: NextTools,
): Promise<void> {
  const next = new ToolsInForce(declared);
  const now = tools.under(operator.settings);
  const then = next.under(operator.settings);
  await next.ready();
  // a tool less needs no other policies: what they say of it decides nothing
  const isAdded = then.tools.some(({ name }) => now.registry.get(name) === undefined);
  const prepared = isAdded ? await policiesFor(operator, next) : undefined;
  await prepared?.record();
  await recordOverrides(ledger, nowMs(), { now: then.overridden, before: now.overridden });
  await record();
  // No await from here on: tools and policies change together.
  tools.replace(declared);
  prepared?.commit();
  commit();
}
