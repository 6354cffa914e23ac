/** Questions that are answered by meaning: a configured model, a changed one, one that is down and comes back. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type EmbeddingServer, embeddingServer } from "../../../support/embedding-server.ts";
import { ask, openKnowledge, pathsOf } from "../../../support/knowledge-place.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const SECRET = `ghp_${"a1B2c3D4e5".repeat(3)}f6G7h8`;

function shop(server: Pick<EmbeddingServer, "url">, model = "small"): Place {
  const place = freshPlace();
  place.put("workspace/docs/returns.md", "# Returns\n\nA refund is made by bank.\n");
  place.put("workspace/docs/driving.md", "# Driving\n\nThe car is blue.\n");
  configure(place, server, model);
  return place;
}

function configure(place: Place, { url }: Pick<EmbeddingServer, "url">, model: string): void {
  const models = { local: { protocol: "ollama", url, retries: 0, timeout_seconds: 5 } };
  const knowledge = { embeddings: { provider: "local", model } };
  writeFileSync(join(place.config, "handrail.yaml"), JSON.stringify({ models, knowledge }), { mode: 0o600 });
}

test("a question in other words than the text's is answered by meaning, once vectors are there", async () => {
  const server = await embeddingServer();
  const { until, session } = await openKnowledge(shop(server));
  await until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(pathsOf(await ask(session, { query: "automobile" }))[0]).toBe("docs/driving.md");
  expect(pathsOf(await ask(session, { query: "reimbursed" }))[0]).toBe("docs/returns.md");
  expect(new Set(server.models)).toEqual(new Set(["small"]));
});

test("control: without a model the same question finds nothing", async () => {
  const place = shop({ url: "http://127.0.0.1:9" });
  writeFileSync(join(place.config, "handrail.yaml"), "{}", { mode: 0o600 });
  const { until, session } = await openKnowledge(place);
  await until("car", ({ state }) => state === "ready");
  const answer = await ask(session, { query: "automobile" });
  expect([answer.results, "vectors" in answer]).toEqual([[], false]);
});

test("the model gets no secret, of files and questions", async () => {
  const server = await embeddingServer();
  const place = shop(server);
  place.put("workspace/src/key.ts", `// the car\nexport const key = "${SECRET}";\n`);
  const { until, session } = await openKnowledge(place);
  await until("automobile", ({ vectors }) => vectors === "ready");
  await ask(session, { query: `where is ${SECRET} of the car` });
  expect(server.texts.join("\n")).toContain("src/key.ts");
  expect(server.texts.join("\n")).not.toContain(SECRET);
});

test("another model makes all vectors anew, and the operator is told", async () => {
  const server = await embeddingServer();
  const first = await openKnowledge(shop(server));
  await first.until("automobile", ({ vectors }) => vectors === "ready");
  await first.close();
  configure(first.place, server, "large");
  server.texts.length = 0;
  const second = await openKnowledge(first.place);
  await second.until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(server.texts.filter((text) => text.startsWith("docs/"))).toHaveLength(2);
  expect(second.told.join("\n")).toContain("another model's");
});

test.each(["refuses", "redirects", "nonsense", "too few", "breaks off"])(
  "a model that fails (%s) costs an answer its vectors alone, and it is told",
  async (fault) => {
    const server = await embeddingServer();
    server.fail(fault);
    const { until, session, told } = await openKnowledge(shop(server));
    await until("car", ({ vectors }) => vectors === "unavailable");
    const answer = await ask(session, { query: "car" });
    expect(pathsOf(answer)).toEqual(["docs/driving.md"]);
    expect(told.join("\n")).toContain("by words alone");
  },
);

test("a model that comes back is used again, after a while", { timeout: 60_000 }, async () => {
  const server = await embeddingServer();
  server.fail("refuses");
  const { until } = await openKnowledge(shop(server));
  await until("car", ({ vectors }) => vectors === "unavailable");
  server.fail("");
  const answer = await until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(pathsOf(answer)[0]).toBe("docs/driving.md");
});
