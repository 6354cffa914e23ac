/**
 * `system_ctl`: how a listed service is, and its restart.
 *
 * INVARIANT: the service is one of the names that the operator lists, letter by letter, and stands where no option can.
 */
import { z } from "zod";

import { commandOf } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { MachineCommand } from "../../model/work/machine.ts";
import { SERVICE_ACTIONS, type ServiceAction, type SystemSettings } from "../../model/work/system.ts";
import { flag } from "../kit/result-schema.ts";
import { SYSTEM_CAPABILITY } from "./capability.ts";
import { RUN_PROPERTIES, RUN_REQUIRED, requireEnded, runResult } from "./run-result.ts";

/**
 * Milliseconds that asking for or restarting a service may take: systemd itself gives a service 90 s to stop and as
 * long to start.
 */
const SYSTEM_SERVICE_TIMEOUT_MS = 240_000;

const ARGUMENTS: Readonly<Record<ServiceAction, readonly string[]>> = {
  status: ["status", "--no-pager", "--no-ask-password"],
  restart: ["restart", "--no-pager", "--no-ask-password"],
};

type Arguments = { readonly service: string; readonly action: ServiceAction };

/** The tool `system_ctl` for the services that the operator lists; none without any. */
export function systemCtl({ services }: SystemSettings): Tool<Arguments> | undefined {
  if (services === undefined) return undefined;
  const { program, names } = services;
  const commandFor = ({ service, action }: Arguments): MachineCommand["argv"] => [
    program,
    ...ARGUMENTS[action],
    "--",
    service,
  ];
  const listed = `must be one of the services that the operator lists: ${names.map((name) => `\`${name}\``).join(", ")}`;
  return {
    name: "system_ctl",
    title: "Look at or restart a service",
    description:
      "Says how a service of the machine is, or restarts it. Services are those that the operator lists. `ok` says that it is active, or that it was " +
      "restarted.",
    parameters: z.strictObject({ service: z.enum(names, { error: listed }), action: z.enum(SERVICE_ACTIONS) }),
    outputSchema: {
      type: "object",
      properties: { ...RUN_PROPERTIES, ok: flag("The command ended with exit code 0.") },
      required: [...RUN_REQUIRED, "ok"],
    },
    capability: SYSTEM_CAPABILITY,
    analyse: (args) => [{ resource: commandOf(commandFor(args)), effect: "system" }],
    async execute(args, { machine }) {
      const argv = commandFor(args);
      const outcome = await machine.run({
        argv,
        asRoot: args.action === "restart",
        timeoutMs: SYSTEM_SERVICE_TIMEOUT_MS,
      });
      requireEnded(outcome, "look at the service with the action `status`");
      return runResult(argv, outcome, { ok: outcome.exitCode === 0 });
    },
  };
}
