/** A stand-in for ChromaDB's server, in a process of its own: a kernel reaches no port of its own process. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A request that it got. */
export interface ChromaRequest {
  readonly path: string;
  readonly text: string;
  readonly authorization: string;
}

/** What it was asked, and what goes wrong with it. */
export interface ChromaDouble {
  readonly url: string;
  readonly requests: ChromaRequest[];
  /** From now on it fails so; well again with the empty text. */
  readonly fail: (fault: string) => void;
  /** It loses everything. */
  readonly forget: () => void;
}

/** Starts it on a port of loopback. */
export async function chromaDouble(): Promise<ChromaDouble> {
  const child = fork(fileURLToPath(new URL("./children/chroma-double.ts", import.meta.url)));
  onTestFinished(() => void child.kill("SIGKILL"));
  const requests: ChromaRequest[] = [];
  const port = await new Promise<number>((resolve) => {
    child.on("message", (message: { port: number } | ChromaRequest) => {
      if ("port" in message) return resolve(message.port);
      requests.push(message);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    fail: (fault) => void child.send(fault),
    forget: () => void child.send("forget"),
  };
}
