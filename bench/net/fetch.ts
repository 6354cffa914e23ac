/**
 * What `web_fetch` costs over the client that it is made of: one page after the other, and a thousand at once, from a
 * server on loopback that the operator has opened.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "undici";
import { newId, systemRandom } from "../../src/base/ids.ts";
import { openKernel } from "../../src/server/compose.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const SERVER = `const page = "<p>Some words of a page.</p>".repeat(40);
const server = require("node:http").createServer((_, answer) => answer.setHeader("content-type", "text/plain").end(page));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
const PEER = "undici alone, same server";
const AT_ONCE = 1000;

/** The figures. */
export async function measureFetches(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  // in a process of its own: no tool may reach a port of the kernel itself
  const server = spawn(process.execPath, ["-e", SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  const url = `http://127.0.0.1:${port}/page`;
  const configDirectory = playground.directory("net-config");
  mkdirSync(configDirectory, { recursive: true, mode: 0o700 });
  const settings = { preset: "open", web: { private_hosts: [`127.0.0.1:${port}`] } };
  writeFileSync(join(configDirectory, "handrail.yaml"), JSON.stringify(settings), { mode: 0o600 });
  const kernel = await openKernel({
    stateDirectory: playground.directory("net-state"),
    configDirectory,
    environment: { HOME: playground.root },
    onWarning: () => undefined, // the preset says that it asks nothing
  });
  const agent = new Agent({ connections: 16, pipelining: 1 });
  try {
    const { token } = await kernel.administration.createSession({
      workspace: playground.directory("net-workspace"),
      userId: "bench",
      agentId: "bench",
    });
    const ours = async () => {
      const call = { kind: "call", requestId: newId("req", systemRandom), sessionToken: token } as const;
      const { outcome } = await kernel.door.execute(
        { ...call, tool: "web_fetch", arguments: { url } },
        new AbortController().signal,
      );
      if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    };
    const theirs = async () => {
      const { body } = await agent.request({ origin: `http://127.0.0.1:${port}`, path: "/page", method: "GET" });
      await body.text();
    };
    const runs = effort.rounds === 1 ? 20 : 200;
    const each = async (one: () => Promise<void>) => (await microsecondsEachAwaited(runs, one)) / 1000;
    const held = () => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const growth = async (one: () => Promise<void>) => {
      const before = held();
      let most = before;
      const timer = setInterval(() => {
        most = Math.max(most, held());
      }, 1);
      const all = Promise.all(Array.from({ length: AT_ONCE }, one));
      most = Math.max(most, held());
      await all;
      clearInterval(timer);
      return (Math.max(most, held()) - before) / 2 ** 20;
    };
    await each(ours);
    await each(theirs);
    const one = {
      id: "net-fetch",
      what: "`web_fetch` of a page on loopback",
      peer: PEER,
      unit: "ms",
      better: "lower",
    } as const;
    const many = {
      id: "net-many",
      what: `memory that ${AT_ONCE} fetches at once take`,
      peer: PEER,
      unit: "MiB",
      better: "lower",
    } as const;
    return [
      await interleave(
        one,
        effort.rounds,
        () => each(ours),
        () => each(theirs),
      ),
      await interleave(
        many,
        effort.rounds,
        () => growth(ours),
        () => growth(theirs),
      ),
    ];
  } finally {
    await agent.destroy();
    await kernel.close();
    server.kill();
  }
}
