/** Collectors that fail in every way: calls go on, memory is bounded, and what is lost is counted. */
import { expect, test, vi } from "vitest";
import { type Behaviour, startCollector } from "../../../../support/collector.ts";
import { observedPlace, otlpSettings } from "../../../../support/observed-place.ts";
import { SOON } from "../../../../support/waiting.ts";

/** Entries that wait at most, as the settings of these tests have it. */
const QUEUE = 16;
const CALLS = 60;
/** Bytes that fit into the buffers of a connection before its reader gives up. */
const BUFFERED_BYTES_MAX = 64 * 1024 * 1024;
const SETTINGS = `    queue: ${QUEUE}\n    timeout_seconds: 1\n`;

async function whileCollectorIs(behaviour: Behaviour) {
  const collector = await startCollector();
  collector.behave(behaviour);
  const opened = await observedPlace(otlpSettings(collector.url, SETTINGS));
  const outcomes: string[] = [];
  for (let count = 0; count < CALLS; count += 1)
    outcomes.push((await opened.call("read_file", { path: "a.txt" })).outcome.kind);
  expect(outcomes).toEqual(Array(CALLS).fill("success"));
  return { ...opened, collector, traces: () => opened.kernel.observation.telemetry()?.traces };
}

test.each(["hangs", "500", "redirects", "400"] as const)(
  "a collector that %s keeps no call, and what does not fit is dropped and counted",
  async (behaviour) => {
    const { collector, kernel, traces } = await whileCollectorIs(behaviour);
    await vi.waitFor(() => expect(traces()?.failures).toBeGreaterThan(0), SOON);
    const { waiting = 0, dropped = 0, exported = 0 } = traces() ?? {};
    expect(waiting).toBeLessThanOrEqual(QUEUE);
    expect(exported).toBe(0);
    expect(dropped + waiting).toBe(CALLS);
    expect(kernel.health().telemetryDropped).toBeGreaterThanOrEqual(dropped);
    expect(collector.requests.every(({ path }) => path.startsWith("/v1/"))).toBe(true); // none was sent elsewhere
  },
);

test("a collector that is down keeps no call, and is said once", async () => {
  const { call, kernel, warnings } = await observedPlace(otlpSettings("http://127.0.0.1:1", SETTINGS));
  for (let count = 0; count < CALLS; count += 1)
    expect((await call("read_file", { path: "a.txt" })).outcome.kind).toBe("success");
  await vi.waitFor(() => expect(kernel.observation.telemetry()?.traces?.failures).toBeGreaterThan(1), SOON);
  expect(warnings.filter((text) => text.startsWith("traces cannot be exported"))).toHaveLength(1);
  expect(kernel.observation.telemetry()?.traces?.waiting).toBeLessThanOrEqual(QUEUE);
});

test("the endless answer of a collector is read to a limit", async () => {
  const { collector, traces } = await whileCollectorIs("floods");
  // its status says that it took them; the rest is not waited for
  await vi.waitFor(() => expect(traces()?.exported).toBeGreaterThan(0), SOON);
  expect(collector.flooded()).toBeLessThan(BUFFERED_BYTES_MAX);
});

test("what a collector refuses in part is counted as dropped", async () => {
  const { traces } = await whileCollectorIs("rejects one");
  await vi.waitFor(() => expect(traces()?.exported).toBeGreaterThan(0), SOON);
  expect(traces()?.dropped).toBeGreaterThan(0);
  expect(traces()?.problem).toBeUndefined();
});

test("a collector that works again gets what waits, and that is said", async () => {
  const { collector, traces, warnings } = await whileCollectorIs("500");
  await vi.waitFor(() => expect(traces()?.failures).toBeGreaterThan(0), SOON);
  collector.behave("takes");
  await vi.waitFor(() => expect(traces()?.exported).toBeGreaterThanOrEqual(QUEUE), SOON);
  expect(warnings.some((text) => text.includes("exported again"))).toBe(true);
});

test("a kernel closes although its collector hangs, and what was left is counted", async () => {
  const { kernel, traces } = await whileCollectorIs("hangs");
  const beganMs = performance.now();
  await kernel.close();
  expect(performance.now() - beganMs).toBeLessThan(60_000); // without a bound it would never end
  const { waiting, dropped } = traces() ?? {};
  expect(waiting).toBe(0);
  expect(dropped).toBe(CALLS);
});
