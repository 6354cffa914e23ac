/** Measures how a kernel is, for Prometheus: its ledger, its thread, and what waits for people. */
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import type { OpenKernel } from "../compose.ts";
import { handrailVersion } from "../operator/package-files.ts";

/** A gauge, what it says, and how it is measured when somebody asks. */
type Measured = readonly [name: string, help: string, measure: () => number | Promise<number>];

/** Adds the metrics of `kernel` to `registry`, and those of its process. */
export function kernelMetrics(registry: Registry, kernel: OpenKernel): void {
  const gauges: readonly Measured[] = [
    ["handrail_ledger_writable", "1 while the ledger takes entries.", () => (kernel.health().writable ? 1 : 0)],
    [
      "handrail_ledger_waiting_events",
      "Events that wait for their place in the ledger.",
      () => kernel.health().waiting,
    ],
    ["handrail_stalls", "How often the kernel's thread stood since the start.", () => kernel.health().stalls.count],
    [
      "handrail_stall_longest_seconds",
      "The longest time that the kernel's thread stood.",
      () => kernel.health().stalls.longestMs / 1000,
    ],
    [
      "handrail_approvals_pending",
      "Requests for approval that wait for people, of all kernels of the state directory.",
      async () => (await kernel.approvals.list({ state: "pending" })).length,
    ],
    [
      "handrail_frozen",
      "Freezes in force, of all kernels of the state directory.",
      async () => (await kernel.freezes.listFreezes()).length,
    ],
    ["handrail_branches", "Branches of all workspaces.", async () => (await kernel.branches.list()).length],
    ["handrail_tools", "Tools on offer.", () => kernel.door.tools().length],
  ];
  for (const [name, help, measure] of gauges)
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await measure());
      },
    });
  new Gauge({
    name: "handrail_build_info",
    help: "1, with the version and the instance of the kernel.",
    labelNames: ["version", "instance"],
    registers: [registry],
  }).set({ version: handrailVersion(), instance: kernel.instanceId }, 1);
  collectDefaultMetrics({ register: registry });
}
