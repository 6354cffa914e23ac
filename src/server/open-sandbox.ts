/** The sandbox of a kernel by the configuration in force; loaded with the first command. */
import { sandboxLimits } from "../config/sandbox.ts";
import type { KernelParts } from "../kernel/index.ts";
import type { OperatorDirectory } from "./operator-directory.ts";

/** What a kernel runs commands with, and its end. */
export interface OpenSandbox {
  readonly sandbox: KernelParts["sandbox"];
  readonly close: () => Promise<void>;
}

/**
 * Opens nothing yet. A reload counts for the next command; what runs goes on in the sandbox that it began in.
 * @param ownsProcess whether this process is Handrail's alone
 */
export function openSandbox(
  live: { readonly operator: Pick<OperatorDirectory, "settings"> },
  instanceId: string,
  ownsProcess = false,
): OpenSandbox {
  const all: ReturnType<typeof open>[] = [];
  let made: { readonly by: string; readonly open: ReturnType<typeof open> } | undefined;
  const open = async () => {
    const { Sandbox, SANDBOX_USER_ID } = await import("../sandbox/sandbox.ts");
    const { toolchains, user_id } = live.operator.settings.sandbox;
    return new Sandbox({ instanceId, ownsProcess, toolchains, userId: user_id ?? SANDBOX_USER_ID });
  };
  return {
    sandbox: {
      limits: () => sandboxLimits(live.operator.settings.sandbox),
      open() {
        const { toolchains, user_id } = live.operator.settings.sandbox;
        const by = JSON.stringify([toolchains, user_id]);
        if (made?.by === by) return made.open;
        made = { by, open: open() };
        all.push(made.open);
        return made.open;
      },
    },
    async close() {
      for (const one of all) (await one).close();
    },
  };
}
