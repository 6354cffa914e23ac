/** `web_fetch` with secrets that the agent writes by name or placeholder. */
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { BrokeredSecret } from "../../../src/model/reach/secrets.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { SecretBroker } from "../../../src/sandbox/net/broker/broker.ts";
import { webTools } from "../../../src/tools/web/web-tools.ts";
import { type Certificate, newCertificate } from "../../support/certificate.ts";
import { Internet } from "../../support/egress.ts";
import { type MemoryKernel, memoryKernel } from "../../support/memory-kernel.ts";

const HOST = "api.github.com"; // one that the tool knows
const VALUE = "ghp_9rT4mXw2Lq8Zk5Yb7Nc1Vd3Fs6Hj0Pa2Qe4";
const PLACEHOLDER = "ghp_AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIII";
const SECRET: BrokeredSecret = {
  name: "API_KEY",
  placeholder: PLACEHOLDER,
  value: VALUE,
  bindings: [
    { host: HOST, port: 443, path: "/repos", place: { kind: "header", name: "Authorization" } },
    { host: HOST, port: 443, path: "/query", place: { kind: "query", name: "key" } },
    { host: HOST, port: 443, path: "/body", place: { kind: "body", name: "key" } },
  ],
};
const AGAIN = `@id("test.again")
@message("m")
@waives("FC-3, CAPABILITY:web_fetch")
permit (principal, action == Handrail::Action::"web_fetch", resource is Handrail::Host);
`;

let directory: string;
let certificate: Certificate;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "handrail-fetched-"));
  certificate = newCertificate(directory, HOST, "registry.npmjs.org");
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Place {
  readonly kernel: MemoryKernel;
  readonly seen: IncomingMessage[];
  readonly bodies: string[];
  readonly fetch: (args: Record<string, unknown>) => Promise<{ readonly kind: string } & Record<string, unknown>>;
}

async function place(secrets: readonly BrokeredSecret[] = [SECRET]): Promise<Place> {
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const seen: IncomingMessage[] = [];
  const bodies: string[] = [];
  const answer = async (request: IncomingMessage) => {
    seen.push(request);
    let body = "";
    for await (const piece of request) body += piece;
    bodies.push(body);
    return `${JSON.stringify(request.headers)} ${request.url} ${body}`;
  };
  await internet.https(HOST, 443, certificate, (request, response) => {
    void answer(request).then((text) => {
      if (request.url === "/repos/taken")
        return response.writeHead(302, { location: `https://registry.npmjs.org/cb?token=${VALUE}` }).end();
      if (request.url === "/repos/away")
        return response.writeHead(302, { location: "https://registry.npmjs.org/x" }).end();
      return response.end(text);
    });
  });
  await internet.http(HOST, 80, (request, response) => void answer(request).then((text) => response.end(text)));
  const kernel = await memoryKernel({
    tools: webTools,
    network: internet.network,
    broker: new SecretBroker(secrets),
    webAuthorities: certificate.certFile,
    redactor: createRedactor({
      known: [{ rule: "brokered-secret", value: VALUE }],
      allow: { allows: (_, secret) => secret === PLACEHOLDER, definition: "placeholders" },
    }),
    policies: AGAIN,
  });
  const fetch: Place["fetch"] = async (args) => {
    const { outcome } = await kernel.call("web_fetch", { format: "raw", ...args });
    const [unexpected] = kernel.internalErrors;
    if (unexpected !== undefined) throw unexpected;
    return outcome as unknown as Awaited<ReturnType<Place["fetch"]>>;
  };
  return { kernel, seen, bodies, fetch };
}

const bearer = (text: string) => ({ headers: { Authorization: `Bearer ${text}` } });

test.each(["{{secret:API_KEY}}", PLACEHOLDER])(
  "%s is what the value is sent for, and the answer does not say it",
  async (written) => {
    const { seen, fetch } = await place();
    const outcome = await fetch({ url: `https://${HOST}/repos/a`, ...bearer(written) });
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${VALUE}`);
    expect(JSON.stringify(outcome)).not.toContain(VALUE);
    expect(JSON.stringify(outcome)).toContain(PLACEHOLDER);
  },
);

test("in a parameter and in a body", async () => {
  const { seen, bodies, fetch } = await place();
  await fetch({ url: `https://${HOST}/query?a=1&key={{secret:API_KEY}}` });
  const headers = { "content-type": "application/json" };
  await fetch({ url: `https://${HOST}/body`, method: "POST", headers, body: '{ "key": "{{secret:API_KEY}}" }' });
  expect([seen[0]?.url, bodies[1]]).toEqual([`/query?a=1&key=${VALUE}`, `{ "key": "${VALUE}" }`]);
});

test.each([
  ["another path", { url: `https://${HOST}/other`, ...bearer("{{secret:API_KEY}}") }],
  ["another header", { url: `https://${HOST}/repos`, headers: { "X-Key": PLACEHOLDER } }],
  ["a body", { url: `https://${HOST}/repos`, method: "POST", body: `x=${PLACEHOLDER}` }],
  ["plain http", { url: `http://${HOST}/repos`, ...bearer("{{secret:API_KEY}}") }],
])("a secret in %s is refused, and counts as a violation", async (_, args) => {
  const { kernel, seen, fetch } = await place();
  const outcome = await fetch(args);
  expect([outcome, seen]).toEqual([
    {
      kind: "denied",
      denial: expect.objectContaining({ reason: "secret_binding_mismatch", ruleId: "SECRET:API_KEY" }),
    },
    [],
  ]);
  const blocked = kernel.ledger.of("network_blocked");
  expect(blocked.map(({ payload }) => payload["reason"])).toEqual(["secret_binding"]);
  for (let count = 0; count < 6; count += 1) await fetch(args);
  expect(kernel.ledger.of("alert_mode")).toHaveLength(1);
});

test("a redirect to another server takes no secret along", async () => {
  const { seen, fetch } = await place();
  const outcome = await fetch({ url: `https://${HOST}/repos/away`, ...bearer("{{secret:API_KEY}}") });
  expect(seen.map(({ url }) => url)).toEqual(["/repos/away"]);
  // nobody answers there; what matters is that the key was dropped before
  expect(JSON.stringify(outcome)).not.toContain(VALUE);
});

test("a server that leads on with the value in the address leads nowhere", async () => {
  const { seen, kernel, fetch } = await place();
  const outcome = await fetch({ url: `https://${HOST}/repos/taken`, ...bearer("{{secret:API_KEY}}") });
  expect(seen.map(({ url }) => url)).toEqual(["/repos/taken"]);
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "secret_binding_mismatch" } });
  expect(JSON.stringify([outcome, kernel.ledger])).not.toContain(VALUE);
});

test("evidence names the secret that went, and never its value", async () => {
  const { kernel, fetch } = await place();
  await fetch({ url: `https://${HOST}/repos/a`, ...bearer("{{secret:API_KEY}}") });
  const [reached] = kernel.ledger.of("network_reached");
  expect(reached?.payload).toMatchObject({ host: HOST, secrets: ["API_KEY"], outcome: "allowed" });
  expect(JSON.stringify(kernel.ledger)).not.toContain(VALUE);
});

test("a secret that cannot be read sends nothing, and says who can mend it", async () => {
  const { value: _, ...unread } = SECRET;
  const { seen, fetch } = await place([unread]);
  const outcome = await fetch({ url: `https://${HOST}/repos`, ...bearer("{{secret:API_KEY}}") });
  expect([outcome.kind, seen]).toEqual(["error", []]);
  expect(JSON.stringify(outcome)).toContain("handrail secrets check");
});
