/** Serves an open kernel on a framed Unix socket. */
import { type FramedServer, serveFramed } from "../../transports/framed/index.ts";
import type { OpenKernel } from "../compose.ts";

/** Serves the framed socket of a kernel. */
export function serveSocket(kernel: OpenKernel, socketPath: string): Promise<FramedServer> {
  return serveFramed({
    socketPath,
    execute: kernel.door.executeBytes,
    onError: (error) => kernel.reportDoorError(error),
  });
}
