/**
 * Defines the sections `metrics`, `telemetry` and `log` of `handrail.yaml`: where a kernel tells how it is.
 *
 * INVARIANTS: nothing leaves the machine that the operator did not ask for. A collector is one server, named by its
 * address, and reached over TLS unless it is this machine or the operator says otherwise. A header's value stands
 * nowhere in the configuration. A workspace can set none of it.
 */
import * as z from "zod";
import { MAX_PATH_LEN } from "../../base/limits.ts";
import { webAddress } from "../../names/web-address.ts";
import { baseAddress } from "./servers.ts";

/** Host names under which metrics may be asked for. */
const METRICS_NAMES_MAX = 64;
/** Headers that go with each export, and characters of a name. */
const HEADERS_MAX = 16;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Headers that say how a message is sent: the exporter's own. */
const OWN_HEADER = /^(?:host|content-type|content-length|connection|transfer-encoding|te|trailer|upgrade|expect)$/i;
/** Seconds that an export may take when the operator does not say, and at most. */
const EXPORT_SECONDS = 10;
const EXPORT_SECONDS_MAX = 60;
/** Calls, and events, that wait for export when the operator does not say, and at most. */
const EXPORT_QUEUE = 2048;
const EXPORT_QUEUE_MAX = 65_536;
/** Mebibytes of a log file before it is put aside, and files that are kept, when the operator does not say. */
const LOG_MB = 10;
const LOG_MB_MAX = 4096;
const LOG_KEEP = 5;
const LOG_KEEP_MAX = 100;

/** The schema of `metrics`. */
export const metricsSettings = z.strictObject({
  /** Where `handrail serve` answers Prometheus, as `127.0.0.1:9464`; nowhere when absent. */
  listen: z.string().max(300).optional(),
  /** Lets `listen` be an address that other machines reach; host names by which they ask for it. */
  allow_remote: z.array(z.string().min(1).max(253)).max(METRICS_NAMES_MAX).optional(),
});

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "must be the name of a variable");
/** Where a header's value is kept. */
const kept = z.union([
  z.strictObject({ env: variable }),
  z.strictObject({ file: z.string().startsWith("/", "must be an absolute path").max(MAX_PATH_LEN) }),
  /** The name of a secret under `secrets` that is bound to the collector. */
  z.strictObject({ secret: z.string().min(1).max(128) }),
]);
const headerName = z
  .string()
  .regex(HEADER_NAME, "must be the name of a header")
  .refine((name) => !OWN_HEADER.test(name), "is a header that the exporter sets itself");

const otlp = z
  .strictObject({
    /** Where the collector's paths begin; `/v1/traces` and `/v1/logs` are added. */
    endpoint: baseAddress,
    /** Lets the endpoint be without TLS on another machine. */
    allow_plain_http: z.boolean().default(false),
    headers: z
      .record(headerName, kept)
      .default({})
      .refine((all) => Object.keys(all).length <= HEADERS_MAX, `holds more than ${HEADERS_MAX} headers`),
    /** What is sent: a trace of each call, and the security audit as logs. */
    signals: z.array(z.enum(["traces", "logs"])).default(["traces", "logs"]),
    /** The share of calls that begin a trace of their own; those that join a trace do as it says. */
    sample: z.number().min(0).max(1).default(1),
    timeout_seconds: z.int().min(1).max(EXPORT_SECONDS_MAX).default(EXPORT_SECONDS),
    /** Calls, and events, that wait while the collector does not take them; what comes then is dropped and counted. */
    queue: z.int().min(16).max(EXPORT_QUEUE_MAX).default(EXPORT_QUEUE),
    service_name: z.string().min(1).max(255).default("handrail"),
  })
  .superRefine(({ endpoint: text, allow_plain_http: isAllowed }, context) => {
    const read = webAddress(text);
    if ("problem" in read || read.scheme === "https" || isAllowed || isThisMachine(read.host.host)) return;
    const message =
      "has no TLS and lies on another machine: use `https`, a collector on this machine, or `allow_plain_http: true`";
    context.addIssue({ code: "custom", path: ["endpoint"], message });
  });

/** The schema of `telemetry`. */
export const telemetrySettings = z.strictObject({ otlp: otlp.optional() });

/** The schema of `log`. */
export const logSettings = z.strictObject({
  /** As `HANDRAIL_LOG` has it, which stands before it: `info`, or `sandbox=debug,kernel=warn`. */
  levels: z.string().max(1024).default("info"),
  /** Standard error when absent. */
  file: z.string().startsWith("/", "must be an absolute path").max(MAX_PATH_LEN).optional(),
  /** Mebibytes of the file before it is put aside as `FILE.1`. */
  max_mb: z.int().min(1).max(LOG_MB_MAX).default(LOG_MB),
  /** Files that are kept beside it. */
  keep: z.int().min(1).max(LOG_KEEP_MAX).default(LOG_KEEP),
});

/** Parsed `telemetry.otlp`. */
export type OtlpSettings = z.infer<typeof otlp>;
/** Parsed `log`. */
export type LogSettings = z.infer<typeof logSettings>;

/** What a collector's headers need: a secret that is known, and bound to that server over TLS. */
export function problemOfHeader(
  { endpoint: text, headers }: Pick<OtlpSettings, "endpoint" | "headers">,
  name: string,
  secrets: Readonly<Record<string, { readonly bindings: readonly { readonly host: string; readonly port: number }[] }>>,
): string | undefined {
  const from = headers[name];
  const at = webAddress(text);
  if (from === undefined || !("secret" in from) || "problem" in at) return undefined;
  if (at.scheme !== "https") return "goes with an endpoint that begins with `https` alone; use `env` or `file`";
  const found = Object.hasOwn(secrets, from.secret) ? secrets[from.secret] : undefined;
  if (found === undefined)
    return `\`${from.secret}\` is not defined under \`secrets\`; \`handrail secrets add\` adds it`;
  const { host } = at.host;
  if (found.bindings.some((one) => one.host === host && one.port === at.port)) return undefined;
  return `\`${from.secret}\` is not bound to \`${host}:${at.port}\``;
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
