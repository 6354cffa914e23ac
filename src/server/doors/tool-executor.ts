/**
 * meao's executor on top of a session: `execute` answers `{success, output, label, truncated, executionTime}`. It
 * decides nothing; every call goes through the kernel's door.
 */
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import type { Label } from "../../model/outcome/label.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { CallOptions, KernelSession } from "./library.ts";

/** What meao's callers get. */
export interface ExecutorResult {
  readonly success: boolean;
  /** The result as text; of a refused or failed call the message. */
  readonly output: string;
  readonly label: Label;
  readonly truncated: boolean;
  /** Milliseconds. */
  readonly executionTime: number;
}

/** Executes tools of the kernel under one session. */
export class ToolExecutor {
  readonly #session: Pick<KernelSession, "call">;

  constructor(session: Pick<KernelSession, "call">) {
    this.#session = session;
  }

  /** Makes one governed call; a refused or failed one is `success: false`. Never rejects for either. */
  async execute(
    tool: string | Pick<Tool, "name">,
    args: JsonObject,
    options: CallOptions = {},
  ): Promise<ExecutorResult> {
    const { response } = await this.#session.call(typeof tool === "string" ? tool : tool.name, args, options);
    return { ...resultOf(response), executionTime: response.durationMs };
  }
}

function resultOf({ outcome }: CallResponse): Omit<ExecutorResult, "executionTime"> {
  switch (outcome.kind) {
    case "success": {
      const { label, truncated } = outcome;
      return { success: true, output: textOf(outcome), label, truncated };
    }
    case "denied":
      return { success: false, output: outcome.denial.message, label: kernelLabel(), truncated: false };
    case "error":
      return {
        success: false,
        output: `${outcome.message}; ${outcome.suggestion}`,
        label: kernelLabel(),
        truncated: false,
      };
  }
}

function textOf({ data, bytes }: Extract<CallResponse["outcome"], { kind: "success" }>): string {
  if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const { content } = data;
  return typeof content === "string" ? content : canonicalJson(data);
}

/** What the kernel itself says comes from no tool. */
function kernelLabel(): Label {
  return {
    trustLevel: "system",
    dataClass: "public",
    source: { origin: "system", timestamp: new Date().toISOString() },
  };
}
