// Approval between the rounds of a call: a scripted client of the modern revision in front of a real kernel.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { IN_BAND_ANSWERS_MAX } from "../../../../src/approval/in-band-desk.ts";
import { systemRandom } from "../../../../src/base/ids.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import { ROUND_STATE_MS } from "../../../../src/kernel/rounds.ts";
import { mintSession } from "../../../../src/session/session.ts";
import { IN_BAND_PROMPT_CHARACTERS_MAX } from "../../../../src/transports/mcp/approval/approval-form.ts";
import { ASKING, approve, pending } from "../../../support/asking.ts";
import { connectTo, type Line, META, modern } from "../../../support/mcp-connection.ts";
import { factsOf } from "../../../support/mcp-result.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel, testTool } from "../../../support/memory-kernel.ts";

const BOUND = { timeout: 120_000, interval: 2 };
const ONCE = { action: "accept", content: { decision: "approve once" } };
const CALL = { name: "write_file", arguments: ASKING };
const ATTENDED = { approvalSettings: { attendedClients: new Set(["desk"]) } } as const;
const kernelOf = (options: MemoryKernelOptions = {}) => memoryKernel({ ...ATTENDED, ...options });

/** `_meta` of a client. */
const says = (name: string | undefined, capabilities: object = { elicitation: { form: {} } }) => ({
  ...META,
  "io.modelcontextprotocol/clientInfo": name === undefined ? undefined : { name, version: "1" },
  "io.modelcontextprotocol/clientCapabilities": capabilities,
});
const DESK = says("desk");

type Round = Line & {
  readonly result: JsonObject & { readonly requestState: string };
};

/** A client that makes one call after the other. */
function client(kernel: MemoryKernel, token = kernel.token) {
  const connection = connectTo(kernel.door, token);
  onTestFinished(() => void connection.input.destroy());
  let last = 0;
  return async (params: object, meta: object = DESK): Promise<Round> => {
    last += 1;
    const id = last;
    connection.write(modern(id, "tools/call", params, meta));
    return vi.waitFor(() => {
      const line = connection.lines().find((each) => each.id === id);
      if (line === undefined) throw new Error("no answer");
      return line as Round;
    }, BOUND);
  };
}

/** The next round of a call: the state that was handed out, and an answer. */
const next = ({ result }: Round, answer?: unknown, call: object = CALL) => ({
  ...call,
  requestState: result.requestState,
  ...(answer !== undefined && { inputResponses: { approval: answer } }),
});

/** How a round ended: a question, `success`, a code of a refusal, or an error of the protocol with it. */
function endOf({ result, error }: Round): unknown {
  if (error !== undefined)
    return [error.code, (error as unknown as { data: { error: JsonObject } }).data.error["code"]];
  if (result["resultType"] === "input_required") return "question";
  const { status, error: refusal } = factsOf(result);
  return status === "success" ? status : refusal?.["code"];
}

const isWritten = ({ root }: MemoryKernel) => existsSync(join(root, ASKING.path));
const ignored = ({ ledger }: MemoryKernel) => ledger.of("approval_answer_ignored").map(({ payload }) => payload["why"]);
const refusedRounds = ({ ledger }: MemoryKernel) =>
  ledger.of("tool_execution_denied").filter(({ payload }) => payload["ruleId"] === "APPROVAL:round");
const FOREIGN = [-32602, "TOOL_APPROVAL_INVALID"];

