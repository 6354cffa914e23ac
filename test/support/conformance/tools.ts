/** The tools that the official conformance suite calls, as plugins of the kernel's own registry. */
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { Tool, ToolContext } from "../../../src/model/tool/tool.ts";
import { defineTool } from "../../../src/tools/kit/define-tool.ts";
import type { AskingTools, ClientLink } from "../../../src/transports/mcp/protocol/client-link.ts";

type Block = string | JsonObject;
type Run = (args: JsonObject, context: ToolContext) => Block[] | Promise<Block[]>;
type Ask = (link: ClientLink, args: JsonObject) => Block[] | Promise<Block[]>;

/** A picture of one red pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, text: string) => ({
  type: "resource",
  resource: { uri, mimeType, text },
});
const soon = () => new Promise((resolve) => setTimeout(resolve, 60));

const PLAIN: Readonly<Record<string, Run>> = {
  test_simple_text: () => ["This is a simple text response for testing."],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: SOUND, mimeType: "audio/wav" }],
  test_embedded_resource: () => [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ],
  test_multiple_content_types: () => [
    "Multiple content types test:",
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
  test_error_handling: () => {
    throw new ToolFailure("CONTENT_CORRUPT", "This tool intentionally returns an error for testing", "do not call it");
  },
  greet: (args) => [`Hello, ${String(args["name"])}!`],
  async slow_compute({ seconds }, { signal }) {
    const until = Date.now() + Number(seconds) * 1000;
    while (Date.now() < until && !signal.aborted) await later(20);
    signal.throwIfAborted();
    return ["computed"];
  },
  test_header_param: ({ region }) => [`region: ${String(region)}`],
  json_schema_2020_12_tool: () => ["checked"],
  async test_tool_with_progress(_, { progress }) {
    for (const completed of [0, 50, 100]) {
      progress({ kind: "progress", completed, total: 100 });
      await soon();
    }
    return ["done"];
  },
};

const form = (message: string, properties: JsonObject) => ({
  message,
  requestedSchema: { type: "object", properties, required: Object.keys(properties) },
});
const elicit = (message: string, properties: JsonObject) => ({
  method: "elicitation/create",
  params: { mode: "form", ...form(message, properties) },
});
const sample = (text: string) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 },
});
const ROOTS = { method: "roots/list", params: {} };
const NAME = { name: { type: "string" } };

/** State that nobody else can have made. */
const codec = createRequestStateCodec<JsonObject>({ key: "k".repeat(32) });

/** What the client answered to `name`, as far as it is an answer. */
function answered({ round }: ClientLink, name: string): JsonObject | undefined {
  const answer = isJsonObject(round.responses) ? round.responses[name] : undefined;
  return isJsonObject(answer) ? answer : undefined;
}

/** The state of the round; one that was altered refuses it. */
async function stateOf(link: ClientLink): Promise<JsonObject | undefined> {
  if (link.round.state === undefined) return undefined;
  try {
    return await codec.verify(String(link.round.state), undefined as never);
  } catch {
    link.refuse({ code: -32602, message: "the request state was altered; begin again without it" });
    return undefined;
  }
}

/** Asks once, and says what came back. */
const once =
  (name: string, request: JsonObject): Ask =>
  (link) => {
    const answer = answered(link, name);
    if (answer === undefined) link.require({ [name]: request });
    return [JSON.stringify(answer ?? "asked")];
  };

/** Asks with state that has to come back. */
const withState =
  (requests: JsonObject): Ask =>
  async (link) => {
    const state = await stateOf(link);
    if (link.round.state === undefined) link.require(requests, await codec.mint({ round: 1 }));
    return [state === undefined ? "asked" : "state-ok"];
  };

async function askInSession(link: ClientLink, method: string, params: JsonObject): Promise<Block[]> {
  const answer = await link.ask?.(method, params);
  return [`answer: ${JSON.stringify(answer ?? null)}`];
}

/** Asks in a task; a client that cancels the task answers nothing. */
async function inTask(link: ClientLink, params: JsonObject): Promise<unknown> {
  try {
    return await link.ask?.("elicitation/create", params);
  } catch {
    throw new ToolFailure("CONTENT_CORRUPT", "nobody answered", "call it again");
  }
}

const CONFIRM = elicit("Please confirm", { ok: { type: "boolean" } });
const ENUM = ["option1", "option2", "option3"];

