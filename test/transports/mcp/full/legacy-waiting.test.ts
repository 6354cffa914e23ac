// What happens while a person at a legacy client thinks, and when a client asks a thousand times at once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { APPROVAL_WAITERS_PER_SESSION_MAX } from "../../../../src/approval/waiting.ts";
import { CALLS_IN_FLIGHT_MAX } from "../../../../src/base/limits.ts";
import { ASKING, approve, pending } from "../../../support/asking.ts";
import { cancel, legacy } from "../../../support/mcp-connection.ts";
import { ATTENDED, BOUND, CALL, client, endOf, isWritten, kernelOf, ONCE, unasked } from "../../../support/mcp-desk.ts";

describe("while a person thinks", () => {
  test("other messages are answered", async () => {
    const kernel = await kernelOf();
    writeFileSync(join(kernel.root, "a.txt"), "one\n");
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    desk.write(
      legacy("ping", "ping"),
      legacy("read", "tools/call", { name: "read_file", arguments: { path: "a.txt" } }),
    );
    await desk.answerTo("ping");
    expect(endOf(await desk.answerTo("read"))).toBe("success");
    desk.say(id, ONCE);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
  });

  test("a call that is cancelled withdraws the question, and an answer after that does nothing", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    desk.write(cancel("call"));
    expect((await desk.note("notifications/cancelled")).params).toEqual({ requestId: id });
    desk.say(id, ONCE);
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(1), BOUND);
    expect([isWritten(kernel), (await pending(kernel)).state]).toEqual([false, "pending"]);
  });

  test("of two calls that share a question one is cancelled: the question stays for the other", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL, { ...CALL, id: "twin" });
    const { id } = await desk.question();
    await vi.waitFor(() => expect(kernel.ledger.of("approval_requested")).toHaveLength(1), BOUND);
    desk.write(cancel("call"));
    await vi.waitFor(() => expect(kernel.ledger.of("tool_executed")).toHaveLength(1), BOUND); // the cancelled one
    desk.say(id, ONCE);
    expect(endOf(await desk.answerTo("twin"))).toBe("success");
    expect(desk.questions()).toHaveLength(1);
  });

  test("somebody else decides: the question is withdrawn, and the call goes on", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    await approve(kernel, (await pending(kernel)).ref);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
    expect((await desk.note("notifications/cancelled")).params).toEqual({ requestId: id });
  });

  test("nobody answers in time: the question is withdrawn, others decide, and the same call uses that", async () => {
    const kernel = await kernelOf({ approvalSettings: { ...ATTENDED.approvalSettings, waitMs: 40 } });
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect((await desk.note("notifications/cancelled")).params).toEqual({ requestId: id });
    await approve(kernel, (await pending(kernel)).ref);
    desk.write({ ...CALL, id: "again" });
    expect(endOf(await desk.answerTo("again"))).toBe("success");
  });

  test("the client leaves: the call ends, and the request stays", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    await desk.question();
    desk.input.destroy();
    await desk.served;
    await vi.waitFor(
      () => expect(kernel.ledger.of("tool_executed")).toMatchObject([{ payload: { errorCode: "CANCELLED" } }]),
      BOUND,
    );
    expect([isWritten(kernel), (await pending(kernel)).state]).toEqual([false, "pending"]);
  });
});

describe("one thousand calls at once", () => {
  const ends = async (desk: ReturnType<typeof client>) =>
    vi.waitFor(
      () => {
        const answers = desk.lines().filter(({ id, result }) => typeof id === "number" && result !== undefined);
        if (answers.length < 1000) throw new Error(`${answers.length} of 1000`);
        return answers.map((line) => endOf(line as never));
      },
      { timeout: 120_000, interval: 20 },
    );

  test("identical ones share one question, whose answer is read although most of them wait; one of them runs", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    for (let id = 0; id < 1000; id += 1) desk.write({ ...CALL, id });
    const { id } = await desk.question();
    await vi.waitFor(() => expect(desk.lines().length).toBeGreaterThan(2), { timeout: 120_000, interval: 5 });
    desk.say(id, ONCE);
    const ended = await ends(desk);
    expect(ended.filter((end) => end === "success").length).toBeGreaterThan(0);
    expect(kernel.ledger.of("approval_consumed")).toHaveLength(1);
    expect(APPROVAL_WAITERS_PER_SESSION_MAX).toBeLessThan(CALLS_IN_FLIGHT_MAX);
  });

  test("different ones put no more questions than people are asked in a minute", async () => {
    const prompts = { perMinuteMax: 30, perHourMax: 1000 };
    const kernel = await kernelOf({ approvalSettings: { ...ATTENDED.approvalSettings, prompts } });
    const desk = client(kernel);
    const argumentsOf = (id: number) => ({ ...ASKING, path: `.github/${id}.yml` });
    for (let id = 0; id < 1000; id += 1)
      desk.write(legacy(id, "tools/call", { name: "write_file", arguments: argumentsOf(id) }));
    await desk.question(29);
    for (const { id } of desk.questions()) desk.say(id, { action: "decline" });
    const ended = await ends(desk);
    expect(ended.filter((end) => end === "TOOL_APPROVAL_DENIED")).toHaveLength(30);
    expect(ended.filter((end) => end === "RATE_LIMITED")).toHaveLength(970);
    expect(desk.questions()).toHaveLength(30);
  });
});
