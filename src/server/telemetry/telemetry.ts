/**
 * Opens what the operator's settings ask for: structured logs, and the export of traces and security events.
 *
 * Nothing is loaded where they ask for nothing.
 */
import type { Settings } from "../../config/config.ts";
import type { Redactor } from "../../redact/redact.ts";
import type { SecretBroker } from "../../sandbox/net/broker/broker.ts";
import type { EgressNetwork } from "../../sandbox/net/gate/admission.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { handrailVersion } from "../operator/package-files.ts";
import type { StructuredLog } from "./log.ts";
import type { LogLevels } from "./log-levels.ts";
import { LOG_VARIABLE, type Observers } from "./observers.ts";
import type { OtlpExporter, OtlpState } from "./otlp.ts";

/** What telemetry is opened with. */
export interface TelemetryParts {
  readonly settings: Pick<Settings, "log" | "telemetry">;
  /** As `logLevelsWanted` gives them. */
  readonly levels: LogLevels | undefined;
  readonly environment: Environment;
  readonly instanceId: string;
  readonly observers: Observers;
  readonly redactor: () => Redactor | Promise<Redactor>;
  /** The operator's secrets as the redactor hides them. */
  readonly brokerBy: (redactor: Redactor) => SecretBroker | undefined;
  readonly authorities: () => string | undefined;
  /** The machine's own when absent. */
  readonly network?: EgressNetwork;
  /** What writes lines for people. */
  readonly reporter: { readonly line: (message: string) => void; readonly replaceLines: () => void };
}

/** How telemetry is. */
export interface TelemetryState extends OtlpState {
  /** Lines of the log that were lost. */
  readonly logLinesDropped: number;
}

/** What was opened. */
export interface Telemetry {
  readonly state: () => TelemetryState;
  readonly close: () => Promise<void>;
}

/**
 * The levels that are wanted of the structured log; `undefined` where there is to be none.
 * @throws KernelError CONFIG_INVALID for areas or levels that there are not
 */
export async function logLevelsWanted(
  settings: Pick<Settings, "log">,
  environment: Environment,
): Promise<LogLevels | undefined> {
  const said = environment[LOG_VARIABLE];
  const isSaid = said !== undefined && said !== "";
  const wanted = isSaid ? said : settings.log?.levels;
  if (wanted === undefined) return undefined;
  const { parseLogLevels } = await import("./log-levels.ts");
  return parseLogLevels(wanted, isSaid ? LOG_VARIABLE : "`log.levels`");
}

/** Opens telemetry. */
export async function openTelemetry(parts: TelemetryParts): Promise<Telemetry> {
  const { observers, reporter } = parts;
  const log = await openLog(parts);
  const ends = log === undefined ? [] : [observers.add(log)];
  const told = (message: string) => {
    log?.telemetry(message);
    reporter.line(message);
  };
  if (log?.isOnStandardError === true) reporter.replaceLines();
  const otlp = await openOtlp(parts, told);
  if (otlp !== undefined) ends.push(observers.add(otlp));
  return {
    state: () => ({
      invalidTraceparents: 0,
      ...otlp?.state,
      logLinesDropped: log?.dropped ?? 0,
    }),
    async close() {
      for (const end of ends) end();
      await otlp?.close();
      await log?.close();
    },
  };
}

async function openLog(parts: TelemetryParts): Promise<StructuredLog | undefined> {
  const { settings, levels, instanceId, redactor } = parts;
  if (levels === undefined) return undefined;
  const [{ StructuredLog: Opened }, { logSettings }] = await Promise.all([
    import("./log.ts"),
    import("../../config/sections/observability.ts"),
  ]);
  return new Opened({
    settings: settings.log ?? logSettings.parse({}),
    levels,
    instanceId,
    redactor,
    standardError: (text) => void process.stderr.write(text),
  });
}

async function openOtlp(parts: TelemetryParts, tell: (message: string) => void): Promise<OtlpExporter | undefined> {
  const { otlp } = parts.settings.telemetry;
  if (otlp === undefined) return undefined;
  const [{ OtlpExporter: Opened }, { headerValues }, { MACHINE_NETWORK }] = await Promise.all([
    import("./otlp.ts"),
    import("./header-values.ts"),
    import("../../sandbox/net/egress.ts"),
  ]);
  const { environment, instanceId, redactor, brokerBy, authorities, network } = parts;
  const broker = async () => brokerBy(await redactor());
  return new Opened({
    settings: otlp,
    target: {
      headers: () => headerValues(otlp.headers, { environment, broker }),
      connections: { network: network ?? MACHINE_NETWORK, authorities },
    },
    version: handrailVersion(),
    instanceId,
    redactor,
    tell,
  });
}