const ASKING: Readonly<Record<string, Ask>> = {
  async test_tool_with_logging({ log }) {
    for (const said of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      log("info", said);
      await soon();
    }
    return ["done"];
  },
  test_logging_tool({ log }) {
    log("info", "one");
    return ["done"];
  },
  test_streaming_elicitation: once("user_name", elicit("What is your name?", NAME)),
  test_sampling: (link, { prompt }) =>
    askInSession(link, "sampling/createMessage", sample(String(prompt)).params as JsonObject),
  test_elicitation: (link, { message }) =>
    askInSession(
      link,
      "elicitation/create",
      form(String(message), { username: { type: "string" }, email: { type: "string" } }),
    ),
  test_elicitation_sep1034_defaults: (link) =>
    askInSession(
      link,
      "elicitation/create",
      form("Defaults?", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
    ),
  test_elicitation_sep1330_enums: (link) =>
    askInSession(
      link,
      "elicitation/create",
      form("Which?", {
        untitledSingle: { type: "string", enum: ENUM },
        titledSingle: { type: "string", oneOf: titled("First Option") },
        legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
        untitledMulti: { type: "array", items: { type: "string", enum: ENUM } },
        titledMulti: { type: "array", items: { anyOf: titled("First Choice") } },
      }),
    ),
  test_input_required_result_elicitation: once("user_name", elicit("What is your name?", NAME)),
  test_input_required_result_sampling: once("capital_question", sample("What is the capital of France?")),
  test_input_required_result_list_roots: once("client_roots", ROOTS),
  test_input_required_result_request_state: withState({ confirm: CONFIRM }),
  test_input_required_result_tampered_state: withState({ confirm: CONFIRM }),
  test_input_required_result_multiple_inputs: withState({
    user_name: elicit("What is your name?", NAME),
    greeting: sample("Generate a greeting"),
    client_roots: ROOTS,
  }),
  async test_input_required_result_multi_round(link) {
    const state = await stateOf(link);
    const round = Number(state?.["round"] ?? 0);
    if (round === 0)
      link.require({ step1: elicit("Step 1: What is your name?", NAME) }, await codec.mint({ round: 1 }));
    if (round === 1) {
      const request = elicit("Step 2: What is your favorite color?", { color: { type: "string" } });
      link.require({ step2: request }, await codec.mint({ round: 2 }));
    }
    return [`round ${round}`];
  },
  test_input_required_result_capabilities(link) {
    const possible = { elicitation: CONFIRM, sampling: sample("Anything"), roots: ROOTS };
    link.require(Object.fromEntries(Object.entries(possible).filter(([name]) => name in link.capabilities)));
    return ["asked"];
  },
  async failing_job(link) {
    if (!knowsTasks(link)) {
      link.refuse(REQUIRES_TASKS);
      return [];
    }
    await later(200);
    throw new ToolFailure("CONTENT_CORRUPT", "the job failed", "do not call it");
  },
  async protocol_error_job(link) {
    await later(50);
    link.refuse({ code: -32603, message: "the job broke down" });
    return [];
  },
  async confirm_delete(link, { filename }) {
    await inTask(link, form(`Delete ${String(filename)}?`, { confirm: { type: "boolean" } }));
    return ["deleted"];
  },
  async multi_input(link) {
    const answers = [NAME, { confirm: { type: "boolean" } }].map((fields) => inTask(link, form("One of two", fields)));
    await Promise.all(answers);
    return ["both"];
  },
  async test_tool_with_task(link) {
    const answer = answered(link, "user_name");
    if (answer === undefined) link.require({ user_name: elicit("What is your name?", NAME) });
    else await later(200);
    return [JSON.stringify(answer ?? "asked")];
  },
  test_missing_capability(link) {
    if (!("sampling" in link.capabilities))
      link.refuse({
        code: -32021,
        message: "this tool needs a client that samples",
        data: { requiredCapabilities: { sampling: {} } },
      });
    return ["done"];
  },
};

function titled(title: string): JsonObject[] {
  return [
    { const: "value1", title },
    { const: "value2", title: "Another" },
  ];
}

/** Tools whose every call is a task. */
const TASKS: ReadonlySet<string> = new Set([
  "slow_compute",
  "failing_job",
  "protocol_error_job",
  "confirm_delete",
  "multi_input",
]);

const REQUIRES_TASKS = {
  code: -32021,
  message: "this tool needs a client that knows tasks",
  data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
};

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function knowsTasks({ capabilities }: ClientLink): boolean {
  const { extensions } = capabilities;
  return isJsonObject(extensions) && "io.modelcontextprotocol/tasks" in extensions;
}

/** A schema with what the dialect of 2020-12 has beside types. */
const SCHEMA_2020_12: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of the dialect
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Arguments of the tools that take some. */
const PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  test_sampling: z.strictObject({ prompt: z.string() }),
  test_elicitation: z.strictObject({ message: z.string() }),
  greet: z.strictObject({ name: z.string() }),
  slow_compute: z.strictObject({ seconds: z.number(), label: z.string().optional() }),
  confirm_delete: z.strictObject({ filename: z.string() }),
  test_header_param: z.strictObject({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
  json_schema_2020_12_tool: z.custom<JsonObject>(isJsonObject).meta(SCHEMA_2020_12),
};

function plugin(name: string, run: Run): Tool {
  return defineTool({
    name,
    title: name,
    description: `The fixture \`${name}\` of the conformance suite.`,
    parameters: PARAMETERS[name] ?? z.strictObject({}),
    capability: { effect: "read", risk: "low", approval: { level: "auto" } },
    analyse: () => [{ resource: { kind: "file", path: "a.txt" }, effect: "read" }],
    execute: async (args, context) => ({
      kind: "data",
      data: { blocks: (await run(args as JsonObject, context)) as never },
    }),
    toText: ({ blocks }) => blocks as unknown as Block[],
  });
}

/** The tools, what the ones among them that ask find their clients by, and how often one changed the list. */
export function conformanceTools(): {
  readonly tools: readonly Tool[];
  readonly asking: AskingTools;
  readonly changes: () => number;
} {
  let changes = 0;
  const links = new Map<string, ClientLink>();
  const asking: AskingTools = {
    owns: (tool) => Object.hasOwn(ASKING, tool),
    // One of them asks in a round before it becomes a task.
    isTask: (tool, params) => TASKS.has(tool) || (tool === "test_tool_with_task" && "inputResponses" in params),
    open(requestId, link) {
      links.set(requestId, link);
      return () => void links.delete(requestId);
    },
  };
  const tools = [
    plugin("test_trigger_tool_change", () => {
      changes += 1;
      return ["changed"];
    }),
    ...Object.entries(PLAIN).map(([name, run]) => plugin(name, run)),
    ...Object.entries(ASKING).map(([name, ask]) =>
      plugin(name, (args, { requestId }) => {
        const link = links.get(requestId);
        if (link === undefined) throw new Error("the call has no client");
        return ask(link, args);
      }),
    ),
  ];
  return { tools, asking, changes: () => changes };
}
