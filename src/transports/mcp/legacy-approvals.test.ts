// Approval by elicitation: a scripted client of a legacy revision in front of a real kernel.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ASKING, approve, pending } from "../../../test/approval/asking.ts";
import { cancel, connectTo, type Line, legacy } from "../../../test/support/mcp-connection.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel, testTool } from "../../../test/support/memory-kernel.ts";
import type { JsonObject } from "../../base/json.ts";
import { APPROVAL_WAITERS_PER_SESSION_MAX, IN_BAND_ANSWERS_MAX, IN_BAND_PROMPT_CHARACTERS_MAX } from "../../base/limits.ts";

const CALL = legacy("call", "tools/call", { name: "write_file", arguments: ASKING });
const ONCE = { action: "accept", content: { decision: "approve once" } };
const BOUND = { timeout: 10_000, interval: 2 };

const ATTENDED = { approvalSettings: { attendedClients: new Set(["desk"]) } } as const;
const kernelOf = (options: MemoryKernelOptions = {}) => memoryKernel({ ...ATTENDED, ...options });

interface Said {
  readonly name?: string;
  readonly capabilities?: object;
  readonly revision?: string;
}

/** A client that has said who it is. */
function client(kernel: MemoryKernel, { name = "desk", capabilities = { elicitation: {} }, revision = "2025-11-25" }: Said = {}) {
  const connection = connectTo(kernel.door, kernel.token);
  onTestFinished(() => void connection.input.destroy());
  connection.write(legacy("init", "initialize", { protocolVersion: revision, capabilities, clientInfo: { name, version: "1" } }), {
    jsonrpc: "2.0",
    method: "notifications/initialized",
  });
  const find = (predicate: (line: Line) => boolean) =>
    vi.waitFor(() => {
      const line = connection.lines().find(predicate);
      if (line === undefined) throw new Error("the line does not come");
      return line as Line & { readonly params: JsonObject; readonly result: { readonly structuredContent: JsonObject } };
    }, BOUND);
  const questions = () => connection.lines().filter(({ method }) => method === "elicitation/create");
  return {
    ...connection,
    questions,
    /** The question number `index`, once it is asked. */
    question: (index = 0) =>
      vi.waitFor(() => {
        const question = questions()[index];
        if (question === undefined) throw new Error("nobody is asked");
        return question;
      }, BOUND),
    answerTo: (id: unknown) => find((line) => line.id === id && !("method" in line)),
    note: (method: string) => find((line) => line["method"] === method && !("id" in line)),
    say: (id: unknown, result: unknown) => connection.write({ jsonrpc: "2.0", id, result }),
  };
}

/** The code by which a call was refused, or `success`. */
function endOf({ result }: { readonly result: { readonly structuredContent: JsonObject } }): unknown {
  const { status, error } = result.structuredContent;
  return status === "success" ? status : (error as JsonObject)["code"];
}

const isWritten = ({ root }: MemoryKernel) => existsSync(join(root, ASKING.path));
const ignored = ({ ledger }: MemoryKernel) => ledger.of("approval_answer_ignored").map(({ payload }) => payload["why"]);
const unasked = ({ ledger }: MemoryKernel) =>
  ledger.of("tool_execution_denied").filter(({ payload }) => payload["ruleId"] === "APPROVAL:unasked");

