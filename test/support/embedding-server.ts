/** A server that embeds by Ollama's protocol, in a process of its own: a kernel reaches no port of its own process. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** What it was asked, and what goes wrong with it. */
export interface EmbeddingServer {
  readonly url: string;
  readonly texts: string[];
  readonly models: string[];
  /** From now on it fails so; well again with the empty text. */
  readonly fail: (fault: string) => void;
}

/** Starts it on a port of loopback. */
export async function embeddingServer(): Promise<EmbeddingServer> {
  const child = fork(fileURLToPath(new URL("./children/embedding-server.ts", import.meta.url)));
  onTestFinished(() => void child.kill("SIGKILL"));
  const [texts, models]: [string[], string[]] = [[], []];
  const port = await new Promise<number>((resolve) => {
    child.on("message", (message: { port: number } | { model: string; input: string[] }) => {
      if ("port" in message) return resolve(message.port);
      models.push(message.model);
      texts.push(...message.input);
    });
  });
  return { url: `http://127.0.0.1:${port}`, texts, models, fail: (fault) => void child.send(fault) };
}
