/** A server that embeds by Ollama's protocol: words that mean the same have the same number in its vectors. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const MEANINGS = [
  ["money", "refund", "refunds", "reimbursed", "repay", "cash"],
  ["car", "automobile", "vehicle"],
  ["ship", "shipped", "send", "dispatch"],
];

/** What it does instead of answering well. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  refuses: (response) => response.writeHead(500).end("no"),
  redirects: (response) => response.writeHead(307, { location: "http://127.0.0.1:9/" }).end(),
  nonsense: (response) => response.end("words"),
  "too few": (response) => response.end(JSON.stringify({ embeddings: [] })),
  "breaks off": (response) => response.destroy(),
};

let fault = "";
process.on("message", (wanted: string) => {
  fault = wanted;
});
process.on("disconnect", () => process.exit());

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const piece of request) text += piece;
  const instead = FAULTS[fault];
  if (instead !== undefined) return void instead(response);
  if (request.method !== "POST" || request.url !== "/api/embed") return void response.writeHead(404).end();
  const { model, input } = JSON.parse(text) as { model: string; input: string[] };
  process.send?.({ model, input });
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ model, embeddings: input.map(vectorOf) }));
}

function vectorOf(text: string): readonly number[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return [0.01, ...MEANINGS.map((meaning) => words.filter((word) => meaning.includes(word)).length)];
}