describe("a person at an attended client", () => {
  test("is shown the same lines as every approver, in a fence, with nothing preselected", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    const question = await desk.question();
    const { ref } = await pending(kernel);
    expect(question).toEqual({
      jsonrpc: "2.0",
      id: "handrail-1",
      method: "elicitation/create",
      params: {
        message: expect.any(String),
        requestedSchema: {
          type: "object",
          properties: {
            decision: {
              type: "string",
              title: "Decision",
              description: "for this session: the very same call again, on the same state of what it changes",
              enum: ["approve once", "approve for this session", "deny"],
            },
          },
          required: ["decision"],
        },
      },
    });
    const { message } = question["params"] as { readonly message: string };
    const lines = message.split("\n");
    expect([lines[1], lines.at(-1)]).toEqual(["~~~", "~~~"]);
    expect(lines).toEqual(expect.arrayContaining(["│ CLAUDE.md", "│ +be careful", `  ${ref}`]));
    desk.say(question.id, { action: "decline" });
    await desk.answerTo("call");
  });

  test("approves one execution, which is recorded as theirs; the next call asks anew", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    desk.say((await desk.question()).id, ONCE);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
    expect(kernel.textOf(ASKING.path)).toBe(ASKING.content);
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([
      {
        actor: "approver:client:desk",
        payload: { approved: true, by: "client:desk", channel: "elicitation", scope: { kind: "once" }, holds: true },
      },
    ]);
    desk.write({ ...CALL, id: "again" });
    desk.say((await desk.question(1)).id, { action: "decline" });
    expect(endOf(await desk.answerTo("again"))).toBe("TOOL_APPROVAL_DENIED");
  });

  test("approves for the session: the same call on the same state goes through without asking", async () => {
    const { unlinkSync } = await import("node:fs");
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    desk.say((await desk.question()).id, { action: "accept", content: { decision: "approve for this session" } });
    await desk.answerTo("call");
    unlinkSync(join(kernel.root, ASKING.path));
    desk.write({ ...CALL, id: "again" });
    expect(endOf(await desk.answerTo("again"))).toBe("success");
    expect(desk.questions()).toHaveLength(1);
  });

  test.each([
    ["declines", { action: "decline" }],
    ["chooses to deny", { action: "accept", content: { decision: "deny" } }],
  ])("%s: the call is denied by them", async (_, answer) => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    desk.say((await desk.question()).id, answer);
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_DENIED");
    expect(isWritten(kernel)).toBe(false);
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([{ payload: { approved: false, by: "client:desk" } }]);
  });

  test("closes the question: the request is left to others, and the call does not wait when there are none", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    desk.say((await desk.question()).id, { action: "cancel" });
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect(ignored(kernel)).toEqual(["cancelled"]);
    const { ref } = await pending(kernel);
    await approve(kernel, ref);
    desk.write({ ...CALL, id: "again" });
    expect(endOf(await desk.answerTo("again"))).toBe("success");
    expect(desk.questions()).toHaveLength(1);
  });

  test("closes the question while others could answer: the call waits for them", async () => {
    const kernel = await kernelOf({ approvers: true });
    const desk = client(kernel);
    desk.write(CALL);
    desk.say((await desk.question()).id, { action: "cancel" });
    await vi.waitFor(() => expect(ignored(kernel)).toEqual(["cancelled"]), BOUND);
    await approve(kernel, (await pending(kernel)).ref);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
  });

  test("is not asked about a request any more that they closed several times", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    for (let count = 0; count < IN_BAND_ANSWERS_MAX; count += 1) {
      desk.write({ ...CALL, id: count });
      desk.say((await desk.question(count)).id, { action: "cancel" });
      await desk.answerTo(count);
    }
    desk.write({ ...CALL, id: "once more" });
    expect(endOf(await desk.answerTo("once more"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect(desk.questions()).toHaveLength(IN_BAND_ANSWERS_MAX);
  });
});

describe("nobody is asked in band", () => {
  const SAID: readonly (readonly [string, Said])[] = [
    ["at a client that the operator did not mark", { name: "desk2" }],
    ["at a client that cannot show forms", { capabilities: {} }],
    ["at a client that opens addresses alone", { capabilities: { elicitation: { url: {} } } }],
    ["in a revision without elicitation", { revision: "2025-03-26" }],
  ];

  test.each(SAID)("%s", async (_, said) => {
    const kernel = await kernelOf();
    const desk = client(kernel, said);
    desk.write(CALL);
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect(desk.questions()).toEqual([]);
  });

  test.each([[{ elicitation: { form: {} } }], [{ elicitation: { form: {}, url: {} } }], [{ elicitation: {}, tasks: {} }]])(
    "the control: a marked client with %j is asked, in the revision before as well",
    async (capabilities) => {
      for (const revision of ["2025-11-25", "2025-06-18"]) {
        const desk = client(await kernelOf(), { capabilities, revision });
        await desk.answerTo("init"); // from the library, which is loaded for what is unusual
        desk.write(CALL);
        desk.say((await desk.question()).id, ONCE);
        expect(endOf(await desk.answerTo("call"))).toBe("success");
      }
    },
  );

  const permit = (name: string) =>
    `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"${name}", resource);`;
  const ask = { approval: { level: "ask" } } as const;
  const run = () => ({ kind: "data", data: {} }) as const;
  const TOOLS = [
    ["a push", testTool("git_push", run, ask), "release_manager"],
    ["what needs arming, armed as it is", testTool("probe", run, { ...ask, requiresArming: true }), "dev"],
    ["what changes the machine", testTool("probe", run, { ...ask, effect: "system" }), "sre"],
  ] as const;

  test.each(TOOLS)("about %s: others approve it", async (_, tool, role) => {
    const policies = permit(tool.name);
    const kernel = await kernelOf({ tools: [tool], policies, settings: { armed: true }, approvers: true, session: { role } });
    const desk = client(kernel);
    desk.write(legacy("call", "tools/call", { name: tool.name, arguments: { path: "a.txt" } }));
    await approve(kernel, (await pending(kernel)).ref);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
    expect(desk.questions()).toEqual([]);
  });

  test("the control: the same tool is asked about when it is none of these", async () => {
    const kernel = await kernelOf({ tools: [testTool("probe", run, ask)], policies: permit("probe"), settings: { armed: true } });
    const desk = client(kernel);
    desk.write(legacy("call", "tools/call", { name: "probe", arguments: { path: "a.txt" } }));
    desk.say((await desk.question()).id, ONCE);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
  });

  test("about what does not fit into a form: it is never shown in part", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    const content = `${"x".repeat(99)}\n`.repeat(Math.ceil(IN_BAND_PROMPT_CHARACTERS_MAX / 100));
    desk.write(legacy("call", "tools/call", { name: "write_file", arguments: { ...ASKING, content } }));
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect(desk.questions()).toEqual([]);
  });
});

