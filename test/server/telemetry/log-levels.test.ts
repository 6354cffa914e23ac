/** Which lines of the log are wanted. */
import { expect, test } from "vitest";
import { LOG_AREAS, parseLogLevels } from "../../../src/server/telemetry/log-levels.ts";
import { observedPlace } from "../../support/observed-place.ts";

test("a level alone is that of all areas, and a named area has its own", () => {
  expect(parseLogLevels("sandbox=debug,kernel=warn", "x")).toMatchObject({
    sandbox: "debug",
    kernel: "warn",
    calls: "info",
  });
  expect(parseLogLevels(" error , calls = debug ", "x")).toMatchObject({ calls: "debug", ledger: "error" });
  expect(Object.values(parseLogLevels("off", "x"))).toEqual(LOG_AREAS.map(() => "off"));
});

test.each([
  ["loud", /HANDRAIL_LOG names the level `loud`; there are off, error, warn, info, debug/],
  ["kernel=verbose", /HANDRAIL_LOG names the level `verbose`/],
  ["kernl=info", /HANDRAIL_LOG names the area `kernl`; there are kernel, calls/],
  ["kernel=", /names the level ``/],
])("`%s` is an error at the start that names what there is", async (text, message) => {
  await expect(observedPlace("", { HANDRAIL_LOG: text })).rejects.toThrow(message);
});

test("the settings are checked the same way", async () => {
  await expect(observedPlace("log: { levels: nonsense }\n")).rejects.toThrow(/`log.levels` names the level/);
});
