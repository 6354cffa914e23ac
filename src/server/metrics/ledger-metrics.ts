/**
 * Counts from a ledger what all kernels of a state directory did, as metrics without a server.
 *
 * Names and labels are those of `/metrics`. Times are not among them: the ledger holds whole calls alone. INVARIANT: a
 * tool has a series of its own only where a kernel said that it has it.
 */
import { type Counter, Gauge, type MetricObjectWithValues, type MetricValue, Registry } from "prom-client";
import { textOf } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import { securityEventOf } from "../../ledger/audit/security-event.ts";
import type { LedgerReader, LedgerRecord } from "../ledger/ledger-reader.ts";
import { BUILT_IN_TOOLS } from "../operator/built-in-tools.ts";
import { handrailVersion } from "../operator/package-files.ts";
import { counterOf, UNKNOWN_TOOL } from "./call-metrics.ts";
import { METRICS } from "./catalog.ts";
import { LabelLimit } from "./label-limit.ts";
import { storeValues } from "./store-sizes.ts";

/** Names of tools that have series of their own, and reasons. */
const TOOLS_MAX = 512;
const REASONS_MAX = 256;

/** Metrics of a state directory. */
export interface LedgerMetrics {
  readonly text: () => Promise<string>;
  readonly json: () => Promise<MetricObjectWithValues<MetricValue<string>>[]>;
}

/** Reads the whole ledger once. */
export async function ledgerMetrics(reader: LedgerReader, stateDirectory: string): Promise<LedgerMetrics> {
  const registry = new Registry();
  const count = new LedgerCount(registry);
  const { sequence: head } = await reader.head();
  for (let from = 1; from <= head; from += LEDGER_READ_ROWS_MAX)
    for (const record of await reader.range(from, LEDGER_READ_ROWS_MAX)) count.take(record);
  const bytes = gaugeOf(registry, METRICS.storeBytes);
  for (const [[store = ""], size] of storeValues(stateDirectory)) bytes.set({ store }, size);
  gaugeOf(registry, METRICS.build).set({ version: handrailVersion(), node: process.version }, 1);
  return { text: () => registry.metrics(), json: () => registry.getMetricsAsJSON() };
}

function gaugeOf(registry: Registry, { name, help, labels }: (typeof METRICS)["storeBytes" | "build"]): Gauge {
  return new Gauge({ name, help, labelNames: [...labels], registers: [registry] });
}

class LedgerCount {
  readonly #known = new Set<string>(BUILT_IN_TOOLS.map(({ name }) => name));
  readonly #tools = new LabelLimit(TOOLS_MAX);
  readonly #reasons = new LabelLimit(REASONS_MAX);
  readonly #executions: Counter;
  readonly #errors: Counter;
  readonly #calls: Counter;
  readonly #denials: Counter;
  readonly #security: Counter;

  constructor(registry: Registry) {
    this.#executions = counterOf(registry, METRICS.executions);
    this.#errors = counterOf(registry, METRICS.errors);
    this.#calls = counterOf(registry, METRICS.calls);
    this.#denials = counterOf(registry, METRICS.denials);
    this.#security = counterOf(registry, METRICS.securityEvents);
  }

  take(record: LedgerRecord): void {
    const severity = securityEventOf(record)?.severity;
    if (severity !== undefined) this.#security.inc({ severity });
    const facts = factsOf(record);
    const { eventType } = record.entry;
    if (eventType === "kernel_started") this.#learn(facts);
    else if (eventType === "tool_executed") this.#executed(facts);
    else if (eventType === "tool_replayed") this.#ended(facts, "replayed", "");
    else if (eventType === "tool_execution_denied") this.#denied(facts);
  }

  #learn({ tools }: JsonObject): void {
    if (!Array.isArray(tools)) return;
    for (const name of tools) if (typeof name === "string" && this.#known.size < TOOLS_MAX) this.#known.add(name);
  }

  #executed(facts: JsonObject): void {
    const isSuccess = facts["success"] === true;
    const tool = this.#ended(facts, isSuccess ? "success" : "error", "");
    if (!isSuccess) this.#errors.inc({ tool, error: this.#reasons.of(wordIn(facts, "errorCode").toLowerCase()) });
  }

  #denied(facts: JsonObject): void {
    const layer = this.#reasons.of(wordIn(facts, "layer"));
    const reason = this.#reasons.of(wordIn(facts, "reason"));
    const tool = this.#ended(facts, "denied", layer);
    this.#errors.inc({ tool, error: reason });
    this.#denials.inc({ layer, reason });
  }

  #ended(facts: JsonObject, outcome: string, layer: string): string {
    const name = wordIn(facts, "tool");
    const tool = this.#known.has(name) ? this.#tools.of(name) : UNKNOWN_TOOL;
    this.#executions.inc({ tool });
    this.#calls.inc({ outcome, layer });
    return tool;
  }
}

function wordIn(facts: JsonObject, name: string): string {
  const value = facts[name];
  return typeof value === "string" ? value : "";
}

function factsOf({ payload }: LedgerRecord): JsonObject {
  const read: unknown = payload === undefined ? undefined : JSON.parse(textOf(payload) ?? "null");
  return isJsonObject(read) ? read : {};
}
