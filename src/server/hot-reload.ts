/**
 * Reloads the operator's changed directory in a running kernel, as a whole or not at all.
 *
 * When it cannot take the new configuration over as a whole, it keeps the old one as a whole. A look costs a few status
 * calls beside all calls. A change is read once it has been quiet for a moment, and read again if it changed while it
 * was read, so that half a change is not taken for a whole one. What is read is parsed, validated, tried against its
 * examples and recorded before it decides anything.
 *
 * INVARIANTS: whatever fails, what was in force stays in force. Settings, and files that merely vanish with their
 * directory, change nothing when they are gone: what is missing for a moment must not lift what it forbids.
 */

import { setTimeout as wait } from "node:timers/promises";
import { KernelError } from "../base/errors.ts";
import { blake3Hex } from "../base/hash.ts";
import { canonicalJson, type JsonObject, type JsonValue } from "../base/json.ts";
import type { Settings } from "../config/config.ts";
import { BY_OPERATOR } from "../ledger/actors.ts";
import type { EventSink, EventType } from "../model/outcome/event.ts";
import { NO_GATES } from "../model/people/gates.ts";
import { configurationState } from "./operator/configuration-state.ts";
import { type OperatorDirectory, readOperatorDirectory } from "./operator/operator-directory.ts";
import {
  gateFacts,
  NO_GATE_FILES,
  problemOfGates,
  type ReadGates,
  TOOL_POLICY_FILE,
} from "./operator/operator-gates.ts";
import { recordOverrides, type ToolsInForce } from "./operator/tools-in-force.ts";
import { warningOfUnknownTools } from "./operator/unknown-tools.ts";
import type { PolicyInputs } from "./policy/policies.ts";
import type { PolicyCatalog } from "./policy/policy-catalog.ts";

/** Milliseconds between two looks at the configuration of a running kernel: a change is noticed within it. */
const RELOAD_CHECK_MS = 1_000;
/**
 * Milliseconds that the configuration must stay as it is before it is read: a change of several files is one change.
 */
const RELOAD_SETTLE_MS = 100;
/** Looks at a configuration that keeps changing; then it is read as it is, and again once it is quiet. */
const RELOAD_SETTLE_LOOKS_MAX = 20;

/** What a reload works on. */
export interface ReloadParts {
  /** The configuration in force; replaced in one step. */
  readonly live: { operator: OperatorDirectory };
  readonly policy: PolicyCatalog;
  readonly tools: Pick<ToolsInForce, "under" | "ready">;
  readonly inputsOf: (operator: OperatorDirectory) => PolicyInputs;
  readonly workspaces: { readonly forget: () => void; readonly refresh: () => Promise<void> };
  readonly ledger: EventSink;
  readonly nowMs: () => number;
  /** Told the operator: what was taken over, and what was refused and why. */
  readonly tell: (message: string) => void;
  readonly onInternalError: (error: unknown) => void;
}

/** How patient a reload is, in milliseconds. */
export interface ReloadTiming {
  readonly checkMs: number;
  readonly settleMs: number;
}

const TIMING: ReloadTiming = { checkMs: RELOAD_CHECK_MS, settleMs: RELOAD_SETTLE_MS };

/**
 * Settings that take effect without a restart: everything that is looked up anew for each call, session or workspace.
 */
const RELOADED_SETTINGS: ReadonlySet<string> = new Set([
  "approvals",
  "preset",
  "tools",
  "files",
  "alert",
  "sessions",
  "roles",
  "workspaces",
  "redaction",
  "capabilities",
  "limits",
  "system",
  "git",
  "web",
  "secrets",
  "models",
  "evidence",
]);

/** Settings in which a tool's name can be misspelt. */
const NAMING_TOOLS: ReadonlySet<string> = new Set(["tools", "capabilities", "limits"]);

/** The reload of one kernel. */
export class HotReload {
  readonly #parts: ReloadParts;
  readonly #timing: ReloadTiming;
  /** Digest of the configuration that was last taken over or refused. */
  #judged: string;
  /** Digest of the refused configuration that the operator was last told of. */
  #told = "";
  /** State of the files that was last judged, if it was quiet then. */
  #seen: string | undefined;
  #lastError = "";
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(parts: ReloadParts, timing: ReloadTiming = TIMING) {
    this.#parts = parts;
    this.#timing = timing;
    this.#judged = digestOf(parts.live.operator);
  }

