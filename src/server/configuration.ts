/**
 * Holds the configuration in force in one kernel.
 *
 * It is the operator's directory as it was last taken over, and everything that is made from it. A hot reload replaces
 * all of it in one step.
 */
import { join } from "node:path";
import { assert, configInvalid } from "../base/errors.ts";
import type { KernelSettings } from "../kernel/index.ts";
import type { EventSink } from "../model/outcome/event.ts";
import { NO_GATES } from "../model/people/gates.ts";
import type { SpendingLimits } from "../model/spending/spending-limits.ts";
import type { GitRemotes } from "../model/work/git-remote.ts";
import type { CustomRule } from "../redact/custom-rules.ts";
import type { KnownSecret, Redactor } from "../redact/redact.ts";
import type { SecretBroker } from "../sandbox/net/broker/broker.ts";
import type { EgressNetwork } from "../sandbox/net/gate/admission.ts";
import { HotReload } from "./hot-reload.ts";
import type { Environment, OperatorDirectory } from "./operator/operator-directory.ts";
import { problemOfGates } from "./operator/operator-gates.ts";
import { spendingLimits } from "./operator/spending-limits.ts";
import type { ToolsInForce } from "./operator/tools-in-force.ts";
import { warningOfUnknownTools } from "./operator/unknown-tools.ts";
import { PolicyCatalog } from "./policy/policy-catalog.ts";
import { validatedPolicies } from "./policy/validated-policies.ts";
import type { ReadyPolicies } from "./reload/take-over.ts";
import type { SecretMeans } from "./secrets/secret-values.ts";
import { hiddenDirectories } from "./workspace/own-directories.ts";
import { type ClosableCatalog, createWorkspaceCatalog } from "./workspace/workspace-catalog.ts";

/** What is in force; a reload replaces it. */
export interface LiveOperator {
  operator: OperatorDirectory;
}

/** What a configuration is kept with. */
export interface ConfigurationParts {
  readonly live: LiveOperator;
  readonly stateDirectory: string;
  readonly environment: Environment;
  /** Where the files of a branch lie. */
  readonly treeOf: (branchId: string) => string;
  readonly tools: ToolsInForce;
  readonly ledger: EventSink;
  readonly nowMs: () => number;
  readonly tell: (message: string) => void;
  readonly onInternalError: (error: unknown) => void;
}

/** Policies and workspaces by the configuration in force, and the look after it. */
export interface Configuration {
  readonly policy: PolicyCatalog;
  readonly workspaces: ClosableCatalog;
  readonly reload: HotReload;
  /** Prepares policies for other tools, to be recorded and put in force. @throws KernelError POLICY_INVALID */
  readonly policiesFor: (operator: OperatorDirectory, among: ToolsInForce) => Promise<ReadyPolicies>;
  /** Ends the look after the configuration, and gives workspaces back. */
  readonly close: () => Promise<void>;
}

/** Makes what depends on the configuration, and begins to look after it. */
export function openConfiguration(parts: ConfigurationParts): Configuration {
  const { live, stateDirectory, tools, ledger, nowMs, tell, onInternalError } = parts;
  const misspelt = warningOfUnknownTools(live.operator, tools.under(live.operator.settings).tools);
  if (misspelt !== undefined) tell(misspelt);
  const gates = problemOfGates(live.operator, tools.under(live.operator.settings).tools);
  if (gates !== undefined) tell(gates);
  const hidden = hiddenDirectories([live.operator.path, stateDirectory], parts.environment);
  const workspaces = createWorkspaceCatalog(() => live.operator, hidden, { treeOf: parts.treeOf, tell });
  const validated = validatedPolicies(stateDirectory, onInternalError);
  const inputsOf = (operator: OperatorDirectory, among = tools) => ({
    tools: among.under(operator.settings).tools,
    operator,
    validated,
  });
  const policy = new PolicyCatalog(inputsOf(live.operator), ledger, nowMs);
  const reload = new HotReload({ live, policy, tools, inputsOf, workspaces, ledger, nowMs, tell, onInternalError });
  reload.start();
  const close = async () => {
    await reload.close();
    await workspaces.close();
  };
  const policiesFor = async (operator: OperatorDirectory, among: ToolsInForce) => {
    const inputs = inputsOf(operator, among);
    const prepared = await policy.prepare(inputs);
    return { record: () => policy.recordChanges(inputs, prepared), commit: prepared.commit };
  };
  return { policy, workspaces, reload, policiesFor, close };
}

/** Gives the redactor of the configuration in force. @throws KernelError CONFIG_INVALID when it cannot be made */
export type CurrentRedactor = () => Redactor | Promise<Redactor>;

/**
 * What is known of remotes by readings that redactors were made with: nobody sends a password that the call's own
 * redactor does not hide.
 */
const remotesBy = new WeakMap<Redactor, GitRemotes>();

/** What is known of remotes for calls that `redactor` hides the secrets of. */
export function gitRemotesBy(redactor: Redactor): GitRemotes {
  const remotes = remotesBy.get(redactor);
  assert(remotes, "calls are redacted by redactors of the configuration");
  return remotes;
}

/** The broker with the values that redactors hide; none where the operator names no secrets. */
const brokersBy = new WeakMap<Redactor, SecretBroker>();

/** What calls make requests with whose redactor hides those values; none where there are none. */
export function brokerBy(redactor: Redactor): SecretBroker | undefined {
  return brokersBy.get(redactor);
}

