/** What the operator may say of metrics, telemetry and logs, and what is refused. */
import { expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";

const parse = (text: string) => parseSettings(text, "handrail.yaml");
const otlp = (more: string) => parse(`telemetry:\n  otlp:\n    endpoint: https://collector.example\n${more}`);

test.each(["https://collector.example:4318", "http://127.0.0.1:4318", "http://localhost:4318", "http://[::1]:4318"])(
  "%s is a collector",
  async (endpoint) => {
    const { telemetry } = await parse(`telemetry: { otlp: { endpoint: "${endpoint}/" } }\n`);
    expect(telemetry.otlp?.endpoint).toBe(endpoint);
  },
);

test.each([
  ["http://collector.example", /has no TLS and lies on another machine/],
  ["http://10.0.0.1:4318", /has no TLS/],
  ["http://127.0.0.1.example", /has no TLS/],
  ["https://user:password@collector.example", /carries a user or password/],
  ["https://collector.example/?key=1", /must not hold/],
  ["file:///etc/passwd", /must begin with `https:\/\/` or `http:\/\/`/],
  ["collector.example", /must begin with/],
])("%s is refused", async (endpoint, why) => {
  await expect(parse(`telemetry: { otlp: { endpoint: "${endpoint}" } }\n`)).rejects.toThrow(why);
});

test("an endpoint without TLS on another machine can be wanted", async () => {
  const text = "telemetry: { otlp: { endpoint: http://collector.example, allow_plain_http: true } }\n";
  expect((await parse(text)).telemetry.otlp?.allow_plain_http).toBe(true);
});

test.each([
  ["    headers: { Authorization: Bearer abc }\n", /Authorization/],
  ["    headers: { Content-Length: { env: A } }\n", /is a header that the exporter sets itself/],
  ['    headers: { "a b": { env: A } }\n', /must be the name of a header/],
  ["    headers: { A: { file: relative } }\n", /headers/],
  ["    headers: { A: { secret: NOWHERE } }\n", /`NOWHERE` is not defined under `secrets`/],
  ["    sample: 2\n", /sample/],
  ["    queue: 1\n", /queue/],
  ["    signals: [metrics]\n", /signals/],
])("%s is refused", async (more, why) => {
  await expect(otlp(more)).rejects.toThrow(why);
});

test("a header's secret must be bound to the collector, and goes over TLS alone", async () => {
  const secrets = (to: string) =>
    `secrets:\n  COLLECTOR:\n    from: { env: COLLECTOR }\n    placeholder: placeholder-of-the-test\n    bindings: [{ to: ${to}, in: header Authorization }]\n`;
  const headers = "    headers: { Authorization: { secret: COLLECTOR } }\n";
  await expect(otlp(headers + secrets("other.example"))).rejects.toThrow(/is not bound to `collector.example:443`/);
  const bound = await otlp(headers + secrets("collector.example"));
  expect(bound.telemetry.otlp?.headers).toEqual({ Authorization: { secret: "COLLECTOR" } });
  const plain = `telemetry:\n  otlp:\n    endpoint: http://127.0.0.1:4318\n${headers}`;
  await expect(parse(plain + secrets("127.0.0.1:4318"))).rejects.toThrow(/begins with `https` alone/);
});

test("a workspace can set none of it", async () => {
  const { parseWorkspaceSettings } = await import("../../src/config/config.ts");
  for (const text of ["metrics: { listen: 127.0.0.1:1 }\n", "telemetry: {}\n", "log: { file: /tmp/x }\n"])
    await expect(parseWorkspaceSettings(text, "handrail.yaml")).rejects.toThrow(/unrecognized key/);
});
