/**
 * The backend `none`: the command runs as the kernel's own user, on the machine as it is. Nothing keeps it from files,
 * processes or the network; only its time, its output and what each of its processes may use are bounded, its
 * environment is the plan's, and what it started ends with it.
 *
 * A run is told by its session and by a mark in the environment, because what changes its session keeps that, and what
 * clears that mostly keeps its session. INVARIANT: the mark is not to be guessed, so that nothing else on the machine
 * is taken for a part of the run.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { INSIDE_WORKSPACE, type SandboxPlan } from "../plan/plan.ts";
import type { Backend } from "../run/backend.ts";
import { beginning } from "../run/beginning.ts";
import type { Carried, Launch } from "../run/launch.ts";
import { exitCodeOfSignal } from "../run/signals.ts";
import { endMarked, MARK, processesOf, terminateSession } from "./marked-processes.ts";

const DESCRIPTORS: Record<"gate" | "ready" | "held", number> = { gate: 3, ready: 4, held: 5 };

/**
 * Ends what is left of the run when the kernel is gone: a process of its own that waits for that, whose descriptors are
 * none of the command's.
 */
const WATCH = `mark=$1; shift
( (exec >/dev/null 2>&1 ${DESCRIPTORS.gate}<&- ${DESCRIPTORS.ready}>&-; trap "" TERM HUP INT
read -r end <&${DESCRIPTORS.held}
for round in 1 2 3 4 5; do for entry in /proc/[0-9]*/environ; do
tr "\\0" "\\n" <"$entry" | grep -qx "${MARK}=$mark" && entry=\${entry#/proc/} && kill -KILL "\${entry%/environ}"
done; done; kill -KILL -- "-$$") & )
exec ${DESCRIPTORS.held}<&-; exec "$@"`;

/** @param isAllowed whoever started the kernel said so, beside the configuration */
export function noBackend(isAllowed: boolean): Backend {
  const require = (): void => {
    if (!isAllowed) throw NOT_ALLOWED;
  };
  return {
    name: "none",
    find: () => undefined,
    require,
    launch: async (plan, identity) => {
      require();
      return launchOf(plan, identity.source);
    },
    close: () => undefined,
  };
}

const NOT_ALLOWED = new ToolFailure(
  "SANDBOX_UNAVAILABLE",
  "`sandbox.backend` is `none`, but the kernel was not started with `--allow-unsandboxed-commands`; the command did not run",
  "ask the operator for another `sandbox.backend` in handrail.yaml, or to start the kernel with that flag too",
);

function launchOf(plan: SandboxPlan, root: string): Launch {
  const mark = randomBytes(16).toString("hex");
  const environment = Object.entries({ ...plan.environment, [MARK]: mark }).map(([name, value]) => `${name}=${value}`);
  const command = ["/usr/bin/env", "-i", ...environment, ...plan.command] as const;
  const begun = beginning({ ...plan, command }, DESCRIPTORS, "exec");
  return {
    command: ["/bin/sh", "-c", WATCH, "command", mark, ...begun],
    runAs: undefined,
    owner: undefined,
    workDir: join(root, plan.workDir.slice(INSIDE_WORKSPACE.length)),
    seccomp: undefined,
    descriptors: Object.keys(DESCRIPTORS) as Carried[],
    firstProcess: (_, outerId) => outerId,
    exitCode: (_, { code, signal }) => code ?? (signal === null ? undefined : exitCodeOfSignal(signal)),
    problem: () => undefined,
    processes: (first) => processesOf(first, mark),
    terminate: ({ outerId }) => terminateSession(outerId, mark),
    kill: ({ outerId }) => void endMarked(outerId, mark),
    ended: (outerId) => endMarked(outerId, mark),
  };
}
