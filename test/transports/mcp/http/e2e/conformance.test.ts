// The official conformance suite, both eras, against the registry, the pipeline and the HTTP door.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { conformanceFeatures } from "../../../../support/conformance/features.ts";
import { conformanceTools } from "../../../../support/conformance/tools.ts";
import { modern } from "../../../../support/mcp-connection.ts";
import { modernHeaders, post, serveMcpPlace } from "../../../../support/mcp-http-place.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";

const SUITE = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));
const TIME_MS = 300_000;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Runs the suite's requirements of a revision and gives the checks of each scenario. */
async function run(url: string, revision: string): Promise<Map<string, readonly Check[]>> {
  const output = mkdtempSync(join(tmpdir(), "handrail-conformance-"));
  onTestFinished(() => rmSync(output, { recursive: true, force: true }));
  const words = [join(SUITE, "dist/index.js"), "server", "--url", url, "--requirements", revision, "-o", output];
  // What failed, its files say.
  await promisify(execFile)(process.execPath, words, { maxBuffer: 2 ** 26 }).catch(() => undefined);
  const results = new Map<string, readonly Check[]>();
  for (const entry of readdirSync(output, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith("checks.json")) continue;
    const scenario = dirname(entry)
      .replace(/^server-/, "")
      .replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
    results.set(scenario, JSON.parse(readFileSync(join(output, entry), "utf8")) as Check[]);
  }
  return results;
}

/** The scenarios that the revision scores, and those that are run for information. */
function scenarios(revision: string): readonly string[] {
  const { server, not_scored } = parse(readFileSync(join(SUITE, `requirements/${revision}.yaml`), "utf8")) as {
    readonly server: readonly string[];
    readonly not_scored?: readonly { readonly scenario: string; readonly leg: string }[];
  };
  return [...server, ...(not_scored ?? []).flatMap(({ scenario, leg }) => (leg === "server" ? [scenario] : []))];
}

/** Checks that do not pass, and why; each must fail, so that one that passes is taken out. */
const KNOWN: Readonly<Record<string, string>> = {
  "json-schema-2020-12/json-schema-2020-12-$schema":
    "the dialect that MCP takes for granted is not repeated with every tool: a model would pay for it each time",
};

test.each(["2025-11-25", "2026-07-28"])(
  "every scenario of %s passes, scored or not, but for what is known to fail",
  { timeout: TIME_MS },
  async (revision) => {
    const { tools, asking, changes } = conformanceTools();
    const kernel = await memoryKernel({ tools });
    writeFileSync(join(kernel.root, "a.txt"), "read\n");
    const offers = { asking, features: conformanceFeatures };
    const offered = async (token: string) =>
      (await kernel.door.offered(token)).map((tool) => ({ ...tool, title: `${tool.title} ${changes()}` }));
    const door = await serveMcpPlace({ ...kernel.door, offered }, { everybody: kernel.token, offers });
    const results = await run(`http://localhost:${door.port}/mcp`, revision);
    const failed = scenarios(revision).flatMap((scenario) => {
      const checks = results.get(scenario);
      if (checks === undefined || checks.length === 0) return [`${scenario}: did not run`];
      const bad = checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO" && status !== "SKIPPED");
      return bad.map(({ id, status, errorMessage }) =>
        `${scenario}/${id}` in KNOWN ? `${scenario}/${id}` : `${scenario}/${id}: ${status} ${errorMessage ?? ""}`,
      );
    });
    const known = Object.keys(KNOWN).filter((check) => scenarios(revision).includes(check.split("/", 1)[0] ?? ""));
    expect(failed).toEqual(known);
    expect(kernel.internalErrors).toEqual([]);
    // Two scenarios pass where their tool is missing.
    const list = modern(1, "tools/list");
    const listed = (await post(door, list, modernHeaders(list))).text;
    for (const { name } of tools) expect(listed).toContain(`"name":"${name}"`);
  },
);