/** Most operators name no secrets, and need not load what reads them. */
async function openedSecrets(by: OperatorDirectory, environment: Environment, means: SecretMeans) {
  if (Object.keys(by.settings.secrets).length === 0) return undefined;
  const { secretsOf } = await import("./secrets/secret-values.ts");
  return secretsOf(by, environment, means);
}

/** Redactors with further rules, by the one that they are made from. */
const openersBy = new WeakMap<Redactor, (rules: readonly CustomRule[]) => Redactor>();
/** Such redactors of one configuration that are kept: each is some hundred kilobytes. */
const OPENED_MAX = 8;

/** A redactor that hides what `redactor` does, and what `rules` find. @throws KernelError CONFIG_INVALID */
export async function redactorWith(redactor: Redactor, rules: readonly CustomRule[]): Promise<Redactor> {
  const open = openersBy.get(redactor);
  assert(open, "calls are redacted by redactors of the configuration");
  return open(rules);
}

function onceByRules(open: (rules: readonly CustomRule[]) => Redactor): typeof open {
  const opened = new Map<string, Redactor>();
  return (rules) => {
    const key = JSON.stringify(rules);
    const known = opened.get(key) ?? open(rules);
    opened.delete(key);
    for (const oldest of opened.keys()) if (opened.size >= OPENED_MAX) opened.delete(oldest);
    opened.set(key, known);
    return known;
  };
}

/**
 * The redactor of the configuration in force: made with the first call, and anew after a reload, and where a file with
 * a password has changed.
 * @param environment of the kernel: its secrets are hidden wherever they stand
 */
export function currentRedactor(
  live: Readonly<LiveOperator>,
  environment: Environment,
  network?: EgressNetwork,
): CurrentRedactor {
  let made:
    | { readonly by: OperatorDirectory; readonly isCurrent: () => boolean; readonly redactor: Redactor }
    | undefined;
  let hidden: readonly KnownSecret[] = [];
  let making: { readonly by: OperatorDirectory; readonly redactor: Promise<Redactor> } | undefined;
  const make = async (by: OperatorDirectory): Promise<Redactor> => {
    const { openRedactor } = await import("./operator/redaction.ts");
    const { gitRemotesOf } = await import("./secrets/git-remotes.ts");
    const brokered = await openedSecrets(by, environment, { before: hidden, ...(network && { network }) });
    const { secrets, remotes, isCurrent } = gitRemotesOf(by, environment, brokered?.broker);
    if (brokered !== undefined) hidden = brokered.known;
    const name = join(by.path, "handrail.yaml");
    const placeholders = Object.values(by.settings.secrets).map(({ placeholder }) => placeholder);
    const more = [...secrets, ...hidden];
    const openWith = (added: readonly CustomRule[]) => {
      const { redaction } = by.settings;
      const rules = [...redaction.rules, ...added];
      const opened = openRedactor({ ...redaction, rules }, environment, { name, more, placeholders });
      remotesBy.set(opened, remotes);
      if (brokered !== undefined) brokersBy.set(opened, brokered.broker);
      return opened;
    };
    const redactor = openWith([]);
    openersBy.set(redactor, onceByRules(openWith));
    const areCurrent = () => isCurrent() && brokered?.isCurrent() !== false;
    if (live.operator === by) made = { by, isCurrent: areCurrent, redactor };
    return redactor;
  };
  return () => {
    const { operator } = live;
    if (made?.by === operator && made.isCurrent()) return made.redactor;
    if (making?.by === operator) return making.redactor;
    const begun = { by: operator, redactor: make(operator) };
    making = begun;
    const ended = () => {
      if (making === begun) making = undefined;
    };
    begun.redactor.then(ended, ended);
    return begun.redactor;
  };
}

/**
 * The operator's switches, looked up for each call.
 * @throws KernelError CONFIG_INVALID when `TOOLS_ENABLE` or `TOOLS_ARM` says something else than 0 or 1
 */
export function kernelSettings(environment: Environment, live: Readonly<LiveOperator>): KernelSettings {
  const wanted = switchOf(environment, "TOOLS_ENABLE");
  const armed = switchOf(environment, "TOOLS_ARM") === "1";
  let disabled: { readonly by: OperatorDirectory; readonly tools: ReadonlySet<string> } | undefined;
  let limits: { readonly by: OperatorDirectory; readonly limits: SpendingLimits } | undefined;
  return {
    /** `TOOLS_ENABLE=0` closes the master gate; `TOOLS_ENABLE=1` opens it only where the operator's settings do. */
    get toolsEnabled() {
      return wanted !== "0" && live.operator.settings.tools.enabled;
    },
    get disabledTools() {
      const { operator } = live;
      if (disabled?.by !== operator) disabled = { by: operator, tools: new Set(operator.settings.tools.disabled) };
      return disabled.tools;
    },
    get violationsPerMinute() {
      return live.operator.settings.alert.violations_per_minute;
    },
    get operationsAtOnce() {
      return live.operator.settings.limits.operations_at_once;
    },
    get limits() {
      const { operator } = live;
      if (limits?.by !== operator) limits = { by: operator, limits: spendingLimits(operator.settings.limits) };
      return limits.limits;
    },
    get freezeOnAlert() {
      return live.operator.settings.alert.freeze;
    },
    get documents() {
      return live.operator.settings.evidence.documents;
    },
    armed,
    get gates() {
      return live.operator.narrowing?.gates ?? NO_GATES;
    },
  };
}

function switchOf(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  if (value === undefined || value === "" || value === "0" || value === "1") return value;
  throw configInvalid(`${name} is \`${value}\`; set it to 0 or 1, or leave it out`);
}
