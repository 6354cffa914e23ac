/**
 * `handrail redact` as its users run it: a filter, an explanation that never shows the secret, and rules of one's own.
 */
import { expect, test } from "vitest";
import { fillTemplate, seededRandom } from "../../../src/redact/kinds/samples.ts";
import { handrail, linesOf } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const { text: TOKEN } = fillTemplate("ghp_{checked}", seededRandom(11));
const { text: PASSWORD } = fillTemplate("{a16}", seededRandom(12));

test("a text goes through without its secrets, whatever else it holds", async () => {
  const input = Buffer.concat([
    Buffer.from(`token ${TOKEN}\n`),
    Buffer.from([0xff, 0x00, 0xfe]),
    Buffer.from(`\nx ${PASSWORD}\n`),
  ]);
  const finished = await handrail(freshPlace(), ["redact"], { input, environment: { DEPLOY_PASSWORD: PASSWORD } });
  expect([finished.code, finished.stderr]).toEqual([0, ""]);
  expect(finished.stdout).toContain("token [REDACTED:github-token]\n");
  expect(finished.stdout).toContain("x [REDACTED:env-deploy-password]\n");
  expect(finished.stdout).not.toContain(TOKEN);
});

test("an explanation says where and why, not what, and its exit code that there is something", async () => {
  const { code, stdout } = await handrail(freshPlace(), ["redact", "--explain"], { input: `first\n  id ${TOKEN}\n` });
  expect(code).toBe(4);
  expect(stdout).toBe("2:6  definite  github-token  40 characters from 11: a GitHub personal access token\n");
});

test("the same as JSON", async () => {
  const { code, stdout } = await handrail(freshPlace(), ["redact", "--explain", "--json"], { input: `é ${TOKEN}` });
  expect(code).toBe(4);
  expect(linesOf(stdout).map((line) => JSON.parse(line))).toEqual([
    {
      status: "success",
      data: {
        rule: "github-token",
        kind: "definite",
        start: 2,
        end: 42,
        line: 1,
        column: 3,
        unit: "characters",
        why: "a GitHub personal access token",
      },
    },
    { status: "error", error: { code: "SECRETS_FOUND", message: "1 secrets were found" } },
  ]);
});

test("a clean text is explained as such", async () => {
  expect(await handrail(freshPlace(), ["redact", "--explain"], { input: "nothing" })).toMatchObject({
    code: 0,
    stdout: "no secrets were found\n",
  });
});

test("the operator's rules find their secrets, and let pass what is allowed", async () => {
  const place = freshPlace();
  place.put(
    "config/handrail.yaml",
    `redaction:
  rules:
    - id: acme-key
      keywords: [acme_]
      expression: "acme_[a-z0-9]{12}"
      examples: { secret: [acme_0123456789ab], clean: [acme_docs] }
  allow:
    - { value: acme_fixture00000, rule: acme-key, reason: a fixture }
`,
  );
  const { stdout } = await handrail(place, ["redact"], { input: "acme_k3j4h5g6f7d8 acme_fixture00000" });
  expect(stdout).toBe("[REDACTED:acme-key] acme_fixture00000");
});

test("a rule that could be slow refuses the configuration, for every command that reads it", async () => {
  const place = freshPlace();
  place.put(
    "config/handrail.yaml",
    'redaction:\n  rules:\n    - { id: slow, keywords: [aaa], expression: "(?:a{1,40}){1,40}!", examples: { secret: [aaa!] } }\n',
  );
  for (const args of [["redact"], ["policy", "check"]]) {
    const { code, stderr } = await handrail(place, args, { input: "x" });
    expect(code).toBe(1);
    expect(stderr).toContain("redaction.rules.0: the expression may take");
  }
});
