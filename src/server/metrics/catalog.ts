/**
 * Lists every metric of a kernel: its name, kind, labels, what it means and when to alert.
 *
 * One table for the code, the guide and the tests, so that a dashboard cannot name what there is not.
 */

/** One metric. */
export interface MetricEntry {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
  /** When somebody should look; empty where nothing is to be alerted on. */
  readonly alert: string;
  /** `calls`: of this process. `state`: of the state directory, the same from each of its kernels. */
  readonly of: "calls" | "kernel" | "state";
}

const counter = { kind: "counter", of: "calls" } as const;
const histogram = { kind: "histogram", of: "calls" } as const;
const ofKernel = { kind: "gauge", of: "kernel" } as const;
const ofState = { kind: "gauge", of: "state" } as const;

/** All metrics beside those of the process itself. */
export const METRICS = {
  executions: {
    ...counter,
    name: "tool_executions_total",
    labels: ["tool"],
    help: "Calls of the tool that were answered, whatever came of them.",
    alert: "",
  },
  errors: {
    ...counter,
    name: "tool_errors_total",
    labels: ["tool", "error"],
    help: "Calls of the tool that were refused or failed, by the reason or code in lower case.",
    alert: "more than a tenth of a tool's calls for 15 minutes",
  },
  execution: {
    ...histogram,
    name: "tool_execution_duration_seconds",
    labels: ["tool"],
    help: "Time that the tool itself ran, without what comes before and after.",
    alert: "",
  },
  calls: {
    ...counter,
    name: "handrail_calls_total",
    labels: ["outcome", "layer"],
    help: "Answered calls by outcome; `layer` is the one that refused, empty otherwise.",
    alert: '`layer="authenticate"` rises: somebody guesses tokens, or a client has an old one',
  },
  denials: {
    ...counter,
    name: "handrail_denials_total",
    labels: ["layer", "reason"],
    help: "Refused calls by layer and reason.",
    alert: "a sudden rise of one reason: an agent runs against a rule",
  },
  call: {
    ...histogram,
    name: "handrail_call_duration_seconds",
    labels: ["outcome"],
    help: "Time from a call's arrival to its answer; with approvals, that of people as well.",
    alert: "",
  },
  stage: {
    ...histogram,
    name: "handrail_call_stage_duration_seconds",
    labels: ["stage"],
    help: "Time that calls spent in each stage of the pipeline.",
    alert: "the 99th percentile of `intent` or `record` above 0.5 s: the disk is slow",
  },
  outputBytes: {
    ...counter,
    name: "handrail_output_bytes_total",
    labels: [],
    help: "Bytes of results before they were cut.",
    alert: "",
  },
  truncated: {
    ...counter,
    name: "handrail_truncated_results_total",
    labels: [],
    help: "Results of which callers got a part.",
    alert: "",
  },
  secrets: {
    ...counter,
    name: "handrail_secrets_found_total",
    labels: [],
    help: "Secrets that were hidden in what calls would have shown.",
    alert: "rises steadily: secrets lie where agents work",
  },
  sandboxRuns: {
    ...counter,
    name: "handrail_sandbox_runs_total",
    labels: ["backend", "end"],
    help: "Commands that ran, by what contained them and what ended them: `exit`, `timeout`, `memory`, `output` or `cancelled`.",
    alert: '`end="memory"` rises: limits are too small, or something eats memory',
  },
  sandboxRun: {
    ...histogram,
    name: "handrail_sandbox_run_duration_seconds",
    labels: ["backend"],
    help: "Time that commands ran, with the start of their sandbox.",
    alert: "",
  },
  ledgerRecord: {
    ...histogram,
    name: "handrail_ledger_record_duration_seconds",
    labels: ["durability"],
    help: "Time until an event was in the ledger: `durable` ones are on disk then.",
    alert: "the 99th percentile of `durable` above 0.5 s",
  },
  ledgerFailures: {
    ...counter,
    name: "handrail_ledger_failures_total",
    labels: [],
    help: "Events that could not be recorded; their calls were refused or ended as unknown.",
    alert: "any",
  },
  internalErrors: {
    ...counter,
    name: "handrail_internal_errors_total",
    labels: ["code"],
    help: "Bugs and background failures by code; the log has the cause.",
    alert: "any `INTERNAL`, `STORE_CORRUPT` or `STORE_UNAVAILABLE`",
  },
  doorErrors: {
    ...counter,
    name: "handrail_door_errors_total",
    labels: [],
    help: "Errors that front doors met.",
    alert: "",
  },
  securityEvents: {
    ...counter,
    name: "handrail_security_events_total",
    labels: ["severity"],
    help: "Events of the security audit by severity.",
    alert: "any `critical`",
  },
  underWay: {
    ...ofKernel,
    name: "handrail_calls_under_way",
    labels: [],
    help: "Calls that run or wait in this kernel.",
    alert: "",
  },
  turnsRunning: {
    ...ofKernel,
    name: "handrail_turns_running",
    labels: [],
    help: "Commands and the like that run now.",
    alert: "",
  },
  turnsWaiting: {
    ...ofKernel,
    name: "handrail_turns_waiting",
    labels: [],
    help: "Calls that wait for their turn.",
    alert: "above 0 for 10 minutes",
  },
  ledgerWritable: {
    ...ofKernel,
    name: "handrail_ledger_writable",
    labels: [],
    help: "Whether the ledger takes entries: 1 or 0. While it does not, effects are refused.",
    alert: "0 for a minute",
  },
  ledgerWaiting: {
    ...ofKernel,
    name: "handrail_ledger_waiting_events",
    labels: [],
    help: "Events that wait for the ledger.",
    alert: "above 10,000 for 5 minutes",
  },
  spoolBytes: {
    ...ofKernel,
    name: "handrail_ledger_spool_bytes",
    labels: [],
    help: "Bytes that are spooled and not yet in the ledger.",
    alert: "above 8 MiB for 5 minutes",
  },
  stalls: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_kernel_stalls_total",
    labels: [],
    help: "Times that the kernel's thread stood for more than a second while calls were under way.",
    alert: "rises",
  },
  longestStall: {
    ...ofKernel,
    name: "handrail_kernel_longest_stall_seconds",
    labels: [],
    help: "The longest of them.",
    alert: "",
  },
  exported: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_telemetry_exported_total",
    labels: ["signal"],
    help: "Calls (`traces`) and events (`logs`) that the collector took.",
    alert: "",
  },
  dropped: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_telemetry_dropped_total",
    labels: ["signal"],
    help: "Calls and events that were not exported, and lines of the log (`log_lines`) that were lost.",
    alert: "rises",
  },
  exportFailures: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_telemetry_failures_total",
    labels: ["signal"],
    help: "Requests to the collector that failed.",
    alert: "",
  },
  exportQueue: {
    ...ofKernel,
    name: "handrail_telemetry_queue",
    labels: ["signal"],
    help: "Calls and events that wait for the collector.",
    alert: "",
  },
  invalidTraceparents: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_traceparent_invalid_total",
    labels: [],
    help: "Calls whose `traceparent` could not be read; they began a trace of their own.",
    alert: "",
  },
  observerFailures: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_observer_failures_total",
    labels: [],
    help: "Times that metrics, traces or logs failed to take what happened.",
    alert: "any",
  },
  scrapeProblems: {
    ...ofKernel,
    kind: "counter",
    name: "handrail_metrics_problems_total",
    labels: ["part"],
    help: "Times that a part of the state could not be read for metrics; its metrics are left out then.",
    alert: "rises",
  },
  approvals: {
    ...ofState,
    name: "handrail_approvals_pending",
    labels: [],
    help: "Requests for approval that nobody has decided; at most 1000 are counted.",
    alert: "above 0 for 10 minutes: agents wait for people",
  },
  sessions: {
    ...ofState,
    name: "handrail_sessions_active",
    labels: [],
    help: "Sessions that are neither over nor revoked.",
    alert: "",
  },
  frozen: {
    ...ofState,
    name: "handrail_frozen_principals",
    labels: ["scope", "cause"],
    help: "Freezes in force: of everybody, a principal, or a principal in one workspace.",
    alert: "any",
  },
  alertMode: {
    ...ofState,
    name: "handrail_alert_mode",
    labels: [],
    help: "Whether a principal is frozen by too many violations: 1 or 0.",
    alert: "1",
  },
  branches: {
    ...ofState,
    name: "handrail_branches_kept",
    labels: [],
    help: "Branches that are kept.",
    alert: "",
  },
  views: {
    ...ofState,
    name: "handrail_views_kept",
    labels: [],
    help: "Views of workspaces that are kept, those of running commands included.",
    alert: "",
  },
  landings: {
    ...ofState,
    name: "handrail_landings_interrupted",
    labels: [],
    help: "Landings that stopped halfway and wait for a person.",
    alert: "any",
  },
  budget: {
    ...ofState,
    name: "handrail_budget_used_ratio",
    labels: ["kind", "member"],
    help: "Of the account with the least left: the share that is spent or reserved.",
    alert: "above 0.9",
  },
  storeBytes: {
    ...ofState,
    name: "handrail_store_bytes",
    labels: ["store"],
    help: "Bytes of the state directory's databases, with what is written ahead.",
    alert: "grows faster than the disk allows",
  },
  build: {
    ...ofKernel,
    name: "handrail_build_info",
    labels: ["version", "node"],
    help: "Always 1; the labels say what runs.",
    alert: "",
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;
