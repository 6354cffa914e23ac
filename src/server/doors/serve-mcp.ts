/** Serves an open kernel to one MCP client over standard input and output. */
import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { newId, systemRandom } from "../../base/ids.ts";

import { releaseCedar } from "../../policy/compile/cedar.ts";
import { keepLargeBlocksApart, releaseFreeMemory } from "../../sandbox/native/free-memory.ts";
import type { MintedSession } from "../../session/session.ts";
import { sessionFeatures } from "../../transports/mcp/features/session-features.ts";
import { serveMcp } from "../../transports/mcp/server.ts";
import type { OpenKernel } from "../compose.ts";
import { collectHeap, IdleMemory, releaseCompileCache } from "../ledger/idle-memory.ts";
import { handrailVersion } from "../operator/package-files.ts";
import { mcpInstructions } from "./mcp-instructions.ts";

/**
 * Milliseconds that V8's own threads have to free what was collected, before the C library's free memory goes back to
 * the machine.
 */
const IDLE_FREED_MS = 100;

/** Serves one MCP client on this process's standard streams until it is gone. */
export async function serveMcpOnStandardStreams(
  kernel: OpenKernel,
  minted: MintedSession,
  { isNamedByClient = false }: { readonly isNamedByClient?: boolean } = {},
): Promise<void> {
  const { session, token } = minted;
  const { door, reportDoorError } = kernel;
  const report = (error: unknown) => reportDoorError(error);
  const instructions = mcpInstructions(session);
  keepLargeBlocksApart();
  const idle = new IdleMemory(giveBack, { rest: () => void kernel.rest().then(giveBack).catch(report) });
  const governed = {
    ...door,
    execute: (...call: Parameters<typeof door.execute>) => idle.during(() => door.execute(...call)),
  };
  const newRequestId = requestIds();
  await serveMcp(
    {
      door: governed,
      sessionToken: token,
      features: sessionFeatures({ door: governed, sessionToken: token, newRequestId }),
      version: handrailVersion(),
      instructions,
      newRequestId,
      onListed: () => {
        idle.touch();
        void door.warmUp(token).catch(report);
      },
      onError: report,
      ...(isNamedByClient && {
        onClient: (name: string) => kernel.administration.nameSession(session, name),
      }),
    },
    process.stdin,
    standardOutput(),
  );
}

/**
 * Decisions that are remembered need no Cedar, so that it comes back with the first call that is judged anew.
 * What collecting frees in the background is free a moment later, or with the next time.
 */
function giveBack(): void {
  releaseCompileCache();
  if (releaseCedar()) collectHeap(0);
  else collectHeap();
  setTimeout(releaseFreeMemory, IDLE_FREED_MS).unref();
}

/**
 * Standard output that never makes the kernel wait for a client that reads slowly: Node's own stream writes to a pipe
 * synchronously.
 */
function standardOutput(): Writable {
  const output = fstatSync(process.stdout.fd);
  if (!output.isFIFO() && !output.isSocket()) return process.stdout;
  return new Socket({ fd: process.stdout.fd, readable: false, writable: true });
}

/** Ids of one client's requests: one random name for the client, then a count. */
function requestIds(): () => string {
  const client = newId("req", systemRandom);
  let count = 0;
  return () => {
    count += 1;
    return `${client}.${count}`;
  };
}
