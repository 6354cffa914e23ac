/** What a kernel knows of a workspace: found, kept up to date, made anew where it is damaged. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultSettings } from "../../../src/config/config.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { WorkspaceKnowledge } from "../../../src/server/knowledge/workspace-knowledge.ts";
import { createWorkspaceCatalog } from "../../../src/server/workspace/workspace-catalog.ts";
import { ask, openKnowledge, pathsOf } from "../../support/knowledge-place.ts";
import { freshPlace } from "../../support/place.ts";

function shop() {
  const place = freshPlace();
  place.put(
    "workspace/docs/orders.md",
    "# Orders\n\nAn order is shipped once.\n\n## Refunds\n\nMoney goes back by bank.\n",
  );
  place.put("workspace/src/basket.ts", "export function addToBasket(item: string) {\n  return item;\n}\n");
  place.put("workspace/src/mail.ts", "export function sendReceipt(address: string) {\n  return address;\n}\n");
  return place;
}

test("a question in plain words finds code and documents, with their lines", async () => {
  const { until, session } = await openKnowledge(shop());
  const answer = await until("how are refunds paid", ({ state }) => state === "ready");
  expect(answer.results[0]).toEqual({
    path: "docs/orders.md",
    first_line: 5,
    last_line: 7,
    title: "Orders > Refunds",
    text: "## Refunds\n\nMoney goes back by bank.",
  });
  expect(pathsOf(await ask(session, { query: "add an item to the basket" }))[0]).toBe("src/basket.ts");
  expect(pathsOf(await ask(session, { query: "sendReceipt" }))).toEqual(["src/mail.ts"]);
  expect(new Set(pathsOf(await ask(session, { query: "order item address", glob: "*.md" })))).toEqual(
    new Set(["docs/orders.md"]),
  );
  expect(pathsOf(await ask(session, { query: "order item address", path: "src" }))).toEqual(
    expect.arrayContaining(["src/basket.ts", "src/mail.ts"]),
  );
  expect(await ask(session, { query: "zebra" })).toMatchObject({ results: [], truncated: false });
});

test("while files are missing in the index, answers are from what is there, and say that it is being built", async () => {
  const place = shop();
  const catalog = createWorkspaceCatalog(() => ({ settings: defaultSettings(), trusted: [] }), []);
  onTestFinished(() => catalog.close());
  const knowledge = new WorkspaceKnowledge(
    {
      directory: join(place.state, "index"),
      redactor: () => createRedactor(),
      key: new Uint8Array(32),
      tell: () => undefined,
      onInternalError(error) {
        throw error;
      },
      buildWaitMs: 0,
    },
    await catalog.open({ serviceRoot: place.workspace, projectRoot: place.workspace }),
  );
  onTestFinished(() => knowledge.close());
  expect(knowledge.state).toEqual({ state: "building", filesIndexed: 0, filesLeft: 0 });
  expect(await knowledge.find(["receipt"], 10)).toEqual([]);
  expect(knowledge.state.state).toBe("building");
  await knowledge.refresh();
  expect(knowledge.state).toEqual({ state: "ready", filesIndexed: 3, filesLeft: 0 });
  expect(await knowledge.find(["receipt"], 10)).toMatchObject([{ path: "src/mail.ts" }]);
});

test("the index follows what is changed, moved and removed, by whomever", async () => {
  const { place, session, until } = await openKnowledge(shop());
  await until("receipt", ({ state }) => state === "ready");
  await session.call("write_file", { path: "src/zebra.ts", content: "export const zebra = 1;\n" });
  await until("zebra", ({ results }) => results[0]?.path === "src/zebra.ts");
  renameSync(join(place.workspace, "src/zebra.ts"), join(place.workspace, "src/okapi.ts"));
  await until("zebra", (answer) => pathsOf(answer).join() === "src/okapi.ts");
  rmSync(join(place.workspace, "src/okapi.ts"));
  await until("zebra", ({ results }) => results.length === 0);
  writeFileSync(join(place.workspace, "src/mail.ts"), "export const giraffe = 2;\n");
  await until("giraffe", ({ results }) => results[0]?.path === "src/mail.ts");
  expect(pathsOf(await ask(session, { query: "sendReceipt" }))).toEqual([]);
});

test("the manifest names every file by the SHA-256 of its bytes, and the next kernel goes on from it", async () => {
  const first = await openKnowledge(shop());
  await first.until("receipt", ({ state }) => state === "ready");
  const manifest = JSON.parse(readFileSync(join(first.indexDirectory(), "rag_manifest.json"), "utf8"));
  expect(Object.keys(manifest.files)).toEqual(["docs/orders.md", "src/basket.ts", "src/mail.ts"]);
  expect(manifest.files["src/mail.ts"]).toMatch(/^[0-9a-f]{64}$/);
  await first.close();
  const second = await openKnowledge(first.place);
  expect(await ask(second.session, { query: "receipt" })).toMatchObject({ state: "ready" });
  expect(second.told).toEqual([]);
});

test.each([
  ["index.db", "damaged and is made anew"],
  ["rag_manifest.json", "manifest is damaged"],
])("a damaged %s is made anew, and the operator is told", async (name, words) => {
  const first = await openKnowledge(shop());
  await first.until("receipt", ({ state }) => state === "ready");
  const file = join(first.indexDirectory(), name);
  await first.close();
  writeFileSync(file, "no such thing");
  const second = await openKnowledge(first.place);
  const answer = await second.until("receipt", ({ state }) => state === "ready");
  expect(pathsOf(answer)).toEqual(["src/mail.ts"]);
  expect(second.told.join("\n")).toContain(words);
});

test("an answer keeps to its tokens and says what it left out", async () => {
  const place = shop();
  for (let index = 0; index < 8; index += 1)
    place.put(`workspace/docs/part${index}.md`, `# Okapi ${index}\n\n${"word ".repeat(100)}\n`);
  const { until, session } = await openKnowledge(place);
  await until("okapi", ({ state }) => state === "ready");
  const answer = await ask(session, { query: "okapi", max_tokens: 300 });
  expect(answer.results).toHaveLength(2);
  expect(answer).toMatchObject({ left_out: 6, truncated: true });
  expect(await ask(session, { query: "okapi", limit: 3 })).toMatchObject({ left_out: 0, truncated: true });
});
