/** The kill switch of an embedded kernel: the embedding program stops what its own tools run. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { createKernel } from "../../../../src/index.ts";
import { testTool } from "../../../support/memory-kernel.ts";
import { freshPlace } from "../../../support/place.ts";

test("a slow tool ends within moments of `kill`, and the session acts again after `resume`", async () => {
  const place = freshPlace();
  const started = Promise.withResolvers<void>();
  const slow = testTool(
    "slow",
    async (_, { signal }) => {
      started.resolve();
      if (!signal.aborted) await once(signal, "abort");
      return { kind: "data", data: { seen: "much" } };
    },
    { effect: "read" },
  );
  place.put(
    "config/policy/own.cedar",
    `@id("own.slow")\n@message("m")\npermit (principal, action == Handrail::Action::"slow", resource);\n`,
  );
  await using kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    tools: [slow],
  });
  const session = await kernel.openSession({ workspace: place.workspace });
  const running = session.call("slow", { path: "a" });
  await started.promise;
  await kernel.freezes.kill({ scope: "all" }, { by: "program", reason: "enough" });
  const frozen = { kind: "denied", denial: { reason: "session_frozen", ruleId: "FREEZE:all" } };
  expect((await running).response.outcome).toMatchObject(frozen);
  expect((await session.call("list_files", { path: "." })).response.outcome).toMatchObject(frozen);
  await kernel.freezes.resume({ scope: "all" }, { by: "program", reason: "" });
  expect((await session.call("list_files", { path: "." })).response.outcome.kind).toBe("success");
});
