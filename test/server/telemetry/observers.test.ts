/** Who hears of what happens in a kernel, and that one who fails changes nothing. */
import { expect, test } from "vitest";
import { Observers, wantsTelemetry } from "../../../src/server/telemetry/observers.ts";
import { observedPlace } from "../../support/observed-place.ts";

test("while nobody hears of calls, the kernel has nobody to tell", () => {
  const observers = new Observers();
  expect([observers.calls, observers.hearsEvents]).toEqual([undefined, false]);
  const end = observers.add({ call: () => undefined });
  expect(observers.calls).toBeDefined();
  expect(observers.hearsEvents).toBe(false);
  end();
  expect(observers.calls).toBeUndefined();
});

test("an observer that throws is counted, and the others and the call go on", async () => {
  const { kernel, call, errors } = await observedPlace();
  const heard: string[] = [];
  kernel.observation.observe({
    call: () => {
      throw new Error("broken");
    },
    recorded: () => {
      throw new Error("broken");
    },
  });
  kernel.observation.observe({ call: ({ outcome }) => void heard.push(outcome) });
  expect((await call("read_file", { path: "a.txt" })).outcome.kind).toBe("success");
  expect(heard).toEqual(["success"]);
  expect(kernel.observation.observerFailures()).toBeGreaterThanOrEqual(2);
  expect(errors).toEqual([]);
});

test("telemetry is loaded only where something is asked for", () => {
  const nothing = { telemetry: {} };
  expect(wantsTelemetry(nothing, {})).toBe(false);
  expect(wantsTelemetry(nothing, { HANDRAIL_LOG: "" })).toBe(false);
  expect(wantsTelemetry(nothing, { HANDRAIL_LOG: "info" })).toBe(true);
});
