/** The machine outside of the sandbox, for system tools, by the configuration in force; loaded with the first use. */
import { systemOf } from "../../config/sections/tools/system.ts";
import type { KernelParts } from "../../kernel/index.ts";
import type { SystemSettings } from "../../model/work/system.ts";
import type { OperatorDirectory } from "./operator-directory.ts";

/** What a kernel reaches the machine with, and the end of what runs there. */
export interface OpenMachine {
  readonly machine: KernelParts["machine"];
  /** Ends what runs; nothing runs any more. */
  readonly endRuns: () => Promise<void>;
}

/** Opens nothing yet. */
export function openMachine(live: { readonly operator: Pick<OperatorDirectory, "settings"> }): OpenMachine {
  let opened: ReturnType<KernelParts["machine"]["open"]> | undefined;
  return {
    machine: {
      settings(): SystemSettings | undefined {
        const { system } = live.operator.settings;
        return system && systemOf(system);
      },
      open() {
        opened ??= import("../../sandbox/host-commands/host-machine.ts").then(({ HostMachine }) => new HostMachine());
        return opened;
      },
    },
    async endRuns() {
      await (await opened)?.endRuns();
    },
  };
}
