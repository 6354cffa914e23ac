/** A server that keeps vectors by ChromaDB's interface, as far as Handrail uses it, and fails as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Body {
  readonly name: string;
  readonly ids: readonly string[];
  readonly embeddings: readonly (readonly number[])[];
  readonly metadatas: readonly { readonly file: string }[];
  readonly query_embeddings: readonly [readonly number[]];
  readonly n_results: number;
  readonly where: { readonly file: { readonly $in: readonly string[] } };
}

type Record = { readonly vector: readonly number[]; readonly file: string };

const names = new Map<string, string>();
const collections = new Map<string, Map<string, Record>>();
const FAULTS: Readonly<{ [name: string]: (response: ServerResponse) => unknown }> = {
  refuses: (response) => response.writeHead(500).end("no"),
  redirects: (response) => response.writeHead(307, { location: "http://127.0.0.1:9/" }).end(),
  nonsense: (response) => response.end("words"),
  "another shape": (response) => response.end(JSON.stringify({ ids: [["../../etc"]], distances: "near", id: "../" })),
  "breaks off": (response) => response.destroy(),
};

let fault = "";
/** Collections so far: each has an id of its own, also after everything was lost. */
let made = 0;
process.on("message", (wanted: string) => {
  if (wanted === "forget") {
    names.clear();
    collections.clear();
  } else fault = wanted;
});
process.on("disconnect", () => process.exit());

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const piece of request) text += piece;
  process.send?.({ path: request.url, text, authorization: request.headers.authorization ?? "" });
  const instead = FAULTS[fault];
  if (instead !== undefined) return void instead(response);
  const [, id, act] = /^\/api\/v2\/tenants\/[\w.-]+\/databases\/[\w.-]+\/collections(?:\/([^/]+)\/(\w+))?$/.exec(
    request.url ?? "",
  ) ?? [undefined, "", ""];
  const body = JSON.parse(text) as Body;
  response.setHeader("content-type", "application/json");
  if (id === undefined) return void response.end(JSON.stringify({ id: opened(body.name), name: body.name }));
  const held = collections.get(id);
  if (held === undefined) return void response.writeHead(404).end(JSON.stringify({ error: "NotFoundError" }));
  response.end(JSON.stringify(acted(held, act ?? "", body)));
}

function opened(name: string): string {
  const id = names.get(name) ?? `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`;
  names.set(name, id);
  if (!collections.has(id)) collections.set(id, new Map());
  return id;
}

function acted(held: Map<string, Record>, act: string, body: Body): object {
  if (act === "upsert")
    for (const [at, id] of body.ids.entries())
      held.set(id, { vector: body.embeddings[at] ?? [], file: body.metadatas[at]?.file ?? "" });
  if (act === "delete") {
    const { ids = [], where } = body;
    for (const id of ids) held.delete(id);
    for (const [id, { file }] of held) if (where?.file.$in.includes(file)) held.delete(id);
  }
  if (act !== "query") return {};
  const near = [...held]
    .map(([id, { vector }]) => ({ id, distance: 1 - cosine(vector, body.query_embeddings[0]) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, body.n_results);
  return { ids: [near.map(({ id }) => id)], distances: [near.map(({ distance }) => distance)] };
}

function cosine(left: readonly number[], right: readonly number[]): number {
  const product = (one: readonly number[], two: readonly number[]) =>
    one.reduce((sum, value, at) => sum + value * (two[at] ?? 0), 0);
  return product(left, right) / Math.sqrt(product(left, left) * product(right, right));
}