describe("answers that do not count", () => {
  const BENT: readonly unknown[] = [
    {},
    { action: "accept" },
    { action: "accept", content: null },
    { action: "accept", content: {} },
    { action: "accept", content: [] },
    { action: "accept", content: { decision: true } },
    { action: "accept", content: { decision: "approve" } },
    { action: "accept", content: { decision: "APPROVE ONCE" } },
    { action: "accept", content: { decision: ["approve once"] } },
    { action: "accept", content: { decision: "toString" } },
    { action: "accept", content: { decision: "approve once", more: 1 } },
    { action: "accept", content: { approve: true } },
    { action: "approve", content: { decision: "approve once" } },
    { action: true, content: { decision: "approve once" } },
  ];

  test.each(BENT)("%j breaks the form: it is recorded, and the request is left to others", async (answer) => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    desk.say((await desk.question()).id, answer);
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect([ignored(kernel), isWritten(kernel)]).toEqual([["malformed"], false]);
    expect(await pending(kernel)).toMatchObject({ state: "pending" });
  });

  test("an error instead of an answer is nobody's word", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    desk.write({ jsonrpc: "2.0", id: (await desk.question()).id, error: { code: -32601, message: "no such method" } });
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_REQUIRED");
    expect(ignored(kernel)).toEqual(["cancelled"]);
  });

  test("a client that nobody attends answers what it was never asked: nothing runs, and it is recorded", async () => {
    const kernel = await kernelOf({ approvers: true });
    const desk = client(kernel, { name: "robot" });
    desk.write(CALL);
    const { ref } = await pending(kernel);
    for (const id of ["handrail-1", "handrail-2", 1, "call", ref]) desk.say(id, ONCE);
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(5), BOUND);
    expect([isWritten(kernel), (await pending(kernel)).state]).toEqual([false, "pending"]);
    desk.input.destroy();
  });

  test("of two answers the first counts, the second is recorded", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    desk.say(id, { action: "decline" });
    desk.say(id, ONCE);
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_DENIED");
    await vi.waitFor(() => expect(unasked(kernel)).toHaveLength(1), BOUND);
    expect(isWritten(kernel)).toBe(false);
  });

  test("an approval after the target has changed does nothing", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    writeFileSync(join(kernel.root, ASKING.path), "by somebody else");
    desk.say(id, ONCE);
    expect(endOf(await desk.answerTo("call"))).toBe("TOOL_APPROVAL_INVALID");
    expect(kernel.textOf(ASKING.path)).toBe("by somebody else");
  });
});

describe("while a person thinks", () => {
  test("other messages are answered", async () => {
    const kernel = await kernelOf();
    writeFileSync(join(kernel.root, "a.txt"), "one\n");
    const desk = client(kernel);
    desk.write(CALL);
    const { id } = await desk.question();
    desk.write(legacy("ping", "ping"), legacy("read", "tools/call", { name: "read_file", arguments: { path: "a.txt" } }));
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
    await vi.waitFor(() => expect(kernel.ledger.of("tool_executed")).toMatchObject([{ payload: { errorCode: "CANCELLED" } }]), BOUND);
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
      { timeout: 60_000, interval: 20 },
    );

  test("identical ones share one question, whose answer is read although most of them wait; one of them runs", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    for (let id = 0; id < 1000; id += 1) desk.write({ ...CALL, id });
    const { id } = await desk.question();
    await vi.waitFor(() => expect(desk.lines().length).toBeGreaterThan(2), { timeout: 30_000, interval: 5 });
    desk.say(id, ONCE);
    const ended = await ends(desk);
    expect(ended.filter((end) => end === "success").length).toBeGreaterThan(0);
    expect(kernel.ledger.of("approval_consumed")).toHaveLength(1);
    expect(APPROVAL_WAITERS_PER_SESSION_MAX).toBe(128);
  }, 90_000);

  test("different ones put no more questions than people are asked in a minute", async () => {
    const kernel = await kernelOf();
    const desk = client(kernel);
    for (let id = 0; id < 1000; id += 1)
      desk.write(legacy(id, "tools/call", { name: "write_file", arguments: { ...ASKING, content: `${id}` } }));
    await desk.question(29);
    for (const { id } of desk.questions()) desk.say(id, { action: "decline" });
    const ended = await ends(desk);
    expect(ended.filter((end) => end === "TOOL_APPROVAL_DENIED")).toHaveLength(30);
    expect(ended.filter((end) => end === "RATE_LIMITED")).toHaveLength(970);
    expect(desk.questions()).toHaveLength(30);
  }, 90_000);
});