describe("a person at an attended client", () => {
  test("is asked by a result that needs input, and the next round of the very call goes through", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    expect(first).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "input_required",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "handrail", title: "Handrail", version: "1.2.3" } },
        inputRequests: {
          approval: {
            method: "elicitation/create",
            params: {
              mode: "form",
              message: expect.stringContaining(`\n  ${(await pending(kernel)).ref}\n~~~`),
              requestedSchema: expect.objectContaining({ type: "object", required: ["decision"] }),
            },
          },
        },
        requestState: expect.stringMatching(/^[\w-]+\.[\w-]{43}$/),
      },
    });
    expect(isWritten(kernel)).toBe(false);
    expect(endOf(await call(next(first, ONCE)))).toBe("success");
    expect(kernel.textOf(ASKING.path)).toBe(ASKING.content);
    expect(kernel.ledger.of("tool_approval_decided")).toMatchObject([
      {
        actor: "approver:client:desk",
        payload: { approved: true, by: "client:desk", channel: "multi_round_trip", scope: { kind: "once" } },
      },
    ]);
  });

  test("is asked at once, although others could be waited for", async () => {
    const kernel = await kernelOf({ approvers: true });
    const call = client(kernel);
    const first = await call(CALL);
    expect([endOf(first), endOf(await call(next(first, ONCE)))]).toEqual(["question", "success"]);
  });

  test("approves for the session: the same call goes through in one round", async () => {
    const { unlinkSync } = await import("node:fs");
    const kernel = await kernelOf();
    const call = client(kernel);
    await call(next(await call(CALL), { action: "accept", content: { decision: "approve for this session" } }));
    unlinkSync(join(kernel.root, ASKING.path));
    expect(endOf(await call(CALL))).toBe("success");
  });

  test.each([
    [{ action: "decline" }, "TOOL_APPROVAL_DENIED"],
    [{ action: "accept", content: { decision: "deny" } }, "TOOL_APPROVAL_DENIED"],
    [{ action: "cancel" }, "TOOL_APPROVAL_REQUIRED"],
    [undefined, "TOOL_APPROVAL_REQUIRED"],
  ])("answers %j: the call ends with %s", async (answer, code) => {
    const kernel = await kernelOf();
    const call = client(kernel);
    expect(endOf(await call(next(await call(CALL), answer)))).toBe(code);
    expect(isWritten(kernel)).toBe(false);
    if (code === "TOOL_APPROVAL_REQUIRED") expect(ignored(kernel)).toEqual(["cancelled"]);
    else expect(endOf(await call(CALL))).toBe(code);
  });

  test("closes the question while others could answer: the round waits for them", async () => {
    const kernel = await kernelOf({ approvers: true });
    const call = client(kernel);
    const second = call(next(await call(CALL), { action: "cancel" }));
    await vi.waitFor(() => expect(ignored(kernel)).toEqual(["cancelled"]), BOUND);
    await approve(kernel, (await pending(kernel)).ref);
    expect(endOf(await second)).toBe("success");
  });

  test("is not asked about a request any more that they closed several times", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    for (let count = 0; count < IN_BAND_ANSWERS_MAX; count += 1)
      await call(next(await call(CALL), { action: "cancel" }));
    expect(endOf(await call(CALL))).toBe("TOOL_APPROVAL_REQUIRED");
  });

  test("answers on another connection of the same session: nothing is kept between rounds", async () => {
    const kernel = await kernelOf();
    const first = await client(kernel)(CALL);
    expect(endOf(await client(kernel)(next(first, ONCE)))).toBe("success");
  });

  test("somebody else decides meanwhile: that stands, and the answer is recorded as too late", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    await approve(kernel, (await pending(kernel)).ref);
    expect(
      endOf(await call(next(first, { action: "accept", content: { decision: "approve for this session" } }))),
    ).toBe("success");
    expect(
      kernel.ledger.of("tool_approval_decided").map(({ payload }) => [payload["channel"], payload["holds"]]),
    ).toEqual([
      ["cli", true],
      ["multi_round_trip", false],
    ]);
  });
});

