/**
 * Opens the channel to an upstream server as its record says.
 *
 * INVARIANT: a server runs in the sandbox, with nothing of the kernel's environment, no network but the hosts that the
 * operator named, and no directory but those that the operator named or its own.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { GIB } from "../../base/bytes.ts";
import { configInvalid } from "../../base/errors.ts";
import type { KernelParts } from "../../kernel/index.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { INSIDE_WORKSPACE } from "../../sandbox/plan/plan.ts";
import type { ScopeJudge } from "../../sandbox/plan/workspace-mounts.ts";
import { egressOf } from "./reach/given-hosts.ts";
import { givenSecrets } from "./reach/given-secrets.ts";
import type { UpstreamMeans } from "./reach/means.ts";
import { shownDirectories } from "./reach/shown-directories.ts";
import type { UpstreamRecord } from "./records/pins.ts";
import type { UpstreamChannel } from "./talk/channel.ts";
import { type StartUpstream, UpstreamProcess } from "./talk/upstream-process.ts";

/** Milliseconds that a server lives at most, and bytes that it may say in that time. */
const LIFE_MS = 24 * 3_600_000;
const SAID_BYTES_MAX = 64 * GIB;
/** Processes and open files of a server at least. */
const PROCESSES_MIN = 100;
const OPEN_FILES_MIN = 1024;

/** What channels are opened on. */
export interface ChannelGround {
  readonly stateDirectory: string;
  /** Directories that no server may see. */
  readonly hidden: readonly string[];
  readonly means: UpstreamMeans;
  /** Absent for as long as no server can be started. */
  readonly sandbox: () => KernelParts["sandbox"] | undefined;
}

/** A channel to the server of that name; it starts with the client library. */
export function openChannel(name: string, record: UpstreamRecord, ground: ChannelGround): UpstreamChannel {
  return new UpstreamProcess(startInSandbox(name, record, ground));
}

function startInSandbox(name: string, record: UpstreamRecord, ground: ChannelGround): StartUpstream {
  const { stateDirectory, hidden } = ground;
  return async ({ input, output, signal }) => {
    const shared = ground.sandbox();
    if (shared === undefined) throw configInvalid("this kernel runs no servers");
    const sandbox = await shared.open();
    if (!sandbox.isContained || !sandbox.takesInput)
      throw new ToolFailure(
        "SANDBOX_UNAVAILABLE",
        "upstream servers need the sandbox backend `bwrap`",
        "ask the operator to set `sandbox.backend: bwrap`",
      );
    const root = record.directory ?? ownDirectory(stateDirectory, name);
    const { judge = WHOLLY, beside } = await shownDirectories(record, { operator: ground.means.operator, hidden });
    const limits = shared.limits();
    const [program = "", ...rest] = record.command;
    const secrets = await givenSecrets(record, ground.means);
    const egress = egressOf(record, (attempt) => ground.means.record(name, attempt));
    return await sandbox.run(
      {
        root,
        judge,
        ...(beside.length > 0 && { beside }),
        command: [program, ...rest],
        workDir: INSIDE_WORKSPACE,
        environment: { ...record.environment, ...secrets.environment },
        input,
        ...(egress && { egress }),
        limits: {
          ...limits,
          timeoutMs: LIFE_MS,
          outputBytesMax: SAID_BYTES_MAX,
          processesMax: Math.max(limits.processesMax, PROCESSES_MIN),
          openFilesMax: Math.max(limits.openFilesMax, OPEN_FILES_MIN),
        },
      },
      secrets.without(output),
      signal,
    );
  };
}

function ownDirectory(stateDirectory: string, name: string): string {
  const directory = join(stateDirectory, "upstream", name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** A directory of the server's own, all of it. */
const WHOLLY: ScopeJudge = {
  entry: () => "write",
  below: () => "write",
  hidesRepository: () => false,
  isWhole: () => true,
};
