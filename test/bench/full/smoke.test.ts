/**
 * The benchmarks run from beginning to end, and every figure that they print has a named peer. No speed is asserted.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "handrail-bench-smoke-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A report as `--json` stores it. */
interface Report {
  readonly machine: { readonly processor: string; readonly cores: number; readonly node: string };
  readonly rows: readonly {
    readonly id: string;
    readonly peer: string;
    readonly ours: { readonly median: number };
    readonly theirs: { readonly median: number };
    readonly ratio: { readonly min: number; readonly median: number; readonly max: number };
  }[];
}

const SUITES = [
  [
    "spine",
    [
      "mcp-read-repeat-64",
      "mcp-read-distinct-64",
      "framed-read-64",
      "pipeline-hit",
      "pipeline-miss",
      "ledger-durable",
      "cold-start",
      "idle-memory",
      "stage-policy",
      "stage-run",
    ],
  ],
  ["git", ["git-status"]],
  ["extend", ["plugin-here", "plugin-process", "component-call", "xml-whole", "xml-pieces"]],
  ["edit", ["edit-large-exact", "edit-large-regex", "edit-large-ast", "edit-several"]],
  ["search", []],
  [
    "branch",
    [
      "branch-ready-small",
      "branch-ready-large",
      "branch-true",
      "branch-land",
      "branch-modules",
      "branch-turn-land",
      "branch-turn-modules",
    ],
  ],
  ["exec", ["exec-true", "exec-library", "exec-twenty", "exec-output", "exec-memory", "exec-longest-turn"]],
  [
    "surface",
    [
      "connect-front-1",
      "connect-idle-1",
      "connect-idle-16",
      "connect-read-1",
      "connect-read-16",
      "content-put",
      "content-get",
      "content-put-governed",
      "content-get-governed",
      "dedupe-hit-read",
      "dedupe-hit-write",
      "dedupe-first-write",
    ],
  ],
  ["net", ["net-fetch", "net-many", "net-terminated", "net-start", "net-secret"]],
  [
    "upstream",
    ["read", "exec"].flatMap((effect) =>
      [1, 8].flatMap((inFlight) => [`upstream-${effect}-${inFlight}`, `upstream-more-${effect}-${inFlight}`]),
    ),
  ],
  ["extend", ["observer-metrics"]],
  ["gates", ["gates-free", "gates-caller", "pending-memory", "pending-time", "pending-resume"]],
] as const;

/**
 * Figures whose peer must be installed; without it a run says so and fails, and the other figures are there all the
 * same.
 */
const SEARCHES = ["search-1000-literal", "search-1000-regex", "search-50mb-literal", "search-50mb-regex-bare"];
const hasRipgrep = spawnSync("rg", ["--version"]).status === 0;

test.each(SUITES)(
  "%s: every figure of a quick run is a positive ratio against a named peer",
  { timeout: 600_000 },
  (suite, expected) => {
    const file = join(directory, `${suite}.json`);
    const args = ["--disable-warning=ExperimentalWarning", "bench/main.ts", suite, "--quick", "--json", file];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 590_000 });
    const isSearching = suite === "surface" || suite === "search";
    const lacksPeer = isSearching && !hasRipgrep;
    const problems =
      status === 0
        ? ""
        : stderr.replace(/^bench: (?:Error: )?(ripgrep is not installed.*|\w+(-\w+)*)$|^ +at .*$/gm, "").trim();
    expect({ status, problems }).toEqual({ status: lacksPeer ? 1 : 0, problems: "" });

    const report: Report = JSON.parse(readFileSync(file, "utf8"));
    expect(report.machine.cores).toBeGreaterThan(0);
    expect(stdout).toContain(report.machine.processor);
    expect(stdout).toContain(report.machine.node);
    for (const { id, peer, ours, theirs, ratio } of report.rows) {
      expect(peer, id).not.toBe("");
      for (const value of [ours.median, theirs.median, ratio.min, ratio.median, ratio.max]) {
        expect(Number.isFinite(value) && value > 0, `${id}: ${value}`).toBe(true);
      }
    }
    const searches = isSearching && hasRipgrep ? SEARCHES : [];
    expect(report.rows.map((row) => row.id)).toEqual(expect.arrayContaining([...expected, ...searches]));
  },
);

test.each([
  [
    "redact",
    ["redact-clean", "redact-found", "redact-result", "redact-call", "redact-pieces", "flow-read", "flow-send"],
  ],
  [
    "redact-quality",
    [
      "quality-planted-recall",
      "quality-planted-definite",
      "quality-noise-logs",
      "quality-noise-definite",
      "quality-noise-probable",
    ],
  ],
])("a quick run of %s takes its figures beside secretlint's", { timeout: 600_000 }, (suite, ids) => {
  const file = join(directory, `${suite}.json`);
  const args = ["--disable-warning=ExperimentalWarning", "bench/main.ts", suite, "--quick", "--json", file];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 590_000 });
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  const { rows }: Report = JSON.parse(readFileSync(file, "utf8"));
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
});

test("a suite that does not exist is refused", () => {
  const { status, stderr } = spawnSync(process.execPath, ["bench/main.ts", "nonsense"], {
    encoding: "utf8",
    timeout: 120_000,
  });
  expect(status).toBe(1);
  expect(stderr).toContain("there is no suite `nonsense`");
});
