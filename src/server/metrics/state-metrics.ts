/**
 * Reads how a kernel and its state directory are, each time that metrics are asked for.
 *
 * A part that cannot be read is left out and counted: the others are shown all the same. INVARIANT: no label holds a
 * name that a person or an agent chose.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Counter, Gauge, type Registry } from "prom-client";
import { errorCode } from "../../base/errors.ts";
import type { OpenKernel } from "../compose.ts";
import { handrailVersion } from "../operator/package-files.ts";
import { counterOf } from "./call-metrics.ts";
import { METRICS, type MetricEntry } from "./catalog.ts";
import { storeValues, type Values } from "./store-sizes.ts";

/** A part of the state, and how it is read. */
type Part = readonly [name: string, read: () => Promise<readonly (readonly [MetricEntry, Values])[]>];

/** Gauges of one kernel. */
export class StateMetrics {
  readonly #parts: readonly Part[];
  readonly #registry: Registry;
  readonly #metrics = new Map<string, Counter | Gauge>();
  readonly #problems;

  constructor(registry: Registry, kernel: OpenKernel) {
    this.#registry = registry;
    this.#parts = partsOf(kernel);
    this.#problems = counterOf(registry, METRICS.scrapeProblems);
    const always = [METRICS.build, ...KERNEL_ENTRIES, ...STATE_ENTRIES];
    for (const entry of always) this.#metric(entry);
  }

  /** Reads everything anew. */
  async refresh(): Promise<void> {
    for (const metric of this.#metrics.values()) metric.reset();
    for (const [name, read] of this.#parts) {
      try {
        for (const [entry, values] of await read()) this.#set(entry, values);
      } catch {
        this.#problems.inc({ part: name }); // what is wrong with a store is reported by the calls that need it
      }
    }
  }

  /** Everything was reset before, so that adding sets. */
  #set(entry: MetricEntry, values: Values): void {
    const metric = this.#metric(entry);
    for (const [labels, value] of values) {
      if (labels.length === 0) metric.inc(value);
      else metric.inc(Object.fromEntries(entry.labels.map((label, index) => [label, labels[index] ?? ""])), value);
    }
  }

  #metric(entry: MetricEntry): Counter | Gauge {
    const known = this.#metrics.get(entry.name);
    if (known !== undefined) return known;
    const { name, help, labels, kind } = entry;
    const made = new (kind === "counter" ? Counter : Gauge)({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
    });
    this.#metrics.set(name, made);
    return made;
  }
}

const KERNEL_ENTRIES: readonly MetricEntry[] = Object.values(METRICS).filter(
  (entry) => entry.of === "kernel" && entry !== METRICS.scrapeProblems,
);
const STATE_ENTRIES: readonly MetricEntry[] = Object.values(METRICS).filter((entry) => entry.of === "state");

function partsOf(kernel: OpenKernel): readonly Part[] {
  return [
    ["kernel", async () => kernelValues(kernel)],
    ["approvals", async () => [one(METRICS.approvals, (await kernel.approvals.list({ state: "pending" })).length)]],
    ["sessions", async () => [one(METRICS.sessions, await activeSessions(kernel))]],
    ["freezes", () => freezeValues(kernel)],
    ["branches", async () => [one(METRICS.branches, (await kernel.branches.list()).length)]],
    ["views", async () => [one(METRICS.views, countEntries(join(kernel.stateDirectory, "views")))]],
    ["landings", async () => [one(METRICS.landings, (await kernel.landings.list()).landings.length)]],
    ["budgets", async () => [[METRICS.budget, await budgetValues(kernel)]]],
    ["stores", async () => [[METRICS.storeBytes, storeValues(kernel.stateDirectory)]]],
  ];
}

function one(entry: MetricEntry, value: number): readonly [MetricEntry, Values] {
  return [entry, [[[], value]]];
}

function kernelValues({ observation, health }: OpenKernel): readonly (readonly [MetricEntry, Values])[] {
  const { writable, waiting, stalls } = health();
  const turns = observation.turns();
  const telemetry = observation.telemetry();
  const signals = (["traces", "logs"] as const).flatMap((signal) => {
    const state = telemetry?.[signal];
    return state === undefined ? [] : [[signal, state] as const];
  });
  const dropped: Values = [
    ...signals.map(([signal, state]) => [[signal], state.dropped] as const),
    ...(telemetry === undefined ? [] : [[["log_lines"], telemetry.logLinesDropped] as const]),
  ];
  return [
    [METRICS.build, [[[handrailVersion(), process.version], 1]]],
    one(METRICS.underWay, observation.callsUnderWay()),
    one(METRICS.turnsRunning, turns.running),
    one(METRICS.turnsWaiting, turns.waiting),
    one(METRICS.ledgerWritable, writable ? 1 : 0),
    one(METRICS.ledgerWaiting, waiting),
    one(METRICS.spoolBytes, observation.spoolBytes()),
    one(METRICS.stalls, stalls.count),
    one(METRICS.longestStall, stalls.longestMs / 1000),
    one(METRICS.observerFailures, observation.observerFailures()),
    one(METRICS.invalidTraceparents, telemetry?.invalidTraceparents ?? 0),
    [METRICS.dropped, dropped],
    [METRICS.exported, signals.map(([signal, { exported }]) => [[signal], exported] as const)],
    [METRICS.exportFailures, signals.map(([signal, { failures }]) => [[signal], failures] as const)],
    [METRICS.exportQueue, signals.map(([signal, { waiting: queued }]) => [[signal], queued] as const)],
  ];
}

async function activeSessions({ administration }: OpenKernel): Promise<number> {
  const nowMs = Date.now();
  const sessions = await administration.listSessions();
  return sessions.filter(({ revokedAtMs, expiresAtMs }) => revokedAtMs === undefined && expiresAtMs > nowMs).length;
}

async function freezeValues({ freezes }: OpenKernel): Promise<readonly (readonly [MetricEntry, Values])[]> {
  const all = await freezes.listFreezes();
  const counts = new Map<string, number>();
  for (const { target, cause } of all) {
    const key = `${target.scope} ${cause}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const values = [...counts].map(([key, count]) => [key.split(" "), count] as const);
  return [[METRICS.frozen, values], one(METRICS.alertMode, all.some(({ cause }) => cause === "alert") ? 1 : 0)];
}

/** Of each kind of account and member, the one that is used most. */
async function budgetValues({ budgets }: OpenKernel): Promise<Values> {
  const most = new Map<string, number>();
  for (const { kind, lines } of await budgets.list())
    for (const { member, limit, spent, reserved } of lines) {
      if (limit === undefined) continue;
      const key = `${kind} ${member}`;
      const used = limit === 0 ? 1 : (spent + reserved) / limit;
      most.set(key, Math.max(most.get(key) ?? 0, used));
    }
  return [...most].map(([key, used]) => [key.split(" "), used] as const);
}

/** Entries of a directory; none where there is none. */
function countEntries(directory: string): number {
  try {
    return readdirSync(directory).length;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return 0;
    throw error;
  }
}
