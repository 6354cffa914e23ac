/** Calls that ask, and people who answer, for tests of approvals on a kernel made by hand. */
import { expect, vi } from "vitest";
import type { StoredApproval } from "../../src/approval/requests/approval-store.ts";
import type { ApprovalScope } from "../../src/model/approval/approval.ts";
import type { Denial } from "../../src/model/outcome/decision.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import { type CallOptions, type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "./memory-kernel.ts";

/** Writes a file that a person's tools obey: the preset `dev` asks. */
export const ASKING = { path: "CLAUDE.md", content: "be careful\n" };

/** A kernel of which somebody can be asked. */
export function askingKernel(options: MemoryKernelOptions = {}): Promise<MemoryKernel> {
  return memoryKernel({ approvers: true, ...options });
}

/** Makes the call that asks. */
export function ask(
  kernel: MemoryKernel,
  change: Partial<typeof ASKING> = {},
  options: CallOptions = {},
): Promise<CallResponse> {
  return kernel.call("write_file", { ...ASKING, ...change }, options);
}

/** The request that waits for an answer, once there is one. */
export async function pending(kernel: MemoryKernel): Promise<StoredApproval> {
  return vi.waitFor(
    async () => {
      const [approval] = await kernel.asked.list("pending", 1, kernel.time.nowMs);
      if (approval === undefined) throw new Error("nobody asks");
      return approval;
    },
    { timeout: 120_000, interval: 5 },
  );
}

/** A person approves. */
export function approve(kernel: MemoryKernel, ref: string, scope: ApprovalScope = { kind: "once" }) {
  return kernel.approvals.decide(ref, { approved: true, by: "ann", channel: "cli", scope });
}

/** A person refuses. */
export function refuse(kernel: MemoryKernel, ref: string, by = "bob") {
  return kernel.approvals.decide(ref, { approved: false, by, channel: "cli" });
}

/** The refusal of a call that must have been refused. */
export function denialOf({ outcome }: CallResponse): Denial {
  expect(outcome.kind).toBe("denied");
  return (outcome as Extract<CallResponse["outcome"], { kind: "denied" }>).denial;
}

/** The reference under which a call was refused that nobody answered in time. */
export async function askedRef(kernel: MemoryKernel, change: Partial<typeof ASKING> = {}): Promise<string> {
  const { approvers } = kernel.people;
  kernel.people.approvers = false; // it does not wait
  const denial = denialOf(await ask(kernel, change));
  kernel.people.approvers = approvers;
  expect(denial).toMatchObject({
    layer: "approval",
    reason: "tool_approval_required",
    approvalRef: expect.stringMatching(/^blake3:[0-9a-f]{64}$/),
  });
  return denial.approvalRef ?? "";
}
