/** Chunks by the keys that another store knows them by: a key that no longer fits leads to nothing. */
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeStore } from "../../../../src/stores/embedded/knowledge/knowledge-store.ts";
import { freshPlace } from "../../../support/place.ts";

const SHA = "a".repeat(64);

test("a key leads to its chunk only where number, bytes and line fit", async () => {
  const store = await openKnowledgeStore(freshPlace().state);
  onTestFinished(() => store.close());
  const terms = { title: "", symbols: [], symbolTerms: "", titleTerms: "", bodyTerms: "okapi" };
  store.put([
    { path: "a.md", sha256: SHA, sizeBytes: 1, changedMs: 1, chunks: [{ ...terms, firstLine: 1, lastLine: 2 }] },
  ]);
  const [bare] = store.bareChunks({ path: "a.md", sha256: SHA });
  const key = { chunk: bare?.chunk ?? 0, sha256: SHA, firstLine: 1, closeness: 0.5 };
  expect(store.located([key])).toEqual([{ path: "a.md", firstLine: 1, lastLine: 2, title: "", score: 0.5 }]);
  const others = [
    { ...key, chunk: key.chunk + 1 },
    { ...key, sha256: "b".repeat(64) },
    { ...key, firstLine: 2 },
  ];
  expect(store.located(others)).toEqual([undefined, undefined, undefined]);
});
