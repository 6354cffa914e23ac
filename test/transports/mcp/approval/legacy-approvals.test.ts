// Approval by elicitation: who is asked, who never is, and which answers count.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { IN_BAND_ANSWERS_MAX } from "../../../../src/approval/in-band-desk.ts";
import { IN_BAND_PROMPT_CHARACTERS_MAX } from "../../../../src/transports/mcp/approval/approval-form.ts";
import { ASKING, approve, pending } from "../../../support/asking.ts";
import { legacy } from "../../../support/mcp-connection.ts";
import {
  BOUND,
  CALL,
  client,
  endOf,
  ignored,
  isWritten,
  kernelOf,
  ONCE,
  type Said,
  unasked,
} from "../../../support/mcp-desk.ts";
import { testTool } from "../../../support/memory-kernel.ts";

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
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([
      { payload: { approved: false, by: "client:desk" } },
    ]);
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

  test.each([
    [{ elicitation: { form: {} } }],
    [{ elicitation: { form: {}, url: {} } }],
    [{ elicitation: {}, tasks: {} }],
  ])("the control: a marked client with %j is asked, in the revision before as well", async (capabilities) => {
    for (const revision of ["2025-11-25", "2025-06-18"]) {
      const desk = client(await kernelOf(), { capabilities, revision });
      await desk.answerTo("init"); // from the library, which is loaded for what is unusual
      desk.write(CALL);
      desk.say((await desk.question()).id, ONCE);
      expect(endOf(await desk.answerTo("call"))).toBe("success");
    }
  });

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
    const kernel = await kernelOf({
      tools: [tool],
      policies,
      settings: { armed: true },
      approvers: true,
      session: { role },
    });
    const desk = client(kernel);
    desk.write(legacy("call", "tools/call", { name: tool.name, arguments: { path: "a.txt" } }));
    await approve(kernel, (await pending(kernel)).ref);
    expect(endOf(await desk.answerTo("call"))).toBe("success");
    expect(desk.questions()).toEqual([]);
  });

  test("the control: the same tool is asked about when it is none of these", async () => {
    const kernel = await kernelOf({
      tools: [testTool("probe", run, ask)],
      policies: permit("probe"),
      settings: { armed: true },
    });
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
