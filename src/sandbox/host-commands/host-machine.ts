/**
 * Runs the operator's listed programs on the machine outside the sandbox.
 *
 * They run as the user that the operator says. It also looks at what is installed.
 *
 * INVARIANT: no program runs that is not listed, or that anybody but root and the user of the kernel could have put
 * there. Rights that the kernel does not have come from sudo without a password, or not at all.
 */
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { FailureWithoutEffect, type ToolFailure } from "../../model/outcome/failure.ts";
import { quoted } from "../../model/place/command.ts";
import type { FoundProgram, MachineCommand } from "../../model/work/machine.ts";
import { type ListedProgram, listedPrograms, type SystemSettings } from "../../model/work/system.ts";
import type { RunOutput } from "../run/launch.ts";
import { type HostEnd, runHostCommand } from "./run-host-command.ts";
import { trustedProgram } from "./trusted-program.ts";

/** Milliseconds that sudo may take to say whether it would start a program. */
const SYSTEM_SUDO_CHECK_MS = 10_000;
/** Host commands that one kernel runs at once: package managers lock each other out anyway. */
const HOST_COMMANDS_MAX = 4;
/** Bytes of a program that are hashed to verify it. */
const BINARY_BYTES_MAX = 1024 * MIB;

/** How a command ended, and as whom it ran. */
export interface MachineEnd extends HostEnd {
  readonly userId: number;
}

/** A command, and the ways in which the operator lists its program. */
interface ListedCommand {
  readonly settings: SystemSettings;
  readonly command: MachineCommand;
  readonly ways: readonly ListedProgram[];
}

/** The machine of one kernel. */
export class HostMachine {
  readonly #ownUser: number;
  readonly #runs = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  /** @param ownUser the user of the kernel */
  constructor(ownUser: number = process.geteuid?.() ?? 0) {
    this.#ownUser = ownUser;
  }

  /**
   * Runs the program of `command`, which `settings` list.
   * @throws ToolFailure NOT_SUPPORTED, FILE_NOT_FOUND, PERMISSION_DENIED or RESOURCE_BUSY when it did not run; as
   * `runHostCommand`
   */
  async run(
    { settings, command }: Omit<ListedCommand, "ways">,
    output: RunOutput,
    signal: AbortSignal,
  ): Promise<MachineEnd> {
    const { argv } = command;
    const ways = listedPrograms(settings).filter(({ program }) => program === argv[0]);
    if (ways.length === 0) throw notListed(argv[0]);
    this.#requireTrusted(argv[0]);
    if (this.#ending.signal.aborted) throw isEnding();
    if (this.#runs.size >= HOST_COMMANDS_MAX) throw tooMany();
    const running = this.#run({ settings, command, ways }, output, AbortSignal.any([signal, this.#ending.signal]));
    this.#runs.add(running);
    try {
      return await running;
    } finally {
      this.#runs.delete(running);
    }
  }

  /** Ends everything that runs, as a cancelled call does, and starts nothing more; resolves when it has ended. */
  async endRuns(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#runs);
  }

  async #run({ settings, command, ways }: ListedCommand, output: RunOutput, signal: AbortSignal): Promise<MachineEnd> {
    const { argv, asRoot, environment = {}, timeoutMs } = command;
    const sudo = asRoot && this.#ownUser !== 0 && ways.some((way) => way.sudo);
    const started = sudo ? await this.#throughSudo(settings.sudo, argv, signal) : argv;
    const end = await runHostCommand({ argv: started, environment, timeoutMs }, output, signal);
    return { ...end, userId: sudo ? 0 : this.#ownUser };
  }

  /** The program of that name, as `MachineAccess.find` says. */
  async find(settings: SystemSettings, name: string, signal: AbortSignal): Promise<FoundProgram | undefined> {
    const listed = Object.hasOwn(settings.binaries, name) ? settings.binaries[name]?.program : undefined;
    for (const path of listed === undefined ? settings.path.map((directory) => join(directory, name)) : [listed]) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const looked = trustedProgram(path, this.#ownUser);
      // What others can change may be a pipe by the time that it is opened.
      const sha256 = looked.ok && stats.size <= BINARY_BYTES_MAX ? await sha256Of(path, signal) : undefined;
      return {
        path,
        realPath: looked.ok ? looked.realPath : path,
        sizeBytes: stats.size,
        ...(!looked.ok && { problem: looked.problem }),
        ...(sha256 !== undefined && { sha256 }),
      };
    }
    return undefined;
  }

  /** The command as sudo starts it. sudo says beforehand whether it would: then nothing has happened yet. */
  async #throughSudo(
    sudo: string | undefined,
    argv: MachineCommand["argv"],
    signal: AbortSignal,
  ): Promise<MachineCommand["argv"]> {
    if (sudo === undefined) throw noRights(argv[0], "and `system.sudo` of handrail.yaml names no sudo");
    this.#requireTrusted(sudo);
    const ignored = { stdout: () => undefined, stderr: () => undefined };
    const check: MachineCommand["argv"] = [sudo, "-n", "-l", "--", ...argv];
    const said = await runHostCommand(
      { argv: check, environment: {}, timeoutMs: SYSTEM_SUDO_CHECK_MS },
      ignored,
      signal,
    );
    if (said.exitCode !== 0) throw noRights(argv[0], "and sudo does not start it without a password");
    return [sudo, "-n", "--", ...argv];
  }

  #requireTrusted(path: string): void {
    const looked = trustedProgram(path, this.#ownUser);
    if (looked.ok) return;
    throw new FailureWithoutEffect(
      looked.isMissing ? "FILE_NOT_FOUND" : "PERMISSION_DENIED",
      `the listed program \`${path}\` ${looked.problem}, so it was not started`,
      "ask the operator to correct its path in `system` of handrail.yaml, or its owner and mode",
    );
  }
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(path, { signal })) hash.update(piece as Uint8Array);
    return hash.digest("hex");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return undefined;
    throw error;
  }
}

function notListed(program: string): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `\`${program}\` is not among the programs that the operator lists for system tools`,
    "ask the operator to list it in `system` of handrail.yaml",
  );
}

function noRights(program: string, why: string): ToolFailure {
  return new FailureWithoutEffect(
    "PERMISSION_DENIED",
    `\`${program}\` needs the rights of root, which the kernel does not have, ${why}; nothing was run`,
    `ask the operator for \`system.sudo\` in handrail.yaml and for this line in sudoers: ${sudoersName(userInfo().username)} ALL=(root) NOPASSWD: ${quoted(program)}`,
  );
}

/** A name as sudoers reads it. */
function sudoersName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/g, "\\$&");
}

function isEnding(): ToolFailure {
  return new FailureWithoutEffect(
    "CANCELLED",
    "the kernel is ending, so the command did not run",
    "send it again once a kernel runs",
  );
}

function tooMany(): ToolFailure {
  return new FailureWithoutEffect("RESOURCE_BUSY", "too many commands run on the machine at once", {
    suggestion: "wait for one of them to end",
    retryAfterMs: 1000,
  });
}