describe("nobody is asked in band", () => {
  const permit = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);`;
  const probe = (capability: object) =>
    testTool("probe", () => ({ kind: "data", data: {} }), { approval: { level: "ask" }, ...capability });

  test.each([
    ["at a client that the operator did not mark", says("robot")],
    ["at a client that does not say who it is", says(undefined)],
    ["at a client that cannot show forms", says("desk", {})],
    ["at a client that opens addresses alone", says("desk", { elicitation: { url: {} } })],
  ])("%s", async (_, meta) => {
    const call = client(await kernelOf());
    expect(endOf(await call(CALL, meta))).toBe("TOOL_APPROVAL_REQUIRED");
    expect(endOf(await call({ ...CALL, inputResponses: { approval: ONCE } }, meta))).toBe("TOOL_APPROVAL_REQUIRED");
  });

  test.each([
    ["needs arming", { requiresArming: true }, "TOOL_APPROVAL_REQUIRED"],
    ["the control: does not", {}, "question"],
  ])("about what %s, armed as it is", async (_, capability, expected) => {
    const kernel = await kernelOf({ tools: [probe(capability)], policies: permit, settings: { armed: true } });
    expect(endOf(await client(kernel)({ name: "probe", arguments: { path: "a.txt" } }))).toBe(expected);
  });

  test("about what does not fit into a form", async () => {
    const content = `${"x".repeat(99)}\n`.repeat(Math.ceil(IN_BAND_PROMPT_CHARACTERS_MAX / 100));
    const call = client(await kernelOf());
    expect(endOf(await call({ name: "write_file", arguments: { ...ASKING, content } }))).toBe("TOOL_APPROVAL_REQUIRED");
  });
});

describe("rounds that do not count", () => {
  test.each([
    { action: "accept" },
    { action: "accept", content: { decision: "yes" } },
    "accept",
    { method: "x", result: ONCE },
    null,
  ])(
    "an answer of %j breaks the form: it is recorded, nothing runs, and the request is left to others",
    async (answer) => {
      const kernel = await kernelOf();
      const call = client(kernel);
      expect(endOf(await call(next(await call(CALL), answer)))).toBe("TOOL_APPROVAL_REQUIRED");
      expect([ignored(kernel), isWritten(kernel), (await pending(kernel)).state]).toEqual([
        ["malformed"],
        false,
        "pending",
      ]);
    },
  );

  const SESSION = async (kernel: MemoryKernel) => {
    const { id: _id, tokenHash: _hash, createdAtMs, expiresAtMs, ...same } = kernel.session;
    return mintSession(
      kernel.sessions,
      { ...same, lifetimeMs: expiresAtMs - createdAtMs },
      { nowMs: createdAtMs, random: systemRandom },
    );
  };
  type Attempt = (kernel: MemoryKernel, first: Round) => Promise<Round>;
  const again = (kernel: MemoryKernel, params: object, meta: object = DESK) => client(kernel)(params, meta);
  const bent = ({ result }: Round, change: (state: string) => unknown) => ({
    ...CALL,
    requestState: change(result.requestState),
    inputResponses: { approval: ONCE },
  });
  const ATTEMPTS: readonly (readonly [string, Attempt])[] = [
    [
      "other content",
      (kernel, first) => again(kernel, next(first, ONCE, { ...CALL, arguments: { ...ASKING, content: "evil" } })),
    ],
    [
      "another path",
      (kernel, first) => again(kernel, next(first, ONCE, { ...CALL, arguments: { ...ASKING, path: "AGENTS.md" } })),
    ],
    [
      "one argument more",
      (kernel, first) => again(kernel, next(first, ONCE, { ...CALL, arguments: { ...ASKING, append: true } })),
    ],
    ["no arguments", (kernel, first) => again(kernel, next(first, ONCE, { name: CALL.name, arguments: undefined }))],
    ["arguments that are none", (kernel, first) => again(kernel, next(first, ONCE, { ...CALL, arguments: 7 }))],
    ["another tool", (kernel, first) => again(kernel, next(first, ONCE, { ...CALL, name: "edit_file" }))],
    ["another client", (kernel, first) => again(kernel, next(first, ONCE), says("desk2"))],
    ["a client that says no name", (kernel, first) => again(kernel, next(first, ONCE), says(undefined))],
    ["another session", async (kernel, first) => client(kernel, (await SESSION(kernel)).token)(next(first, ONCE))],
    [
      "a changed character",
      (kernel, first) =>
        again(
          kernel,
          bent(first, (state) => `${state.startsWith("e") ? "f" : "e"}${state.slice(1)}`),
        ),
    ],
    [
      "a changed seal",
      (kernel, first) =>
        again(
          kernel,
          bent(first, (state) => state.slice(0, -2)),
        ),
    ],
    [
      "facts of the client's own",
      (kernel, first) =>
        again(
          kernel,
          bent(first, (state) => `${Buffer.from("{}").toString("base64url")}.${state.split(".")[1]}`),
        ),
    ],
    [
      "no text",
      (kernel, first) =>
        again(
          kernel,
          bent(first, () => ({ ok: true })),
        ),
    ],
    [
      "null",
      (kernel, first) =>
        again(
          kernel,
          bent(first, () => null),
        ),
    ],
    [
      "state whose time is over",
      (kernel, first) => {
        kernel.time.nowMs += ROUND_STATE_MS;
        return again(kernel, next(first, ONCE));
      },
    ],
  ];

  test.each(ATTEMPTS)("%s: refused as an error, recorded with the session, and nothing runs", async (name, attempt) => {
    const kernel = await kernelOf();
    const first = await client(kernel)(CALL);
    expect(endOf(await attempt(kernel, first))).toEqual(FOREIGN);
    expect(refusedRounds(kernel)).toHaveLength(1);
    expect(refusedRounds(kernel)[0]?.sessionId === kernel.session.id).toBe(name !== "another session");
    expect([isWritten(kernel), existsSync(join(kernel.root, "AGENTS.md"))]).toEqual([false, false]);
    expect(kernel.ledger.of("tool_approval_decided")).toEqual([]);
    if (name === "state whose time is over") return;
    expect(endOf(await client(kernel)(next(first, ONCE)))).toBe("success"); // the control: only that was wrong
  });

  test.each([
    [ONCE, "success"],
    [{ action: "cancel" }, "TOOL_APPROVAL_REQUIRED"],
    [{ action: "decline" }, "TOOL_APPROVAL_DENIED"],
  ])("state that brought %j opens nothing a second time", async (answer, end) => {
    const { unlinkSync } = await import("node:fs");
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    expect(endOf(await call(next(first, answer)))).toBe(end);
    if (end === "success") unlinkSync(join(kernel.root, ASKING.path));
    expect(endOf(await call(next(first, ONCE)))).toEqual(FOREIGN);
    expect([refusedRounds(kernel).length, isWritten(kernel)]).toEqual([1, false]);
    expect(ignored(kernel).at(-1)).toBe("repeated");
  });

  test("of one hundred answers with one state at once one counts, and one call runs", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    const ends = (await Promise.all(Array.from({ length: 100 }, () => call(next(first, ONCE))))).map(endOf);
    expect(ends.filter((end) => end === "success")).toHaveLength(1);
    expect(ends.filter((end) => Array.isArray(end))).toHaveLength(99);
    expect(kernel.ledger.of("approval_consumed")).toHaveLength(1);
  });

  test("a client that is not attended any more when it answers does not count", async () => {
    const attendedClients = new Set(["desk"]);
    const kernel = await kernelOf({ approvalSettings: { attendedClients } });
    const call = client(kernel);
    const first = await call(CALL);
    attendedClients.clear();
    expect(endOf(await call(next(first, ONCE)))).toBe("TOOL_APPROVAL_REQUIRED");
    expect([ignored(kernel), isWritten(kernel)]).toEqual([["unattended"], false]);
  });

  test("a session that was revoked between the rounds is refused as any", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    await kernel.sessions.updateSession(kernel.session.id, { revokedAtMs: kernel.time.nowMs });
    expect(endOf(await call(next(first, ONCE)))).toBe("SESSION_REVOKED");
    expect((await pending(kernel)).state).toBe("pending");
  });

  test("an approval after the target has changed does nothing", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    writeFileSync(join(kernel.root, ASKING.path), "by somebody else");
    expect(endOf(await call(next(first, ONCE)))).toBe("TOOL_APPROVAL_INVALID");
    expect(kernel.textOf(ASKING.path)).toBe("by somebody else");
  });

  test("a store that is down counts nothing and runs nothing", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    kernel.asked.countInBandAnswer = () => Promise.reject(new Error("the disk is gone"));
    expect(endOf(await call(next(first, ONCE)))).toBe("INTERNAL");
    expect([isWritten(kernel), (await pending(kernel)).state]).toEqual([false, "pending"]);
  });

  test("an answer that cannot be recorded does not count", async () => {
    const kernel = await kernelOf();
    const call = client(kernel);
    const first = await call(CALL);
    kernel.ledger.breakFor(({ type }) => type === "tool_approval_decided");
    expect(endOf(await call(next(first, ONCE)))).toBe("LEDGER_UNAVAILABLE");
    expect([isWritten(kernel), (await pending(kernel)).state]).toEqual([false, "pending"]);
  });
});

test("one thousand different calls at once ask as often as people are asked in a minute", async () => {
  const prompts = { perMinuteMax: 30, perHourMax: 1000 };
  const kernel = await kernelOf({ approvalSettings: { ...ATTENDED.approvalSettings, prompts } });
  const { write, until, input } = connectTo(kernel.door, kernel.token);
  onTestFinished(() => void input.destroy());
  for (let id = 0; id < 1000; id += 1)
    write(modern(id, "tools/call", { ...CALL, arguments: { ...ASKING, path: `.github/${id}.yml` } }, DESK));
  const ends = (await until(1000)).map((line) => endOf(line as Round));
  expect(ends.filter((end) => end === "question")).toHaveLength(30);
  expect(ends.filter((end) => end === "RATE_LIMITED")).toHaveLength(970);
});