  /** Begins to look. The first look reads the files, because they may have changed while the kernel started. */
  start(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.look().finally(() => this.start()), this.#timing.checkMs);
    this.#timer.unref();
  }

  /** Ends; resolves once no look is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Looks once, and takes over what has changed. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  /** Looks, after whatever look is under way, which may have begun before the change. Never rejects. */
  async lookNow(): Promise<void> {
    if (this.#closed) return;
    await this.#looking;
    await this.look();
  }

  async #lookOnce(): Promise<void> {
    await this.#parts.workspaces.refresh();
    const { path } = this.#parts.live.operator;
    const state = await configurationState(path);
    if (state === this.#seen) return;
    const { operator, digest, problem, quietState } = await this.#readQuietly(path, state);
    if (this.#closed) return;
    if (digest !== this.#judged) {
      if (operator === undefined) await this.#refuse(problem, digest);
      else await this.#takeOver(operator, digest);
    }
    // Whatever was thrown above is tried again with the next look.
    this.#seen = quietState;
    this.#lastError = "";
  }

  /** Waits until nothing changes any more, reads, and makes sure that nothing changed meanwhile. */
  async #readQuietly(path: string, first: string): Promise<Reading> {
    let before = first;
    let quiet = false;
    for (let looks = 0; looks < RELOAD_SETTLE_LOOKS_MAX && !this.#closed; looks += 1) {
      await wait(this.#timing.settleMs);
      const now = await configurationState(path);
      quiet = now === before;
      before = now;
      if (!quiet) continue;
      const read = await this.#read(path);
      if ((await configurationState(path)) === before) return { ...read, quietState: before };
      quiet = false;
    }
    // Somebody keeps changing it: what is there is judged, and looked at again.
    return { ...(await this.#read(path)), quietState: undefined };
  }

  async #read(path: string): Promise<Omit<Reading, "quietState">> {
    try {
      const operator = await readOperatorDirectory(path);
      const problem = whatVanished(this.#parts.live.operator, operator);
      if (problem === undefined) return { operator, digest: digestOf(operator), problem: "" };
      return { operator: undefined, digest: `refused ${problem}`, problem };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { operator: undefined, digest: `refused ${error.message}`, problem: error.message };
    }
  }

  async #takeOver(operator: OperatorDirectory, digest: string): Promise<void> {
    const { live, policy, tools, inputsOf, workspaces, ledger, nowMs } = this.#parts;
    let inputs: ReturnType<typeof inputsOf>;
    let prepared: Awaited<ReturnType<PolicyCatalog["prepare"]>>;
    try {
      inputs = inputsOf(operator); // tools that the settings add may have the name of a program's own
      await tools.ready();
      prepared = await policy.prepare(inputs);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#refuse(error.message, digest);
    }
    const settings = changedSettings(live.operator.settings, operator.settings);
    await policy.recordChanges(inputs, prepared);
    if (settings.length > 0)
      await this.#record("settings_loaded", settingsFacts(live.operator.settings, operator.settings, settings));
    await recordOverrides(ledger, nowMs(), {
      now: tools.under(operator.settings).overridden,
      before: tools.under(live.operator.settings).overridden,
    });
    const gates = [live.operator.narrowing?.gates ?? NO_GATES, operator.narrowing?.gates ?? NO_GATES] as const;
    if (gates[0].hash !== gates[1].hash) await this.#record("gates_loaded", gateFacts(operator, gates[0]));
    // No await from here on: policies, settings and workspaces change together.
    prepared.commit();
    live.operator = operator;
    workspaces.forget();
    this.#judged = digest;
    for (const { preset, policy: hash } of prepared.changes)
      this.#parts.tell(`policy reloaded: preset ${preset} is ${hash} now`);
    if (settings.length > 0) this.#parts.tell(settingsMessage(settings));
    const namesTools = settings.some((name) => NAMING_TOOLS.has(name));
    const misspelt = namesTools ? warningOfUnknownTools(operator, inputs.tools) : undefined;
    if (misspelt !== undefined) this.#parts.tell(misspelt);
    if (gates[0].hash === gates[1].hash) return;
    this.#parts.tell("modes, skills, tool specs and policy.json reloaded");
    const doubt = problemOfGates(operator, inputs.tools);
    if (doubt !== undefined) this.#parts.tell(doubt);
  }

  async #refuse(problem: string, digest: string): Promise<void> {
    const { policy, tell } = this.#parts;
    if (digest !== this.#told) {
      tell(
        `the changed configuration is refused and the old one stays in force; correct it, it is read again by itself (\`handrail policy check\` and \`handrail policy test\` try it out):\n${problem}`,
      );
    }
    this.#told = digest;
    const facts = { problem: problem.slice(0, PROBLEM_CHARACTERS_MAX).toWellFormed(), kept: await policy.hashes() };
    await this.#record("policy_rejected", facts);
    this.#judged = digest;
  }

  async #record(type: EventType, payload: JsonObject): Promise<void> {
    const { ledger, nowMs } = this.#parts;
    await ledger.record({ type, ...BY_OPERATOR, timeMs: nowMs(), payload }, "durable");
  }

  /** A failure that lasts is told once. */
  #report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#lastError) this.#parts.onInternalError(error);
    this.#lastError = message;
  }
}

