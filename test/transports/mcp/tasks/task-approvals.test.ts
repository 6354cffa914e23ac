// A call that may become a task asks its client as a task that needs input: answered once, by that client alone.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import { mintSession } from "../../../../src/session/session.ts";
import { ASKING, approve, pending } from "../../../support/asking.ts";
import { connectTo, type Line, META, modern } from "../../../support/mcp-connection.ts";
import { BOUND, ignored, isWritten, kernelOf, ONCE, unasked } from "../../../support/mcp-desk.ts";
import { bearer, modernHeaders, post, serveMcpPlace } from "../../../support/mcp-http-place.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import type { MemoryKernel } from "../../../support/memory-kernel.ts";

const CALL = { name: "write_file", arguments: ASKING };

const says = (name: string) => ({
  ...META,
  "io.modelcontextprotocol/clientInfo": { name, version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: { form: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
});

type Answer = Line & { readonly result: JsonObject };

/** A client of the tasks extension, over a connection of its own. */
function client(kernel: MemoryKernel, { token = kernel.token, name = "desk" } = {}) {
  const connection = connectTo(kernel.door, token);
  onTestFinished(() => void connection.input.destroy());
  let last = 0;
  const ask = (method: string, params: object, meta: object = says(name)): Promise<Answer> => {
    last += 1;
    const id = last;
    connection.write(modern(id, method, params, meta));
    return vi.waitFor(() => {
      const line = connection.lines().find((each) => each.id === id);
      if (line === undefined) throw new Error("no answer");
      return line as Answer;
    }, BOUND);
  };
  return followed(ask);
}

/** What a client of tasks does with them. */
function followed(ask: (method: string, params: object, meta?: object) => Promise<Answer>) {
  return {
    ask,
    begin: async (call: object = CALL) => {
      const { result } = await ask("tools/call", call);
      expect(result).toMatchObject({ resultType: "task", status: "input_required" });
      expect(result).not.toHaveProperty("inputRequests");
      expect(result).not.toHaveProperty("requestState");
      return String(result["taskId"]);
    },
    get: async (taskId: string) => (await ask("tasks/get", { taskId })).result,
    update: (taskId: string, inputResponses: unknown, meta?: object) =>
      ask("tasks/update", { taskId, inputResponses }, meta),
    /** The key of the one question of a task, once it asks. */
    key: async (taskId: string) => {
      const { result } = await ask("tasks/get", { taskId });
      expect(result).toMatchObject({ resultType: "complete", status: "input_required" });
      const [[key, request] = ["", {}]] = Object.entries(result["inputRequests"] as JsonObject);
      expect(request).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
      return key;
    },
    end: (taskId: string) =>
      vi.waitFor(async () => {
        const { result } = await ask("tasks/get", { taskId });
        expect(["working", "input_required"]).not.toContain(result["status"]);
        return result;
      }, BOUND),
  };
}

const codeOf = (ended: JsonObject) => factsOf(ended["result"] as JsonObject).error?.["code"];

describe("a task that needs approval", () => {
  test("asks its client, which answers, and goes on", async () => {
    const kernel = await kernelOf();
    const { begin, key, update, end } = client(kernel);
    const task = await begin();
    const asked = await key(task);
    expect(asked).toMatch(/^[\w-]{22}$/);
    expect(isWritten(kernel)).toBe(false);
    expect((await update(task, { [asked]: ONCE })).result).toMatchObject({ resultType: "complete" });
    expect(await end(task)).toMatchObject({ status: "completed", result: { isError: false } });
    expect(isWritten(kernel)).toBe(true);
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([
      { actor: "approver:client:desk", payload: { approved: true, scope: { kind: "once" } } },
    ]);
  });

  test.each([
    [{ action: "decline" }, "TOOL_APPROVAL_DENIED"],
    [{ action: "cancel" }, "TOOL_APPROVAL_REQUIRED"],
    [{ action: "accept", content: { decision: "yes" } }, "TOOL_APPROVAL_REQUIRED"],
    [17, "TOOL_APPROVAL_REQUIRED"],
  ])("is answered %j, and ends with %s", async (answer, code) => {
    const kernel = await kernelOf();
    const { begin, key, update, end } = client(kernel);
    const task = await begin();
    await update(task, { [await key(task)]: answer });
    const ended = await end(task);
    expect([ended["status"], codeOf(ended)]).toEqual(["completed", code]);
    expect(isWritten(kernel)).toBe(false);
  });

  test("goes on by anybody's approval, and asks no more", async () => {
    const kernel = await kernelOf({ approvers: true });
    const { begin, key, update, end } = client(kernel);
    const task = await begin();
    const asked = await key(task);
    await approve(kernel, (await pending(kernel)).ref);
    expect(await end(task)).toMatchObject({ status: "completed", result: { isError: false } });
    await update(task, { [asked]: { action: "decline" } });
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(1), BOUND);
  });

  test("is cancelled: the question is withdrawn and the call ends", async () => {
    const kernel = await kernelOf();
    const { begin, key, update, end, ask } = client(kernel);
    const task = await begin();
    const asked = await key(task);
    await ask("tasks/cancel", { taskId: task });
    expect(await end(task)).toMatchObject({ status: "cancelled" });
    await update(task, { [asked]: ONCE });
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(1), BOUND);
    expect(isWritten(kernel)).toBe(false);
  });
});

