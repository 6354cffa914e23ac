/**
 * The port between the sandbox and what contains its runs. All backends get the same plan.
 *
 * INVARIANT: a backend that cannot do all that it is there for refuses the run; nobody takes another one in its place.
 */
import type { ExecEnforcement } from "../../model/work/exec.ts";
import type { Identity } from "../identity/identity.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { Launch } from "./launch.ts";

/** One way to contain runs. */
export interface Backend {
  readonly name: ExecEnforcement["backend"];
  /** The program that it needs, where it is on this machine. */
  readonly find: () => string | undefined;
  /** @throws ToolFailure SANDBOX_UNAVAILABLE with what to install */
  readonly require: () => void;
  /**
   * How a run of `plan` is started.
   * @throws ToolFailure SANDBOX_UNAVAILABLE when it cannot be contained here
   */
  readonly launch: (plan: SandboxPlan, identity: Identity) => Promise<Launch>;
  /** Removes what is left of all runs. */
  readonly close: () => void;
}
