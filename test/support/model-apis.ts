/** Doubles of the programming interfaces of models: each request of an agent gets the next step of a script. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** What the model wants next: a tool of Handrail's, a tool of the agent's own, or to end with a text. */
export type Step =
  | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly own: string; readonly input: string }
  | { readonly text: string };

/** The steps of a model, one for each result; `results` are the texts of all results so far, the newest last. */
export type Script = (results: readonly string[]) => Step;

/** What an agent asked. */
export interface ModelDouble {
  readonly address: string;
  /** Names of the tools that were offered with the last request that had some. */
  readonly offered: () => readonly string[];
  /** Texts of the results of the tools. */
  readonly results: () => readonly string[];
}

/** Times that a model asks for tools that are not there yet. */
const SEARCHES_MAX = 100;

type Part = Readonly<Record<string, unknown>>;

interface Body {
  readonly tools?: readonly {
    readonly name?: string;
    readonly type?: string;
    readonly functionDeclarations?: readonly { name: string }[];
  }[];
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly input?: readonly Part[];
}

type Events = readonly (readonly [event: string, data: object])[];

/** Claude's Messages API. Tools of Handrail's are looked up first where wished, because Claude Code defers them. */
export function anthropicDouble(script: Script, isSearching = true): Promise<ModelDouble> {
  let searches = 0;
  return modelDouble(async (body, seen) => {
    if (body.messages === undefined) return undefined;
    const blocks = body.messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []));
    const all = blocks.filter(({ type }) => type === "tool_result").map(({ content }) => textOf(content));
    if (body.tools === undefined || body.tools.length === 0) return anthropicEvents({ type: "text", text: "a title" });
    const results = all.slice(searches);
    const names = body.tools.map(({ name = "" }) => name);
    seen(names, results);
    const tools = ["read_file", "edit_file", "write_file"].map((tool) => `mcp__handrail__${tool}`);
    if (isSearching && results.length === 0 && !all.some((text) => text.includes(tools[0] ?? ""))) {
      await pause(searches);
      searches += 1;
      const input = { query: `select:${tools.join(",")}`, max_results: 5 };
      return anthropicEvents({ type: "tool_use", name: "ToolSearch", input });
    }
    const step = script(results);
    if ("text" in step) return anthropicEvents({ type: "text", text: step.text });
    if ("own" in step) return anthropicEvents({ type: "tool_use", name: step.own, input: { command: step.input } });
    return anthropicEvents({ type: "tool_use", name: `mcp__handrail__${step.tool}`, input: step.input });
  });
}

/** OpenAI's Responses API. Tools of Handrail's are searched first where wished, because Codex defers them. */
export function openaiDouble(script: Script, isSearching = true): Promise<ModelDouble> {
  let searches = 0;
  return modelDouble(async (body, seen) => {
    if (body.input === undefined || body.tools === undefined) return undefined;
    const outputs = body.input.filter(({ type }) => /_call_output$/.test(String(type)));
    const results = outputs.map(({ output }) => textOf(output));
    seen(
      body.tools.map(({ name, type }) => name ?? type ?? ""),
      results,
    );
    const isFound = body.input.some(
      ({ type, tools }) => type === "tool_search_output" && JSON.stringify(tools) !== "[]",
    );
    if (isSearching && !isFound) {
      await pause(searches);
      searches += 1;
      const input = { query: "read file edit file write file", limit: 12 };
      const id = `search_${searches}`;
      return openaiEvents({ type: "tool_search_call", call_id: id, execution: "client", arguments: input });
    }
    const step = script(results);
    const id = `call_${results.length}`;
    if ("text" in step) {
      const content = [{ type: "output_text", text: step.text, annotations: [] }];
      return openaiEvents({ type: "message", role: "assistant", content });
    }
    if ("own" in step)
      return openaiEvents({ type: "custom_tool_call", call_id: id, name: step.own, input: step.input });
    const call = { namespace: "mcp__handrail", name: step.tool, arguments: JSON.stringify(step.input) };
    return openaiEvents({ type: "function_call", call_id: id, ...call });
  });
}

/** A server that still starts is asked for again a little later, and not for ever. */
async function pause(searches: number): Promise<void> {
  if (searches >= SEARCHES_MAX) throw new Error("the agent does not find Handrail's tools");
  if (searches > 0) await setTimeout(500);
}

/** Gemini's API: it answers with a text, and notes what was offered. */
export function geminiDouble(): Promise<ModelDouble> {
  return modelDouble(async (body, seen) => {
    const names = (body.tools ?? []).flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }) => name),
    );
    if (names.length > 0) seen(names, []);
    const content = { role: "model", parts: [{ text: "done" }] };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [["", { candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata }]];
  });
}

type Seen = (tools: readonly string[], results: readonly string[]) => void;
type Answer = (body: Body, seen: Seen) => Promise<Events | undefined>;

async function modelDouble(answer: Answer): Promise<ModelDouble> {
  let [offered, results]: readonly (readonly string[])[] = [[], []];
  const server = createServer((request, response) => {
    void answered(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  const answered = async (request: IncomingMessage, response: ServerResponse) => {
    const events = await answer(await bodyOf(request), (tools, said) => {
      offered = tools;
      results = said;
    });
    send(response, events);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, offered: () => offered ?? [], results: () => results ?? [] };
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body;
  } catch {
    return {}; // a request without a body, such as one for the list of models
  }
}

function send(response: ServerResponse, events: Events | undefined): void {
  if (events === undefined) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [event, data] of events) {
    if (event !== "") response.write(`event: ${event}\n`);
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
}

let count = 0;

function anthropicEvents(block: { readonly type: string; readonly [name: string]: unknown }): Events {
  const isTool = block.type === "tool_use";
  count += 1;
  const message = {
    id: `msg_${count}`,
    type: "message",
    role: "assistant",
    model: "double",
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const start = isTool
    ? { type: "tool_use", id: `toolu_${count}`, name: block["name"], input: {} }
    : { type: "text", text: "" };
  const delta = isTool
    ? { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }
    : { type: "text_delta", text: block["text"] };
  const end = { stop_reason: isTool ? "tool_use" : "end_turn", stop_sequence: null };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: end, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  return events.map((event) => [event.type, event]);
}

function openaiEvents(made: Readonly<Record<string, unknown>>): Events {
  count += 1;
  const item = { id: `item_${count}`, status: "completed", ...made };
  const response = { id: `resp_${count}`, object: "response" };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ];
  return events.map((event) => [event.type, event]);
}

/** The text of a result, whatever parts it has. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part: unknown) => (part as { text?: string }).text ?? JSON.stringify(part)).join("\n");
}
