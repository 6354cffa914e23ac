// Calls that take long become tasks, for clients that know them: asked for, cancelled, bounded, gone with their client.
import { expect, test, vi } from "vitest";
import { CallTasks, type TaskCall } from "../../../../src/transports/mcp/tasks/call-tasks.ts";
import { answerTask } from "../../../../src/transports/mcp/tasks/task-requests.ts";
import { connectTo, META, modern } from "../../../support/mcp-connection.ts";
import { BOUND } from "../../../support/mcp-desk.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

const EXTENSION = "io.modelcontextprotocol/tasks";
const KNOWS = { ...META, "io.modelcontextprotocol/clientCapabilities": { extensions: { [EXTENSION]: {} } } };
const NEVER = new AbortController().signal;

/** A call that ends when the test says so, or is ended. */
function call() {
  const done = Promise.withResolvers<string>();
  let ended = false;
  const make = ({ end }: TaskCall) => {
    end.signal.addEventListener("abort", () => {
      ended = true;
      done.resolve('{"error":{"code":1,"message":"cancelled"}}');
    });
    return done.promise;
  };
  return { make, done: () => done.resolve('{"result":{"content":[]}}'), fail: done.reject, isEnded: () => ended };
}

async function task(tasks: CallTasks, made = call()) {
  const run = await tasks.run(made.make, NEVER);
  if (run.kind !== "task") throw new Error("it is no task");
  return { ...made, id: String(run.result["taskId"]), result: run.result };
}

test("a call that is quick is answered, and no task", async () => {
  const tasks = new CallTasks(60_000);
  const quick = call();
  quick.done();
  expect(await tasks.run(quick.make, NEVER)).toEqual({ kind: "answered", line: '{"result":{"content":[]}}' });
});

test("one that takes long is a task, which is completed, failed or cancelled, and then stays what it is", async () => {
  const tasks = new CallTasks(1);
  const [good, bad, bent, ended] = [await task(tasks), await task(tasks), await task(tasks), await task(tasks)];
  expect(good.result).toMatchObject({ resultType: "task", status: "working", ttlMs: 600_000 });
  expect(tasks.get(good.id)).toMatchObject({ resultType: "complete", status: "working" });
  good.done();
  bad.fail(new Error("secret"));
  expect(tasks.cancel(ended.id)).toBe(true);
  await vi.waitFor(() => expect(tasks.get(bad.id)?.["status"]).toBe("failed"), BOUND);
  expect(tasks.get(good.id)).toMatchObject({ status: "completed", result: { content: [] } });
  expect(JSON.stringify(tasks.get(bad.id))).not.toContain("secret");
  expect([tasks.get(ended.id)?.["status"], ended.isEnded(), bent.isEnded()]).toEqual(["cancelled", true, false]);
  tasks.cancel(good.id);
  expect(tasks.get(good.id)?.["status"]).toBe("completed");
});

test("too many make the client wait; the end of the client ends all of them", async () => {
  const tasks = new CallTasks(1);
  const many = [];
  for (let count = 0; count < 64; count += 1) many.push(await task(tasks));
  const over = call();
  const waiting = tasks.run(over.make, NEVER);
  await new Promise((resolve) => setTimeout(resolve, 20));
  over.done();
  expect((await waiting).kind).toBe("answered");
  tasks.close();
  expect(many.every(({ isEnded }) => isEnded())).toBe(true);
  expect(tasks.get(many[0]?.id ?? "")).toBeUndefined();
});

test("a request that is cancelled before it is a task ends its call", async () => {
  const tasks = new CallTasks(60_000);
  const [leaving, made] = [new AbortController(), call()];
  const run = tasks.run(made.make, leaving.signal);
  leaving.abort();
  expect([(await run).kind, made.isEnded()]).toEqual(["answered", true]);
});

test("who has not said that it knows tasks is refused with what is missing, and a task that is none with what to do", async () => {
  const tasks = new CallTasks(1);
  const { id } = await task(tasks);
  let unasked = 0;
  const ask = (method: string, taskId: unknown, meta: object = KNOWS, more: object = {}) =>
    answerTask(tasks, { jsonrpc: "2.0", id: 1, method, params: { _meta: meta, taskId, ...more } as never }, () => {
      unasked += 1;
    });
  expect(ask("tasks/get", id, META)).toMatchObject({
    error: { code: -32021, data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } } },
  });
  for (const wrong of ["x", 1, undefined]) expect(ask("tasks/get", wrong)).toMatchObject({ error: { code: -32602 } });
  expect(ask("tasks/update", id)).toMatchObject({ error: { code: -32602 } });
  expect(ask("tasks/update", id, KNOWS, { inputResponses: {} })).toEqual({ result: { resultType: "complete" } });
  expect(unasked).toBe(0);
  const guessed = { inputResponses: { approval: { action: "accept" } } };
  expect(ask("tasks/update", id, KNOWS, guessed)).toEqual({ result: { resultType: "complete" } });
  expect(unasked).toBe(1);
  expect(ask("tasks/cancel", id)).toEqual({ result: { resultType: "complete" } });
  expect(ask("tasks/get", id)).toMatchObject({ result: { status: "cancelled" } });
});

test("over a connection, the extension is offered, and its requests are answered by its rules", async () => {
  const kernel = await memoryKernel();
  const connection = connectTo(kernel.door, kernel.token);
  const bad = { ...KNOWS, "io.modelcontextprotocol/clientInfo": { version: 1 } };
  connection.write(
    modern(1, "server/discover"),
    modern(2, "tasks/get", { taskId: "x" }, KNOWS),
    modern(3, "tasks/get", { taskId: "x" }),
    modern(4, "tasks/cancel", { taskId: "x" }, bad),
    modern(5, "tools/call", { name: "list_files", arguments: {} }, KNOWS),
  );
  const answers = Object.fromEntries((await connection.until(5)).map((line) => [String(line.id), line]));
  expect(answers["1"]).toMatchObject({ result: { capabilities: { extensions: { [EXTENSION]: {} } } } });
  expect(answers["2"]).toMatchObject({ error: { code: -32602 } });
  expect(answers["3"]).toMatchObject({ error: { code: -32021 } });
  expect(answers["4"]).toMatchObject({ error: { code: -32602 } });
  expect(answers["5"]).toMatchObject({ result: { resultType: "complete", isError: false } });
  await connection.end();
});
