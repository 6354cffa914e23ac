/** A scripted client of a legacy revision, at which a person may sit, in front of a real kernel. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { ASKING } from "./asking.ts";
import { connectTo, type Line, legacy } from "./mcp-connection.ts";
import { factsOf } from "./mcp-result.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "./memory-kernel.ts";

/** A call that asks. */
export const CALL = legacy("call", "tools/call", { name: "write_file", arguments: ASKING });
/** The answer that approves one execution. */
export const ONCE = { action: "accept", content: { decision: "approve once" } };
/** How long a test waits for what has to come. */
export const BOUND = { timeout: 120_000, interval: 2 };

/** The operator marks the client `desk`. */
export const ATTENDED = { approvalSettings: { attendedClients: new Set(["desk"]) } } as const;
/** A kernel of that operator. */
export const kernelOf = (options: MemoryKernelOptions = {}) => memoryKernel({ ...ATTENDED, ...options });

/** What a client says of itself. */
export interface Said {
  readonly name?: string;
  readonly capabilities?: object;
  readonly revision?: string;
}

/** A client that has said who it is. */
export function client(
  kernel: MemoryKernel,
  { name = "desk", capabilities = { elicitation: {} }, revision = "2025-11-25" }: Said = {},
) {
  const connection = connectTo(kernel.door, kernel.token);
  onTestFinished(() => void connection.input.destroy());
  connection.write(
    legacy("init", "initialize", { protocolVersion: revision, capabilities, clientInfo: { name, version: "1" } }),
    {
      jsonrpc: "2.0",
      method: "notifications/initialized",
    },
  );
  const find = (predicate: (line: Line) => boolean) =>
    vi.waitFor(() => {
      const line = connection.lines().find(predicate);
      if (line === undefined) throw new Error("the line does not come");
      return line as Line & {
        readonly params: JsonObject;
        readonly result: JsonObject;
      };
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
export function endOf({ result }: { readonly result: JsonObject }): unknown {
  const { status, error } = factsOf(result);
  return status === "success" ? status : error?.["code"];
}

/** Whether the call took effect. */
export const isWritten = ({ root }: MemoryKernel) => existsSync(join(root, ASKING.path));
/** Why answers did not count. */
export const ignored = ({ ledger }: MemoryKernel) =>
  ledger.of("approval_answer_ignored").map(({ payload }) => payload["why"]);
/** Answers to what nobody asked. */
export const unasked = ({ ledger }: MemoryKernel) =>
  ledger.of("tool_execution_denied").filter(({ payload }) => payload["ruleId"] === "APPROVAL:unasked");
