/** The critical test cases of meao's tool system, by their names, through its executor. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { createKernel } from "../../../src/server/doors/library.ts";
import { type ExecutorResult, ToolExecutor } from "../../../src/server/doors/tool-executor.ts";
import { webFetch } from "../../../src/tools/web/web-fetch.ts";
import { Internet } from "../../support/egress.ts";
import { readEvidence } from "../../support/evidence.ts";
import { freshPlace } from "../../support/place.ts";

/** Looks like a secret to the redactor, and is nobody's. */
const SECRET = `ghp_${"a1B2c3D4e5F6g7H8i9".repeat(2)}`;

/** Executes one call on a kernel of its own; also what the ledger kept of it. */
async function execute(
  args: JsonObject,
): Promise<{ readonly result: ExecutorResult; readonly payloads: readonly JsonObject[] }> {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  await internet.http("api.github.com", 80, (_, response) => response.end(`a page with ${SECRET}`));
  let result: ExecutorResult;
  {
    await using kernel = await createKernel({
      environment: {},
      stateDirectory: place.state,
      configDirectory: place.config,
      network: internet.network,
    });
    await using session = await kernel.openSession({ workspace: place.workspace });
    result = await new ToolExecutor(session).execute(webFetch as Tool, args);
  }
  const records = await readEvidence(place.state);
  return {
    result,
    payloads: records.filter(({ entry }) => entry.eventType.startsWith("tool_")).map(({ payload }) => payload),
  };
}

const ALLOWED = "http://api.github.com/repos";

describe("web_fetch", () => {
  test("auto-approves GET to allowed host", async () => {
    expect((await execute({ url: ALLOWED })).result).toMatchObject({ success: true });
  });

  test("requires approval for POST", async () => {
    const { result, payloads } = await execute({ url: ALLOWED, method: "POST" });
    expect(result).toMatchObject({
      success: false,
      truncated: false,
      label: { trustLevel: "system", dataClass: "public" },
    });
    expect(payloads).toContainEqual(
      expect.objectContaining({ reason: "tool_approval_required", ruleId: "CAPABILITY:web_fetch:method" }),
    );
  });

  test("requires approval for unknown host", async () => {
    const { result, payloads } = await execute({ url: "https://example.com/" });
    expect(result.success).toBe(false);
    expect(payloads).toContainEqual(
      expect.objectContaining({ reason: "tool_approval_required", ruleId: "CAPABILITY:web_fetch:host" }),
    );
  });

  test("labels output as untrusted", async () => {
    expect((await execute({ url: ALLOWED })).result.label.trustLevel).toBe("untrusted");
  });
});

describe("ToolExecutor", () => {
  test("sanitizes output through secretDetector", async () => {
    const { output } = (await execute({ url: ALLOWED })).result;
    expect(output).toContain("[REDACTED:");
    expect(output).not.toContain(SECRET);
  });

  test("does not log output in audit", async () => {
    const { payloads } = await execute({ url: ALLOWED });
    expect(payloads).not.toEqual([]);
    // The output is a document of its own, which an entry names by its digest alone.
    const isDigest = (value: unknown) => /^[0-9a-f]{64}$/.test(String(value));
    const logs = payloads.filter(
      (payload) => ("output" in payload && !isDigest(payload["output"])) || JSON.stringify(payload).includes("a page"),
    );
    expect(logs).toEqual([]);
  });

  test("answers an approval that nobody gives as a result, not as an exception", async () => {
    const { result } = await execute({ url: ALLOWED, method: "DELETE" });
    expect(result).toEqual({
      success: false,
      output: expect.stringContaining("approval"),
      label: { trustLevel: "system", dataClass: "public", source: { origin: "system", timestamp: expect.any(String) } },
      truncated: false,
      executionTime: expect.any(Number),
    });
  });
});
