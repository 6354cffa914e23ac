/** A kernel with upstream servers, real ones and a double, and what calls of their tools come to. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ProgressListener } from "../../src/model/outcome/progress.ts";
import { type KernelOptions, openKernel } from "../../src/server/compose.ts";
import { type StartUpstream, UpstreamProcess } from "../../src/server/upstream/talk/upstream-process.ts";
import {
  UPSTREAM_BOUNDS,
  type UpstreamBounds,
  UpstreamServer,
} from "../../src/server/upstream/talk/upstream-server.ts";
import type { UpstreamWish } from "../../src/server/upstream/upstream-desk.ts";
import { freshPlace, type Place } from "./place.ts";
import { PROJECT } from "./program.ts";
import { DOUBLE } from "./upstream-double.ts";

/** What the double does. */
export interface Behaviour extends JsonObject {
  readonly tools: JsonObject[];
}

/** A tool as servers describe them. */
export function described(name: string, description = "Says what it was told.", more: JsonObject = {}): JsonObject {
  const properties = { text: { type: "string", maxLength: 1000 } };
  return { name, description, inputSchema: { type: "object", properties, required: ["text"] }, ...more };
}

/** A wish with the defaults of the command line. */
export function wishFor(command: readonly string[], more: Partial<UpstreamWish> = {}): UpstreamWish & { by: string } {
  return { command: [...command], environment: {}, effect: "exec", trust: "untrusted", by: "ann", ...more };
}

/** The entry of a real server of npm, for a wish whose directory is this project. */
export function realServer(name: string, ...args: readonly string[]): UpstreamWish & { by: string } {
  const entry = `/workspace/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  return wishFor(["node", entry, ...args], { directory: PROJECT });
}

/** A double that is started without a sandbox, for what needs none: a server that misbehaves, with short bounds. */
export function bareServer(bounds: Partial<UpstreamBounds> = {}) {
  const place = freshPlace();
  const script = place.put("server.mjs", DOUBLE);
  const file = place.put("behaviour.json", "{}");
  let starts = 0;
  const start: StartUpstream = async ({ input, output, signal }) => {
    starts += 1;
    const child = spawn(process.execPath, [script], { env: { BEHAVIOUR: file }, signal, killSignal: "SIGKILL" });
    child.on("error", () => undefined);
    child.stdout.on("data", output.stdout);
    child.stderr.on("data", output.stderr);
    input(child.stdin);
    const [exitCode] = (await once(child, "close")) as [number | null];
    return { exitCode: exitCode ?? undefined, endedBy: undefined };
  };
  const server = new UpstreamServer("double", () => new UpstreamProcess(start), { ...UPSTREAM_BOUNDS, ...bounds });
  onTestFinished(() => server.close());
  return {
    server,
    starts: () => starts,
    behave: (behaviour: Behaviour) => writeFileSync(file, JSON.stringify(behaviour)),
  };
}

/** What a place is opened with besides. */
export interface UpstreamPlaceOptions extends Partial<Pick<KernelOptions, "environment" | "network">> {
  readonly place?: Place;
}

/** A place with upstream servers. */
export type UpstreamPlace = Awaited<ReturnType<typeof upstreamPlace>>;

/** Opens a place; `reopen` gives the next kernel of the same state, which has what was approved. */
export async function upstreamPlace(
  settings = "preset: open\n",
  { place = freshPlace(), ...kernelOptions }: UpstreamPlaceOptions = {},
) {
  place.put("config/handrail.yaml", settings);
  place.put("double/server.mjs", DOUBLE);
  const warnings: string[] = [];
  const open = async () => {
    const opened = await openKernel({
      environment: { SECRET_OF_THE_KERNEL: "s3cr3t-value" },
      ...kernelOptions,
      stateDirectory: place.state,
      configDirectory: place.config,
      onInternalError: () => undefined,
      onWarning: (line) => void warnings.push(line),
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  let kernel = await open();
  const session = () =>
    kernel.administration.createSession({ workspace: place.workspace, userId: "ann", agentId: "agent" });
  let token = "";
  let calls = 0;
  return {
    ...place,
    /** What operators were told. */
    warnings,
    offered: async () => kernel.door.offered((await session()).token),
    get kernel() {
      return kernel;
    },
    behave: (behaviour: Behaviour) =>
      writeFileSync(join(place.base, "double/behaviour.json"), JSON.stringify(behaviour)),
    double: wishFor(["node", "/workspace/server.mjs"], { directory: join(place.base, "double") }),
    /** Adds and approves a server, and opens the next kernel. */
    async bring(name: string, wish: UpstreamWish & { by: string }) {
      const desk = await kernel.upstream();
      const { hash } = await desk.add(name, wish);
      await desk.approve(name, { seen: hash, by: "ann" });
      await this.reopen();
    },
    async reopen() {
      await kernel.close();
      kernel = await open();
      await kernel.ready();
      token = "";
    },
    /** The request of whoever asks. */
    asked: () =>
      vi.waitFor(
        async () => {
          const [approval] = await kernel.approvals.list({ state: "pending" });
          if (approval === undefined) throw new Error("nobody asks");
          return approval;
        },
        { timeout: 60_000, interval: 20 },
      ),
    async call(
      tool: string,
      args: JsonObject = {},
      signal = new AbortController().signal,
      listener: ProgressListener = () => undefined,
    ) {
      if (token === "") ({ token } = await session());
      calls += 1;
      const given = { requestId: `r-${calls}`, sessionToken: token, tool, arguments: args };
      return (await kernel.door.execute({ kind: "call", ...given }, signal, { listener })).outcome;
    },
  };
}
