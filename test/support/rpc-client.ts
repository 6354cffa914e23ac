/** A bare JSON-RPC client of `handrail mcp`: lines out, lines in, nothing that a library would put right. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { collect, linesOf, startHandrail } from "./command-line.ts";
import type { Place } from "./place.ts";

/** A JSON-RPC answer, as far as tests look at it. */
export interface Answer {
  readonly id: number | string | null;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The result of a `tools/call`. */
export interface CallAnswer {
  readonly isError: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly _meta: Readonly<Record<string, unknown>>;
}

/** A running `handrail mcp` and a line to it. */
export interface RpcClient {
  readonly process: ChildProcessWithoutNullStreams;
  /** Sends text as it is. */
  readonly write: (text: string) => void;
  readonly notify: (method: string, params?: object) => void;
  /** Sends a request and resolves with its answer; rejects when the server ends first. */
  readonly request: (method: string, params?: object, id?: number) => Promise<Answer>;
  readonly call: (name: string, args: object) => Promise<CallAnswer>;
  /** Every answer so far, in order. */
  readonly answers: () => readonly Answer[];
  /** Resolves with the next answers until there are `count` in all. */
  readonly answered: (count: number) => Promise<readonly Answer[]>;
  readonly stderr: () => string;
  /** Resolves with the signal or the exit code. */
  readonly ended: Promise<string>;
}

/** Starts `handrail mcp` for the place's workspace; it is killed when the test ends. */
export function startRpc(
  place: Place,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): RpcClient {
  const child = startHandrail(place, ["mcp", "--workspace", place.workspace, ...args], { environment });
  const output = collect(child);
  child.stdin.on("error", () => undefined); // the server may be killed while it is written to
  const ended = once(child, "close").then(([code, signal]) => String(signal ?? code));
  const seen: Answer[] = [];
  const waiting = new Map<number | string, (answer: Answer) => void>();
  let pending = "";
  const decoder = new TextDecoder();
  child.stdout.on("data", (part: Buffer) => {
    const lines = (pending + decoder.decode(part, { stream: true })).split("\n");
    pending = lines.pop() ?? "";
    for (const answer of lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Answer)) {
      seen.push(answer);
      if (answer.id !== null) waiting.get(answer.id)?.(answer);
    }
  });
  let lastId = 0;
  const write = (text: string) => void child.stdin.write(text);
  const request: RpcClient["request"] = (method, params = {}, id = ++lastId) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    void ended.then((how) => reject(new Error(`the server ended with ${how}: ${output().stderr}`)));
    promise.catch(() => undefined);
    write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return promise;
  };
  return {
    process: child,
    write,
    notify: (method, params = {}) => write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`),
    request,
    call: async (name, args) => decodeCall(await request("tools/call", { name, arguments: args })),
    answers: () => seen,
    async answered(count) {
      while (seen.length < count) {
        const more = await Promise.race([once(child.stdout, "data"), ended]);
        if (typeof more === "string" && seen.length < count)
          throw new Error(`the server ended with ${more}: ${output().stderr}`);
      }
      return seen;
    },
    stderr: () => linesOf(output().stderr).join("\n"),
    ended,
  };
}

/** Starts and initializes. */
export async function connectRpc(
  place: Place,
  args: readonly string[] = [],
  protocolVersion = "2025-11-25",
  environment = {},
): Promise<RpcClient> {
  const client = startRpc(place, args, environment);
  await client.request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } });
  client.notify("notifications/initialized");
  return client;
}

function decodeCall(answer: Answer): CallAnswer {
  if (answer.result === undefined) throw new Error(`not a result: ${JSON.stringify(answer)}`);
  return answer.result as unknown as CallAnswer;
}
