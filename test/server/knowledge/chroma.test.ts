/** Vectors that Chroma keeps: found there, lost and made again, a server that is down and comes back. */
import { expect, test } from "vitest";
import { chromaDouble } from "../../support/chroma-double.ts";
import { configureChroma, expectChromaAnswers, shopWith } from "../../support/chroma-questions.ts";
import { embeddingServer } from "../../support/embedding-server.ts";
import { ask, openKnowledge, pathsOf } from "../../support/knowledge-place.ts";

const SECRET = `ghp_${"a1B2c3D4e5".repeat(3)}f6G7h8`;

test("questions are answered by vectors in Chroma, which follow files and models", async () => {
  await expectChromaAnswers((await chromaDouble()).url);
});

test("Chroma gets no text, no path and no secret", async () => {
  const [chroma, server] = [await chromaDouble(), await embeddingServer()];
  const place = shopWith(chroma.url, server.url);
  place.put("workspace/src/giraffe.ts", `// the car\nexport const key = "${SECRET}";\n`);
  const { until } = await openKnowledge(place);
  await until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  const sent = chroma.requests.map(({ path, text }) => `${path} ${text}`).join("\n");
  expect(sent).toContain("upsert");
  expect(sent).not.toMatch(/giraffe|driving|automobile|blue|ghp_/);
  // control: the model, which has to read it, got the text
  expect(server.texts.join("\n")).toContain("giraffe");
});

test.each(["refuses", "redirects", "nonsense", "another shape", "breaks off"])(
  "a Chroma that fails (%s) costs an answer its vectors alone, and it is told",
  async (fault) => {
    const [chroma, server] = [await chromaDouble(), await embeddingServer()];
    chroma.fail(fault);
    const { until, session, told } = await openKnowledge(shopWith(chroma.url, server.url));
    await until("car", ({ vectors }) => vectors === "unavailable");
    expect(pathsOf(await ask(session, { query: "car" }))).toEqual(["docs/driving.md"]);
    expect(told.join("\n")).toContain("by words alone");
    expect(told.join("\n")).toContain(fault === "breaks off" ? "127.0.0.1" : "chroma");
  },
);

test("a Chroma that comes back is used again, and one that lost everything is filled again", {
  timeout: 120_000,
}, async () => {
  const [chroma, server] = [await chromaDouble(), await embeddingServer()];
  const { until, told } = await openKnowledge(shopWith(chroma.url, server.url));
  const byMeaning = () =>
    until("automobile", ({ vectors, results }) => vectors === "ready" && results[0]?.path === "docs/driving.md");
  await byMeaning();
  chroma.fail("refuses");
  await until("automobile", ({ vectors }) => vectors === "unavailable");
  chroma.forget();
  chroma.fail("");
  await byMeaning();
  expect(told.join("\n")).toContain("by meaning again");
  expect(chroma.requests.filter(({ path }) => path.endsWith("/upsert")).length).toBeGreaterThan(1);
});

test("vectors that somebody else put into the collection lead to nothing", async () => {
  const [chroma, server] = [await chromaDouble(), await embeddingServer()];
  const { until, session } = await openKnowledge(shopWith(chroma.url, server.url));
  await until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  const upsert = chroma.requests.find(({ path }) => path.endsWith("/upsert"));
  const { ids, embeddings } = JSON.parse(upsert?.text ?? "") as { ids: string[]; embeddings: number[][] };
  const forged = ["../../etc/passwd", "1", `1.${"0".repeat(64)}.1`, `999999.${"0".repeat(64)}.1`];
  const vectors = forged.map(() => embeddings[ids.length - 1]);
  await fetch(`${chroma.url}${upsert?.path}`, {
    method: "POST",
    body: JSON.stringify({ ids: forged, embeddings: vectors, metadatas: forged.map(() => ({ file: "x" })) }),
  });
  const answer = await ask(session, { query: "automobile" });
  expect(new Set(pathsOf(answer))).toEqual(new Set(["docs/driving.md", "docs/returns.md"]));
});

test("without the store the vectors lie in the index again", async () => {
  const [chroma, server] = [await chromaDouble(), await embeddingServer()];
  const first = await openKnowledge(shopWith(chroma.url, server.url));
  await first.until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  await first.close();
  configureChroma(first.place, { ollama: server.url });
  const asked = chroma.requests.length;
  const second = await openKnowledge(first.place);
  const answer = await second.until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(pathsOf(answer)[0]).toBe("docs/driving.md");
  expect(chroma.requests).toHaveLength(asked);
});
