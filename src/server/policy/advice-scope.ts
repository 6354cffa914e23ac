/**
 * Proposes changes to a lease or to zones so that a refused call gets further.
 *
 * The caller tries what is found here before it is told.
 */
import type { Denial } from "../../model/outcome/decision.ts";
import { LEASE_DIMENSIONS, type Lease, type LeaseScope, type Restriction } from "../../model/people/lease.ts";
import { BUILT_IN_ZONE_RULES, type ZoneRules } from "../../model/place/zone.ts";
import { grantOf } from "../workspace/grants.ts";
import { planWorkspace, workspaceBy } from "../workspace/workspace-catalog.ts";
import type { Advice, AdviceParts, Assumed, NextStep } from "./advice.ts";

/** How the kernel says what a lease lacks. */
const LACKS = /^a lease whose (?<dimension>\w+) include `(?<value>.*)`$/s;

/** The dimension and the pattern that a lease lacks; for one that has ended, that it be renewed. */
export function adviseLease(state: Assumed, denial: Denial): NextStep {
  const { lease } = state.who;
  if (denial.reason === "lease_expired") {
    if (lease.releasedAtMs !== undefined)
      return `the lease ${lease.id} was released, which cannot be taken back; make a session under another`;
    return assume(
      state,
      { ...lease, expiresAtMs: Number.MAX_SAFE_INTEGER },
      `renew the lease: handrail leases renew ${lease.id} --lifetime 8h`,
    );
  }
  const { dimension: name, value = "" } = LACKS.exec(denial.fix ?? "")?.groups ?? {};
  const dimension = LEASE_DIMENSIONS.find((one) => one === name);
  if (dimension === undefined) return `the lease ${lease.id} refuses it: ${denial.message}`;
  const pattern = dimension === "readPaths" || dimension === "writePaths" ? literalGlob(value) : value;
  const scope: LeaseScope = { ...lease.scope, [dimension]: widened(lease.scope[dimension], pattern) };
  const change = `use a lease whose \`${dimension}\` include \`${pattern}\`; a lease never widens, so make the session anew with it`;
  return assume(state, { ...lease, scope }, change);
}

function assume(state: Assumed, lease: Lease, change: string): Assumed {
  return { ...state, who: { ...state.who, lease }, changes: [...state.changes, { kind: "lease", change }] };
}

function widened(restriction: Restriction, pattern: string): Restriction {
  return restriction.map((patterns) => [...patterns, pattern]);
}

/** A glob that matches `path` and nothing else. */
function literalGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, (character) => `\\${character}`).replace(/^!/, "\\!");
}

interface ZonePattern {
  readonly file: string;
  readonly key: "secret" | "read_only" | "shared";
  readonly pattern: string;
  /** The key as its file has it. */
  readonly named: string;
}

/**
 * The patterns of settings that put a file into its zone: removing them all is the narrowest change, if any is enough.
 */
export async function adviseZone(parts: AdviceParts, state: Assumed, denial: Denial): Promise<NextStep> {
  const { session } = state.who;
  const path = denial.targetPath ?? "";
  const isTrusted = state.changes.some(({ kind }) => kind === "trust");
  const plan = await planWorkspace(() => parts.operator, session, { hidden: parts.hidden, assumeTrust: isTrusted });
  const operatorFile = `${parts.operator.path}/handrail.yaml`;
  const granted = grantOf(parts.operator.settings, session.serviceRoot)?.files;
  const lists = [
    { file: operatorFile, rules: parts.operator.settings.files },
    ...(granted ? [{ file: `${operatorFile} (workspaces[], ${session.serviceRoot})`, rules: granted }] : []),
    { file: `${session.serviceRoot}/handrail.yaml`, rules: plan.own.files },
  ];
  const ofFlow = (plan.flow?.config.blockPatterns ?? []).map(
    (pattern): ZonePattern => ({
      file: `${session.serviceRoot}/.flow/config.json`,
      key: "secret",
      pattern,
      named: "scope.block_patterns",
    }),
  );
  const found = [
    ...lists.flatMap(({ file, rules }) =>
      (["secret", "read_only", "shared"] as const).flatMap((key) =>
        rules[key].map((pattern): ZonePattern => ({ file, key, pattern, named: `files.${key}` })),
      ),
    ),
    ...ofFlow,
  ].filter((one) => isIn(one, path, session));
  if (found.length === 0)
    return `\`${path}\` lies in a zone that is built in (${denial.ruleId}), and no setting lifts that; work on another file`;
  if (denial.ruleId === "ZONE:installation")
    return `\`${path}\` belongs to the Handrail that is running (${denial.ruleId}), and no setting lifts that; work in another checkout of it`;
  const rules = lessThan(plan.rules, found);
  if (workspaceBy(rules, session).zones.classify({ root: "service", path }) === denial.ruleId.slice("ZONE:".length))
    return `\`${path}\` lies in a zone that is built in as well (${denial.ruleId}), and no setting lifts that; work on another file`;
  const changes = found.map(
    ({ file, named, pattern }): Advice => ({
      kind: "setting",
      change: `remove \`${pattern}\` from \`${named}\` in ${file}`,
    }),
  );
  return {
    ...state,
    assuming: { ...state.assuming, workspace: workspaceBy(rules, session) },
    changes: [...state.changes, ...changes],
  };
}

const NO_RULES: ZoneRules = {
  ...BUILT_IN_ZONE_RULES,
  secret: [],
  secretTemplates: [],
  managed: [],
  shared: [],
  protected: [],
  settings: [],
};

function isIn({ key, pattern }: ZonePattern, path: string, session: Parameters<typeof workspaceBy>[1]): boolean {
  const alone = { secret: { ownSecret: [pattern] }, read_only: { readOnly: [pattern] }, shared: { shared: [pattern] } }[
    key
  ];
  return workspaceBy({ ...NO_RULES, ...alone }, session).zones.classify({ root: "service", path }) !== "own";
}

function lessThan(rules: ZoneRules, found: readonly ZonePattern[]): ZoneRules {
  const gone = (key: ZonePattern["key"]) =>
    new Set(found.filter((one) => one.key === key).map(({ pattern }) => pattern));
  const [secret, readOnly, shared] = [gone("secret"), gone("read_only"), gone("shared")];
  return {
    ...rules,
    ownSecret: rules.ownSecret.filter((pattern) => !secret.has(pattern)),
    readOnly: rules.readOnly.filter((pattern) => !readOnly.has(pattern)),
    restrictedReadOnly: rules.restrictedReadOnly.filter((pattern) => !readOnly.has(pattern)),
    shared: rules.shared.filter((pattern) => BUILT_IN_ZONE_RULES.shared.includes(pattern) || !shared.has(pattern)),
  };
}
