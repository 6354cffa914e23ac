/**
 * The kernel's only door. Transports hand submissions in and get responses out; everything between is the pipeline.
 */
import type { CallResponse } from "../model/call.ts";
import type { Authenticated } from "../session/session.ts";
import { Evidence } from "./evidence.ts";
import { type CallExplanation, explainCall } from "./explain.ts";
import type { KernelParts } from "./parts.ts";
import { pipeline } from "./pipeline.ts";
import type { ToolDefinition } from "./registry.ts";
import { loadCodec, type Submission } from "./submission.ts";

export type { CallExplanation } from "./explain.ts";
export type { KernelParts, KernelSettings, OpenWorkspace, WorkspaceCatalog } from "./parts.ts";
export { type ToolDefinition, ToolRegistry } from "./registry.ts";
export type { Submission } from "./submission.ts";

/** A running kernel as its front doors see it. */
export interface KernelDoor {
  /** Takes one submission through the pipeline. Never rejects; every failure is a response. */
  readonly execute: (submission: Submission, signal: AbortSignal) => Promise<CallResponse>;
  /** The same for an encoded `ToolRequest`; resolves with an encoded `ToolResponse`. */
  readonly executeBytes: (request: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
  /** The tools on offer, sorted by name. */
  readonly tools: () => readonly ToolDefinition[];
  /** Why a call would be decided as it would; nothing is executed or recorded. */
  readonly explain: (who: Authenticated, tool: string, args: Readonly<Record<string, unknown>>) => Promise<CallExplanation>;
  /** Records what is still only counted; call it before closing the ledger. */
  readonly flush: () => Promise<void>;
}

/** Opens the door of a kernel made of `parts`. */
export function createKernelDoor(parts: KernelParts): KernelDoor {
  const evidence = new Evidence(parts);
  const execute: KernelDoor["execute"] = (submission, signal) => pipeline(parts, evidence, submission, signal);
  return {
    execute,
    async executeBytes(request, signal) {
      const { encodeResponse, toWireResponse } = await loadCodec();
      return encodeResponse(toWireResponse(await execute({ kind: "wire", bytes: request }, signal)));
    },
    tools: () => parts.registry.getToolDefinitions(),
    explain: (who, tool, args) => explainCall(parts, who, tool, args),
    flush: () => evidence.flush(),
  };
}
