/** The sandbox of a kernel by the configuration in force; loaded with the first command. */
import { type SandboxSettings, sandboxLimits } from "../../config/sections/sandbox.ts";
import { languageServersOf } from "../../config/sections/tools/language-servers.ts";
import type { KernelParts } from "../../kernel/index.ts";
import type { ViewNames } from "../../sandbox/layers/view-directories.ts";
import type { EgressNetwork } from "../../sandbox/sandbox.ts";
import type { OperatorDirectory } from "./operator-directory.ts";

/** What a kernel runs commands with, and its end. */
export interface OpenSandbox {
  readonly sandbox: KernelParts["sandbox"];
  /** Ends what runs; nothing runs any more. */
  readonly endRuns: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What whoever starts a kernel says of the commands that it runs, and where the operator is told of them. */
export interface SandboxWishes {
  /** Whether this process is Handrail's alone. */
  readonly ownsProcess?: boolean;
  readonly allowsUnsandboxed?: boolean;
  readonly tell?: (message: string) => void;
  /**
   * Where what commands write lies until it lands, absolute; the machine's directory of temporary files when absent.
   */
  readonly viewsDirectory?: string;
  readonly viewNames?: ViewNames;
  /** What commands reach, where that is not the machine's own network. */
  readonly network?: EgressNetwork;
}

/** Opens nothing yet. A reload counts for the next command; what runs goes on in the sandbox that it began in. */
export function openSandbox(
  live: { readonly operator: Pick<OperatorDirectory, "settings"> },
  instanceId: string,
  {
    ownsProcess = false,
    allowsUnsandboxed = false,
    tell = () => undefined,
    network,
    viewsDirectory,
    viewNames,
  }: SandboxWishes = {},
): OpenSandbox {
  const all: ReturnType<typeof open>[] = [];
  let made: { readonly by: string; readonly open: ReturnType<typeof open> } | undefined;
  let told: string | undefined;
  const tellOnce = (): void => {
    const warning = warningOf(live.operator.settings.sandbox, allowsUnsandboxed);
    if (warning !== undefined && warning !== told) tell(warning);
    told = warning;
  };
  const open = async () => {
    const { Sandbox, SANDBOX_USER_ID } = await import("../../sandbox/sandbox.ts");
    const { backend, views, toolchains, user_id } = live.operator.settings.sandbox;
    const userId = user_id ?? SANDBOX_USER_ID;
    const places = {
      ...(network && { network }),
      ...(viewsDirectory !== undefined && { viewsDirectory }),
      ...(viewNames && { viewNames }),
    };
    return new Sandbox({
      instanceId,
      ownsProcess,
      backend,
      views,
      tell,
      allowsUnsandboxed,
      toolchains,
      userId,
      ...places,
    });
  };
  tellOnce();
  return {
    sandbox: {
      limits: () => sandboxLimits(live.operator.settings.sandbox),
      backend: () => live.operator.settings.sandbox.backend,
      languageServers: () => languageServersOf(live.operator.settings.language_servers),
      open() {
        const { backend, views, toolchains, user_id } = live.operator.settings.sandbox;
        const by = JSON.stringify([backend, views, toolchains, user_id]);
        if (made?.by === by) return made.open;
        tellOnce();
        made = { by, open: open() };
        all.push(made.open);
        return made.open;
      },
    },
    async endRuns() {
      for (const one of all) await (await one).endRuns();
    },
    async close() {
      for (const one of all) (await one).close();
    },
  };
}

/** What the operator should know of commands that nothing contains, or of a word that changes nothing. */
export function warningOf(
  { backend, views }: Pick<SandboxSettings, "backend"> & Partial<Pick<SandboxSettings, "views">>,
  allowsUnsandboxed: boolean,
): string | undefined {
  if (backend === "none") {
    return allowsUnsandboxed
      ? "COMMANDS ARE NOT SANDBOXED: `sandbox.backend` is `none`, and the kernel was started with --allow-unsandboxed-commands. Tools whose capability " +
          "says `sandbox: none` run commands as this user, with its files, processes and network"
      : "`sandbox.backend` is `none`, but the kernel was not started with --allow-unsandboxed-commands: commands are refused";
  }
  const copies =
    views === "copy" ? "each command works on a copy of its workspace, because `sandbox.views` is `copy`" : undefined;
  return allowsUnsandboxed
    ? `--allow-unsandboxed-commands changes nothing: \`sandbox.backend\` is \`${backend}\`, and commands run in that sandbox`
    : copies;
}
