/** The door for Prometheus: what it answers, and what it keeps out. */
import { request } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type MetricsAddress, serveMetrics } from "../../../src/server/doors/serve-metrics.ts";
import { observedPlace } from "../../support/observed-place.ts";
import { parsePrometheus } from "../../support/prometheus.ts";

async function served(more: Partial<MetricsAddress> = {}) {
  const opened = await observedPlace();
  const server = await serveMetrics(opened.kernel, { listen: "127.0.0.1:0", ...more });
  onTestFinished(() => server.close());
  return { ...opened, server, url: new URL(server.url) };
}

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(url: URL, { method = "GET", path = url.pathname, headers = {}, body }: Asked = {}) {
  return new Promise<{ readonly status: number | undefined; readonly type: string | undefined; readonly text: string }>(
    (done, failed) => {
      const asking = request({ host: url.hostname, port: url.port, method, path, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (piece: string) => {
          text += piece;
        });
        answer.on("end", () => done({ status: answer.statusCode, type: answer.headers["content-type"], text }));
      });
      asking.on("error", failed);
      asking.end(body);
    },
  );
}

test("a scrape shows what calls came to, in Prometheus' format", async () => {
  const { call, url } = await served();
  await call("read_file", { path: "a.txt" });
  const { status, type, text } = await ask(url);
  expect(status).toBe(200);
  expect(type).toContain("text/plain; version=0.0.4");
  expect(parsePrometheus(text).value("tool_executions_total", { tool: "read_file" })).toBe(1);
});

test("a page whose name was pointed at this machine, and one that names its origin, get nothing", async () => {
  const { url } = await served();
  const rebound = await ask(url, { headers: { host: `evil.example:${url.port}` } });
  expect([rebound.status, rebound.text.includes("handrail_")]).toEqual([421, false]);
  const page = await ask(url, { headers: { origin: "http://evil.example" } });
  expect([page.status, page.text.includes("handrail_")]).toEqual([403, false]);
  // control: the same request is answered where it names this machine
  expect((await ask(url, { headers: { host: `localhost:${url.port}` } })).status).toBe(200);
});

test("a name that the operator gave is answered", async () => {
  const { url } = await served({ allowRemote: ["Metrics.Example"] });
  expect((await ask(url, { headers: { host: "metrics.example" } })).status).toBe(200);
  expect((await ask(url, { headers: { host: "other.example" } })).status).toBe(421);
});

test.each([
  ["another path", { path: "/" }, 404],
  ["another method", { method: "DELETE" }, 405],
  ["a body", { headers: { "content-length": "3" }, body: "abc" }, 413],
] as const)("%s is refused", async (_, asked, status) => {
  const { url } = await served();
  expect((await ask(url, asked)).status).toBe(status);
});

test("an address that other machines reach has to be wanted", async () => {
  const { kernel } = await observedPlace();
  await expect(serveMetrics(kernel, { listen: "0.0.0.0:0" })).rejects.toThrow(/--metrics-allow-remote/);
  await expect(serveMetrics(kernel, { listen: "nonsense" })).rejects.toThrow(/is no address/);
  const server = await serveMetrics(kernel, { listen: "0.0.0.0:0", allowRemote: [] }); // control
  await server.close();
});

test("a head that is too long, and a connection that says nothing, take nothing from others", async () => {
  const { url } = await served();
  const silent = connect(Number(url.port), url.hostname);
  onTestFinished(() => void silent.destroy());
  const long = await ask(url, { headers: { "x-long": "x".repeat(9000) } });
  expect(long.status).toBe(431);
  expect((await ask(url)).status).toBe(200);
});

test("many scrapes at once are one reading of the state", async () => {
  const { kernel, url } = await served();
  let reads = 0;
  const list = kernel.branches.list.bind(kernel.branches);
  kernel.branches.list = async (...which) => {
    reads += 1;
    return list(...which);
  };
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(reads).toBeLessThan(20);
  expect(reads).toBeGreaterThan(0);
});
