/** The goals of the figures, each a bound on what Handrail takes or on its ratio to the peer. */

/** A goal of one figure. `least` and `most` are in the figure's unit where `on` is `handrail`. */
export interface Goal {
  readonly on: "handrail" | "ratio";
  readonly least?: number;
  readonly most?: number;
}

const ratio = (bound: Omit<Goal, "on">): Goal => ({ on: "ratio", ...bound });
const handrail = (bound: Omit<Goal, "on">): Goal => ({ on: "handrail", ...bound });

/** Goals by id; a name that ends with `-` holds for every id that begins so. */
const GOALS: Readonly<Record<string, Goal>> = {
  "mcp-read-": ratio({ least: 1 }),
  "mcp-edit-bare-1": ratio({ least: 0.6 }),
  "mcp-edit-bare-64": ratio({ least: 0.6 }),
  "framed-read-64": handrail({ least: 15_000 }),
  "pipeline-hit": handrail({ most: 25 }),
  "ledger-durable": handrail({ least: 20_000 }),
  "cold-start": ratio({ most: 1.5 }),
  "idle-memory": handrail({ most: 100 }),
  "connect-front-1": ratio({ most: 1.2 }),
  "content-put": ratio({ most: 1.5 }),
  "content-get": ratio({ most: 1.5 }),
  "dedupe-hit-": handrail({ most: 100 }),
  "mcp-http-1": ratio({ most: 0.5 }),
  "mcp-http-16": ratio({ least: 2 }),
  "mcp-http-memory": handrail({ most: 1.2 }),
  "upstream-more-read-1": handrail({ most: 1 }),
  "upstream-more-exec-1": handrail({ most: 1 }),
  "edit-large-exact": ratio({ most: 1.3 }),
  "search-1000-": handrail({ most: 10 }),
  "search-50mb-": ratio({ most: 1.2 }),
  "redact-clean": handrail({ least: 150 }),
  "redact-found": handrail({ least: 60 }),
  "redact-result": handrail({ most: 25 }),
  "flow-": handrail({ most: 5 }),
  "component-call": handrail({ most: 5000 }),
  "xml-": handrail({ least: 100 }),
  "gates-free": handrail({ most: 5 }),
  "pending-resume": handrail({ most: 50 }),
  "observer-metrics": ratio({ least: 0.8 }),
  "branch-true": ratio({ most: 1.4 }),
  "branch-land": handrail({ most: 300 }),
  "branch-modules": handrail({ most: 100 }),
  "branch-turn-": handrail({ most: 20 }),
  "branch-build": ratio({ most: 1.15 }),
  "exec-true": ratio({ most: 1.3 }),
  "exec-library": ratio({ most: 0.33 }),
  "exec-output": handrail({ least: 500 }),
  "net-terminated": ratio({ most: 2 }),
  "git-status": ratio({ most: 1.5 }),
};

/** The goal of the figure `id`. */
export function goalOf(id: string): Goal | undefined {
  const beginning = Object.keys(GOALS).find((name) => (name.endsWith("-") ? id.startsWith(name) : id === name));
  return beginning === undefined ? undefined : GOALS[beginning];
}

/** A goal as text: `≥ 15,000 reads/s`, `≤ ×1.5`. */
export function goalText({ on, least, most }: Goal, unit: string): string {
  const [sign, bound] = least === undefined ? ["≤", most ?? 0] : ["≥", least];
  return on === "ratio" ? `${sign} ×${bound}` : `${sign} ${bound.toLocaleString("en")} ${unit}`;
}

/** Whether measured medians meet a goal; `undefined` where the median that it bounds was not kept. */
export function meetsGoal(
  { on, least, most }: Goal,
  medians: { readonly ours: number | null; readonly ratio: number | null },
) {
  const value = on === "ratio" ? medians.ratio : medians.ours;
  return value === null ? undefined : value >= (least ?? -Infinity) && value <= (most ?? Infinity);
}