describe("an answer does not count", () => {
  test("of another key, by another client's name, or a second time", async () => {
    const kernel = await kernelOf();
    const { begin, key, update, end, get } = client(kernel);
    const task = await begin();
    const asked = await key(task);
    const bent = `${asked.startsWith("A") ? "B" : "A"}${asked.slice(1)}`;
    for (const guess of ["approval", bent, `${asked}=`, "constructor"]) await update(task, { [guess]: ONCE });
    await update(task, { [asked]: ONCE }, says("other"));
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(5), BOUND);
    expect(await get(task)).toMatchObject({ status: "input_required" });
    expect(isWritten(kernel)).toBe(false);
    // the control: the very answer of the client itself, which then is used up
    await update(task, { [asked]: ONCE });
    await end(task);
    expect(isWritten(kernel)).toBe(true);
    await update(task, { [asked]: ONCE });
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(6), BOUND);
    expect(kernel.ledger.of("tool_approval_decided")).toHaveLength(1);
  });

  test("to another task of the same session", async () => {
    const kernel = await kernelOf();
    const { begin, key, update, get } = client(kernel);
    const second = { ...CALL, arguments: { ...ASKING, path: "AGENTS.md" } };
    const [one, other] = [await begin(), await begin(second)];
    await update(other, { [await key(one)]: ONCE });
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(1), BOUND);
    for (const task of [one, other]) expect(await get(task)).toMatchObject({ status: "input_required" });
    expect(isWritten(kernel)).toBe(false);
  });

  test("of a client that nobody marked as attended: it is not asked", async () => {
    const kernel = await kernelOf();
    const { ask } = client(kernel, { name: "robot" });
    const { result } = await ask("tools/call", CALL);
    expect(result).toMatchObject({ resultType: "complete", isError: true });
    expect(ignored(kernel)).toEqual([]);
  });

  test("of another session, over HTTP, which reads, answers and ends nothing of it", async () => {
    const kernel = await kernelOf();
    const { createdAtMs, expiresAtMs, id: _id, tokenHash: _hash, ...same } = kernel.session;
    const second = await mintSession(
      kernel.sessions,
      { ...same, lifetimeMs: expiresAtMs - createdAtMs },
      { nowMs: createdAtMs, random: systemRandom },
    );
    const door = await serveMcpPlace(kernel.door);
    const as = (token: string) =>
      followed(async (method, params, meta = says("desk")) => {
        const message = modern(1, method, params, meta);
        const { taskId } = params as { readonly taskId?: string };
        const headers = { ...modernHeaders(message), ...(taskId !== undefined && { "mcp-name": taskId }) };
        return (await post(door, message, { ...headers, ...bearer(token) })).messages.at(-1) as Answer;
      });
    const [owner, other] = [as(kernel.token), as(second.token)];
    const task = await owner.begin();
    const asked = await owner.key(task);
    for (const method of ["tasks/get", "tasks/cancel"])
      expect(await other.ask(method, { taskId: task })).toMatchObject({ error: { code: -32602 } });
    expect(await other.update(task, { [asked]: ONCE })).toMatchObject({ error: { code: -32602 } });
    expect(isWritten(kernel)).toBe(false);
    // the control: the owner reads and answers it
    expect(await owner.key(task)).toBe(asked);
    await owner.update(task, { [asked]: ONCE });
    expect(await owner.end(task)).toMatchObject({ status: "completed" });
    expect(isWritten(kernel)).toBe(true);
  });
});
