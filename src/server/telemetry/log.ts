/**
 * Writes structured logs: one JSON object in a line, by area and level, to standard error or a file.
 *
 * INVARIANTS: every line is redacted before it is written; one that cannot be is left out and counted. Logging never
 * fails a call and never waits for the disk.
 */
import pino from "pino";
import { MIB } from "../../base/bytes.ts";
import { KernelError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { LogSettings } from "../../config/sections/observability.ts";
import { securityEventOfRecorded } from "../../ledger/audit/security-event.ts";
import type { ObservedCall } from "../../model/outcome/observed-call.ts";
import type { Redactor } from "../../redact/redact.ts";
import { LogFile } from "./log-file.ts";
import { LOG_AREAS, type LogArea, type LogLevel, type LogLevels } from "./log-levels.ts";
import type { Observer, RecordedEvent } from "./observers.ts";
import { redactedValue } from "./redacted-value.ts";

/** Lines that wait for the redactor, which is made with the first one. */
const UNREDACTED_MAX = 1024;

/** What a log is opened with. */
export interface LogParts {
  readonly settings: Pick<LogSettings, "file" | "max_mb" | "keep">;
  readonly levels: LogLevels;
  readonly instanceId: string;
  readonly redactor: () => Redactor | Promise<Redactor>;
  /** Writes a line for people, where there is no file, or where it cannot be written. */
  readonly standardError: (text: string) => void;
}

/** The log of one kernel. */
export class StructuredLog implements Observer {
  readonly #parts: LogParts;
  readonly #file: LogFile | undefined;
  readonly #areas: ReadonlyMap<LogArea, pino.Logger>;
  #unredacted = 0;
  #dropped = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(parts: LogParts) {
    const { settings, standardError, levels, instanceId } = parts;
    this.#parts = parts;
    if (settings.file !== undefined) {
      const onProblem = (message: string) => standardError(`handrail: ${message}\n`);
      const { file: path, max_mb: mb, keep } = settings;
      this.#file = new LogFile({ path, bytesMax: mb * MIB, keep, onProblem });
    }
    const root = pino(
      {
        level: "debug",
        base: { pid: process.pid, instance: instanceId },
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: {},
      },
      { write: (line: string) => this.#take(line) },
    );
    this.#areas = new Map(LOG_AREAS.map((area) => [area, root.child({ area }, { level: pinoLevel(levels[area]) })]));
  }

  /** Whether lines go to standard error, in place of those for people. */
  get isOnStandardError(): boolean {
    return this.#file === undefined;
  }

  /** Lines that were lost. */
  get dropped(): number {
    return this.#dropped + (this.#file?.dropped ?? 0);
  }

  readonly call = (call: ObservedCall): void => {
    const log = this.#areas.get("calls");
    if (log?.isLevelEnabled("debug")) log.debug(callFields(call), "call answered");
    const sandbox = this.#areas.get("sandbox");
    for (const { backend, endedBy, durationMs } of call.commands) {
      const fields = { tool: call.tool, backend, ended_by: endedBy, duration_ms: rounded(durationMs) };
      if (endedBy === undefined || endedBy === "cancelled") sandbox?.debug(fields, "command ended");
      else sandbox?.warn(fields, "command ended by a limit");
    }
  };

  readonly recorded = ({ event, sequence = 0, isRecorded }: RecordedEvent): void => {
    if (!isRecorded) this.#areas.get("ledger")?.error({ event: event.type }, "event not recorded");
    const { type, payload } = event;
    if (type === "kernel_started" || type === "kernel_stopped") this.#areas.get("kernel")?.info({}, type);
    if (CONFIG_EVENTS.has(type)) {
      const log = this.#areas.get("config");
      if (type === "policy_rejected") log?.warn({ details: payload }, type);
      else log?.info({ details: payload }, type);
    }
    const shaped = securityEventOfRecorded(event, sequence);
    if (shaped === undefined) return;
    const { severity } = shaped;
    const log = this.#areas.get("security");
    if (severity === "critical") log?.error({ ...shaped }, shaped.event);
    else if (severity === "warning") log?.warn({ ...shaped }, shaped.event);
    else log?.info({ ...shaped }, shaped.event);
  };

  readonly failed = (error: unknown): void => {
    const log = this.#areas.get(areaOf(error));
    log?.error(errorFields(error), error instanceof Error ? error.message : String(error));
  };

  readonly warned = (message: string): void => this.#areas.get("kernel")?.warn({}, message);

  readonly refused = (error: unknown): void => {
    this.#areas.get("doors")?.error(errorFields(error), error instanceof Error ? error.message : String(error));
  };

  /** Says what became of exporting. */
  telemetry(message: string): void {
    this.#areas.get("telemetry")?.warn({}, message);
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    await this.#pending;
    await this.#file?.close();
  }

  #take(line: string): void {
    try {
      const redactor = this.#parts.redactor();
      if (redactor instanceof Promise || this.#unredacted > 0) this.#later(line, redactor);
      else this.#write(redacted(redactor, line));
    } catch {
      this.#dropped += 1; // the redactor cannot be made, which every call says
    }
  }

  /** Lines keep their order, also where the first of them wait for the redactor. */
  #later(line: string, redactor: Redactor | Promise<Redactor>): void {
    if (this.#unredacted >= UNREDACTED_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#unredacted += 1;
    this.#pending = this.#pending.then(async () => {
      try {
        this.#write(redacted(await redactor, line));
      } catch {
        this.#dropped += 1; // the redactor cannot be made, which every call says
      } finally {
        this.#unredacted -= 1;
      }
    });
  }

  #write(line: string): void {
    if (this.#file === undefined) this.#parts.standardError(line);
    else this.#file.write(line);
  }
}

const CONFIG_EVENTS: ReadonlySet<string> = new Set([
  "policy_loaded",
  "policy_rejected",
  "settings_loaded",
  "gates_loaded",
]);

function pinoLevel(level: LogLevel): pino.LevelWithSilent {
  return level === "off" ? "silent" : level;
}

/** The line without its secrets. */
function redacted(redactor: Redactor, line: string): string {
  const value = JSON.parse(line) as JsonObject;
  return `${JSON.stringify(redactedValue(redactor, value))}\n`;
}

function callFields(call: ObservedCall): object {
  const { requestId, tool, outcome, denial, errorCode, sessionId, role, durationMs, outputBytes, stages } = call;
  return {
    request_id: requestId,
    tool: tool ?? "unknown",
    outcome,
    ...(denial && { layer: denial.layer, reason: denial.reason, rule: denial.ruleId }),
    ...(errorCode && { error: errorCode }),
    session_id: sessionId,
    role,
    duration_ms: rounded(durationMs),
    output_bytes: outputBytes,
    stages_ms: Object.fromEntries(stages.map(({ stage, durationMs: ms }) => [stage, rounded(ms)])),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return {};
  const code = error instanceof KernelError ? { code: error.code } : {};
  const isPlain = error instanceof KernelError && error.code !== "INTERNAL";
  return { ...code, ...(!isPlain && error.stack !== undefined && { stack: error.stack }) };
}

/** The area of a failure, by its code. */
function areaOf(error: unknown): LogArea {
  const code = error instanceof KernelError ? error.code : "";
  if (code.startsWith("LEDGER_")) return "ledger";
  if (code.startsWith("STORE_")) return "stores";
  return code.startsWith("CONFIG_") ? "config" : "kernel";
}
