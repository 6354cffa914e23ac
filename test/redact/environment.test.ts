// Which values of an environment count as secrets, and which are everybody's.
import { describe, expect, test } from "vitest";
import { isSecretVariable, secretsOfEnvironment } from "../../src/redact/environment.ts";
import { fillTemplate, seededRandom } from "../../src/redact/kinds/samples.ts";

const sample = (template: string) => fillTemplate(template, seededRandom(3)).text;

describe("a variable counts", () => {
  test.each([
    ["GITHUB_TOKEN", "abc123xyz"],
    ["DB_PASSWORD", "hunter22!"],
    ["STRIPE_SECRET", "whatever-it-is"],
    ["OPENAI_API_KEY", "not-even-random"],
    ["SIGNING_KEY", "0f1e2d3c4b5a"],
    ["AWS_SECRET_ACCESS_KEY", sample("{b40}")],
    ["SOMETHING", sample("{a32}")],
    ["BASIC_AUTH", "user:pass-1234"],
    ["npm_token", "legacy-token-1"],
  ])("%s", (name, value) => {
    expect(isSecretVariable(name, value)).toBe(true);
  });
});

describe("a variable does not count", () => {
  test.each([
    ["API_TOKEN", "x"],
    ["AUTH_TOKEN", "true"],
    ["SECRET", "12345"],
    ["USE_TOKEN", "disabled"],
    ["PASSWORD", "password"],
    ["MY_SECRET", "secret"],
    ["TOKEN", ""],
    ["PATH", "/usr/local/bin:/usr/bin"],
    ["HOME", "/home/someone"],
    ["USER", "someone"],
    ["SSH_AUTH_SOCK", "/tmp/ssh-abcdefgh/agent.12"],
    ["SECRET_FILE", "/run/secrets/one"],
    ["TLS_KEY", "/etc/ssl/private/site.pem"],
    ["TOKEN_URL", "https://login.example.org/oauth/token"],
    ["LANG", "en_GB.UTF-8"],
    ["NODE_OPTIONS", "--max-old-space-size=4096"],
    ["HOSTNAME", "worker-7f8d9c6b5-x2x9z"],
    ["BUILD_ID", "2024-05-06T07:08:09Z"],
    ["GITHUB_SHA", sample("{h40}")],
    ["TRACE_ID", sample("{uuid}")],
    ["GREETING", "hello"],
    ["MY_KEY", "\x24{OTHER}"],
  ])("%s=%s", (name, value) => {
    expect(isSecretVariable(name, value)).toBe(false);
  });
});

test("each secret is under the name of its variable, once", () => {
  const token = sample("{a24}");
  expect(secretsOfEnvironment({ B_TOKEN: token, A_TOKEN: token, PATH: "/bin", NONE: undefined })).toEqual([
    { rule: "env-a-token", value: token },
  ]);
});

test("an address counts with its password alone too, as it is and unescaped", () => {
  const address = "postgres://app:Zq9%2Fxw7Lm2p@db:5432/x";
  expect(secretsOfEnvironment({ DATABASE_URL: address })).toEqual([
    { rule: "env-database-url", value: address },
    { rule: "env-database-url", value: "Zq9%2Fxw7Lm2p" },
    { rule: "env-database-url", value: "Zq9/xw7Lm2p" },
  ]);
  expect(secretsOfEnvironment({ DATABASE_URL: "postgres://app:password@db/x" })).toEqual([]);
});

test("the operator decides about variables by name", () => {
  const environment = { PLAIN: "just words here", A_TOKEN: "abc123xyz" };
  expect(secretsOfEnvironment(environment, { secret: ["PLAIN"], harmless: ["A_TOKEN"] })).toEqual([
    { rule: "env-plain", value: "just words here" },
  ]);
});
