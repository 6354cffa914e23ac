/** `handrail redact --report`: places and rules for people, scripts and code hosts, and an exit code for CI. */
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const { text: TOKEN } = fillTemplate("ghp_{checked}", seededRandom(11));

function directory(): string {
  const root = mkdtempSync(join(tmpdir(), "handrail-report-"));
  mkdirSync(join(root, "src/.git"), { recursive: true });
  writeFileSync(join(root, "README.md"), "nothing here\n");
  return root;
}

function withSecrets(): string {
  const root = directory();
  writeFileSync(join(root, "src/a b.ts"), `first\nconst id = "${TOKEN}";\n`);
  writeFileSync(join(root, "src/.git/config"), `left out ${TOKEN}\n`);
  symlinkSync("a b.ts", join(root, "src/link.ts"));
  return root;
}

const PLACE = {
  path: "src/a b.ts",
  line: 2,
  column: 13,
  rule: "github-token",
  kind: "definite",
  why: "a GitHub personal access token",
};

test("a clean directory is reported as clean", async () => {
  const { code, stdout, stderr } = await handrail(freshPlace(), ["redact", "--report", directory()]);
  expect([code, stdout, stderr]).toEqual([0, "0 findings in 0 of 1 files\n", ""]);
});

test("file, line and rule are reported, never the secret, links and the store of git left out", async () => {
  const { code, stdout } = await handrail(freshPlace(), ["redact", "--report", withSecrets()]);
  expect([code, stdout]).toEqual([
    4,
    "src/a b.ts:2:13  definite  github-token  a GitHub personal access token\n1 finding in 1 of 2 files\n",
  ]);
});

test("the same as JSON and as SARIF", async () => {
  const root = withSecrets();
  const json = await handrail(freshPlace(), ["redact", "--report", root, "--json"]);
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    4,
    {
      status: "error",
      error: { code: "SECRETS_FOUND", message: "1 secrets were found" },
      data: { files: 2, files_with_secrets: 1, findings: 1, unlisted: 0, places: [PLACE], unread: [] },
    },
  ]);
  const sarif = await handrail(freshPlace(), ["redact", "--report", root, "--sarif"]);
  expect(sarif.code).toBe(4);
  expect(sarif.stdout).not.toContain(TOKEN);
  expect(JSON.parse(sarif.stdout)).toMatchObject({
    version: "2.1.0",
    runs: [
      {
        invocations: [{ executionSuccessful: true }],
        results: [
          {
            ruleId: "github-token",
            level: "error",
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: "src/a%20b.ts" },
                  region: { startLine: 2, startColumn: 13 },
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test("what could not be looked at is named, and the report is not clean", async () => {
  const root = directory();
  writeFileSync(join(root, "large.bin"), "");
  truncateSync(join(root, "large.bin"), 65 * 1024 * 1024);
  const { code, stdout, stderr } = await handrail(freshPlace(), ["redact", "--report", root]);
  expect([code, stdout]).toEqual([1, "0 findings in 0 of 1 files\n"]);
  expect(stderr).toBe("not looked at: `large.bin` (larger than 64 MiB)\n");
  const missing = await handrail(freshPlace(), ["redact", "--report", join(root, "gone")]);
  expect([missing.code, missing.stderr]).toEqual([1, "not looked at: `.` (ENOENT)\n"]);
});

test("how a report is printed is no question without one", async () => {
  const { code, stderr } = await handrail(freshPlace(), ["redact", "--sarif"], { input: "" });
  expect(code).toBe(64);
  expect(stderr).toContain("name a directory with `--report`");
});
