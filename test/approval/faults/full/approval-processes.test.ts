/**
 * Requests that wait in a kernel which is killed: people still see them, what they decide is used by the next kernel,
 * and nothing is done twice.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import { type OpenKernel, openKernel } from "../../../../src/server/compose.ts";
import { addApprover } from "../../../../src/server/people/approver-credentials.ts";
import { startChild } from "../../../support/children/run.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const TARGET = "CLAUDE.md";
const ARGS = { path: TARGET, content: "once\n", append: true };

async function kernelOf(place: Place): Promise<OpenKernel> {
  const kernel = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
  onTestFinished(() => kernel.close());
  return kernel;
}

/** A kernel that stays, an approver, and a session of which calls are made in processes of their own. */
async function watched() {
  const place = freshPlace();
  const credential = await addApprover(place.state, "ann", systemRandom);
  const kernel = await kernelOf(place);
  const wish = { workspace: place.workspace, userId: "ann", agentId: "agent" } as const;
  const { token } = await kernel.administration.createSession(wish);
  const child = () => startChild("ask", [place.state, place.config, token]);
  const pending = () =>
    vi.waitFor(
      async () => {
        const [approval] = await kernel.approvals.list({ state: "pending" });
        if (approval === undefined) throw new Error("nobody asks");
        return approval;
      },
      { timeout: 120_000, interval: 10 },
    );
  let count = 0;
  const call = async (by: OpenKernel, signal = new AbortController().signal) => {
    const submission = {
      kind: "call",
      requestId: `r-${++count}`,
      sessionToken: token,
      tool: "write_file",
      arguments: ARGS,
    } as const;
    const { outcome } = await by.door.execute(submission, signal);
    return outcome.kind === "denied" ? outcome.denial.reason : outcome.kind;
  };
  const text = () =>
    existsSync(join(place.workspace, TARGET)) ? readFileSync(join(place.workspace, TARGET), "utf8") : "";
  return { place, kernel, credential, child, pending, call, text };
}

test("a kernel is killed while a request waits: it can be decided all the same, and the next kernel does it, once", async () => {
  const { place, kernel, credential, child, pending, call, text } = await watched();
  const asking = child();
  const { ref } = await pending();
  asking.process.kill("SIGKILL");
  await asking.ended;
  expect(await kernel.approvals.find(ref)).toMatchObject({ approval: { state: "pending", uses: 0 } });
  expect(await kernel.approvals.decide(ref, { approved: true }, credential)).toMatchObject({ kind: "decided" });
  expect(text()).toBe("");
  expect(await call(await kernelOf(place))).toBe("success");
  expect(text()).toBe("once\n");
  expect(await kernel.approvals.find(ref)).toMatchObject({ approval: { state: "consumed", uses: 1 } });
  const types = (await readEvidence(place.state)).map(({ entry }) => entry.eventType);
  const of = (type: string) => types.filter((one) => one === type).length;
  expect([of("tool_approval_decided"), of("approval_consumed"), of("tool_selected")]).toEqual([1, 1, 1]);
  // By the killed kernel, by whoever decided, or by both.
  expect(of("approval_requested")).toBeGreaterThan(0);
});

test("a kernel is killed at any moment after the answer: what was approved once is done at most once", {
  timeout: 600_000,
}, async () => {
  for (const delayMs of [0, 8, 25]) {
    const { place, kernel, credential, child, pending, call, text } = await watched();
    const asking = child();
    const { ref } = await pending();
    const deciding = kernel.approvals.decide(ref, { approved: true }, credential);
    await pause(delayMs);
    asking.process.kill("SIGKILL");
    await asking.ended;
    expect(await deciding).toMatchObject({ kind: "decided" });
    const before = text();
    const leaving = new AbortController();
    // Where the killed one had used it the same call asks anew, and nobody answers.
    const again = call(await kernelOf(place), leaving.signal);
    let ended = "waits";
    void again.then((end) => {
      ended = end;
    });
    while (ended === "waits" && (await kernel.approvals.list({ state: "pending" })).length === 0) await pause(10);
    leaving.abort();
    await again;
    expect([before, text()]).toEqual(ended === "success" ? ["", "once\n"] : [before, before]);
    expect(["", "once\n"]).toContain(text());
    const { approval } = (await kernel.approvals.find(ref)) as { approval: { uses: number } };
    expect(approval.uses).toBeLessThanOrEqual(1);
  }
});
