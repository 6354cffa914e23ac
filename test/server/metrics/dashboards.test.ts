/** The dashboard, the alert rules and the guide name metrics that there are, and every metric stands in the guide. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { METRICS } from "../../../src/server/metrics/catalog.ts";
import { openMetrics } from "../../../src/server/metrics/metrics.ts";
import { observedPlace } from "../../support/observed-place.ts";
import { parsePrometheus } from "../../support/prometheus.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** Words of an expression that could be metrics; functions, labels and words of PromQL are none. */
function metricsIn(expression: string): readonly string[] {
  const bare = expression.replaceAll(/\{[^}]*\}/g, " ").replaceAll(/\b(?:by|without|on)\s*\([^)]*\)/g, " ");
  return [...bare.matchAll(/\b([a-z_][a-z0-9_]*)\b(?!\s*\()/g)]
    .map(([, name = ""]) => name)
    .filter((name) => name.includes("_") && !/^(?:__|\d)/.test(name));
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(read("deploy/grafana/handrail.json")) as { readonly panels: readonly Panel[] };
const rules = parse(read("deploy/prometheus/handrail.rules.yml")) as {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string; action: string } }[] }[];
};

async function shownNames(): Promise<ReadonlySet<string>> {
  const { kernel } = await observedPlace();
  const metrics = openMetrics(kernel);
  const { types } = parsePrometheus(await metrics.text());
  const names = [...types].flatMap(([name, kind]) =>
    kind === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => `${name}${end}`) : [name],
  );
  return new Set(names);
}

test("every metric that the dashboard and the rules name exists in /metrics", async () => {
  const names = await shownNames();
  const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  );
  const alerts = rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const));
  expect(panels.length).toBeGreaterThan(20);
  expect(alerts.length).toBeGreaterThan(10);
  for (const [where, expression] of [...panels, ...alerts]) {
    const named = metricsIn(expression).filter((name) => name !== "__rate_interval");
    expect([where, named.length > 0]).toEqual([where, true]);
    for (const name of named) expect([where, name, names.has(name)]).toEqual([where, name, true]);
  }
  // control: one that there is not is seen
  expect(metricsIn('sum by (tool) (rate(handrail_no_such_total{tool="x"}[5m]))')).toEqual(["handrail_no_such_total"]);
});

test("every metric of the catalog is on the dashboard, and every rule says what to do", () => {
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)));
  for (const { name } of Object.values(METRICS))
    expect([name, shown.some((one) => one.replace(/_(?:bucket|sum|count)$/, "") === name)]).toEqual([name, true]);
  for (const { annotations } of rules.groups.flatMap((group) => group.rules))
    expect([annotations.summary.length > 0, annotations.action.length > 0]).toEqual([true, true]);
});

test("the guide has a row for each metric, as the catalog says it, and no other", () => {
  const guide = read("docs/guide/observability.md");
  const rows = [...guide.matchAll(/^\| `((?:tool|handrail)_[a-z_]+)` \|(.*)\|$/gm)].map((row) => row[0]);
  const groups = (["calls", "kernel", "state"] as const).flatMap((group) =>
    Object.values(METRICS).filter((entry) => entry.of === group),
  );
  const expected = groups.map(({ name, labels, help, alert }) => {
    const shown = labels.length === 0 ? "–" : labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${shown} | ${help} | ${alert === "" ? "–" : alert} |`;
  });
  expect(rows).toEqual(expected);
});
