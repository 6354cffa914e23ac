/** `search_knowledge`: how an answer reads, and what it says while the index is being built. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { KnowledgeAnswer } from "../../../src/model/place/knowledge.ts";
import { searchKnowledge } from "../../../src/tools/knowledge/search-knowledge.ts";

async function answered(answer: Partial<KnowledgeAnswer>, args: object = {}): Promise<JsonObject> {
  const whole = { state: "ready", filesIndexed: 3, filesLeft: 0, parts: [], truncated: false, ...answer };
  const context = { knowledge: { search: async () => whole } };
  const output = await searchKnowledge.execute({ query: "okapi", ...args }, context as never);
  return output.kind === "data" ? (output.data as JsonObject) : {};
}

const part = (text: string) => ({ path: "a.md", firstLine: 2, lastLine: 3, title: "Okapi", text, score: 1 });

test("while files are missing, the data and the text carry Flow's warning", async () => {
  const data = await answered({ state: "building", filesLeft: 7 });
  expect(data).toMatchObject({ state: "building", warning: "Knowledge Base Building...", files_left: 7 });
  expect(searchKnowledge.toText?.(data)).toEqual([
    "[nothing was found; Knowledge Base Building... 7 files left, so that parts may be missing]",
  ]);
  expect(await answered({})).not.toHaveProperty("warning");
});

test("parts read as their place, their title and their lines", async () => {
  const data = await answered({ parts: [part("one\ntwo")], truncated: true });
  expect(searchKnowledge.toText?.(data)).toEqual([
    "a.md:2-3 (Okapi)\none\ntwo",
    "[1 part; there are more: raise `limit`, or ask more precisely]",
  ]);
});

test("the first part is answered however long it is, and further ones as long as they fit", async () => {
  const parts = [part("x".repeat(5000)), part("y")];
  const data = await answered({ parts }, { max_tokens: 100 });
  expect(data).toMatchObject({ left_out: 1, truncated: true });
  expect(searchKnowledge.toText?.(data)[1]).toBe("[1 part; 1 part left out: raise `max_tokens`, or read the files]");
});