/** Characters of a problem that the ledger keeps: the operator has the whole of it on standard error. */
const PROBLEM_CHARACTERS_MAX = 16_384;

interface Reading {
  /** Absent when what is there cannot be used. */
  readonly operator: OperatorDirectory | undefined;
  readonly digest: string;
  readonly problem: string;
  /** State of the files that were read, when they were quiet. */
  readonly quietState: string | undefined;
}

function isRefusal(error: unknown): error is KernelError {
  return error instanceof KernelError && (error.code === "POLICY_INVALID" || error.code === "CONFIG_INVALID");
}

function whatVanished(before: OperatorDirectory, now: OperatorDirectory): string | undefined {
  if (before.exists && !now.exists)
    return `\`${before.path}\` is gone; put it back, or restart to run with the defaults`;
  if (before.settingsFile === true && now.settingsFile === false)
    return `\`${before.path}/handrail.yaml\` is gone; put it back, or make it empty to run with the defaults`;
  if (before.policies.length > 0 && now.policyDirectory === false)
    return `\`${before.path}/policy\` is gone; put it back, or make it empty to run without policies of your own`;
  return whatGatesVanished(before, now) ?? whatGatesBroke(now);
}

function whatGatesVanished(
  { path, narrowing: before = NO_GATE_FILES }: OperatorDirectory,
  { narrowing: now = NO_GATE_FILES }: OperatorDirectory,
) {
  const has = ({ files }: ReadGates) =>
    files.some(({ name }) => name === TOOL_POLICY_FILE || name === `tools/${TOOL_POLICY_FILE}`);
  if (has(before) && !has(now))
    return `\`${path}/${TOOL_POLICY_FILE}\` is gone; put it back, or make it allow everything with \`"default_allow": true\``;
  const hadSpecs = before.files.some(({ name }) => name.startsWith("tools/"));
  if (hadSpecs && !now.toolDirectory)
    return `\`${path}/tools\` is gone; put it back, or make it empty to run without specs`;
  return undefined;
}

/** Where a kernel starts with such rules no tool runs; while one runs, those that it has stay. */
function whatGatesBroke({ narrowing }: OperatorDirectory): string | undefined {
  return narrowing === undefined || narrowing.gates.rules.ok ? undefined : narrowing.gates.rules.problem;
}

function digestOf({ exists, settings, policies, examples = [], trusted = [], narrowing }: OperatorDirectory): string {
  return blake3Hex(
    canonicalJson(plain({ exists, settings, policies, examples, trusted, narrowing: narrowing?.files ?? [] })),
  );
}

function changedSettings(before: Settings, now: Settings): readonly (keyof Settings)[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])] as (keyof Settings)[];
  return names
    .filter((name) => canonicalJson(plain(before[name] ?? null)) !== canonicalJson(plain(now[name] ?? null)))
    .sort();
}

function settingsFacts(before: Settings, now: Settings, changed: readonly string[]): JsonObject {
  const digest = (settings: Settings) => `blake3:${blake3Hex(canonicalJson(plain(settings)))}`;
  return {
    settings: digest(now),
    previous: digest(before),
    changed,
    afterRestart: changed.filter((name) => !RELOADED_SETTINGS.has(name)),
  };
}

function settingsMessage(changed: readonly string[]): string {
  const [now, later] = [
    changed.filter((name) => RELOADED_SETTINGS.has(name)),
    changed.filter((name) => !RELOADED_SETTINGS.has(name)),
  ];
  const restart = later.length === 0 ? "" : `; ${later.join(", ")} will change with a restart`;
  return `handrail.yaml reloaded: ${now.length === 0 ? "nothing has changed yet" : `${now.join(", ")} changed`}${restart}`;
}

/** Without members that are `undefined`. */
function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
