/** Questions that any server of Chroma's interface must answer alike, the real one and its stand-in. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { embeddingServer } from "./embedding-server.ts";
import { ask, openKnowledge, pathsOf } from "./knowledge-place.ts";
import { freshPlace, type Place } from "./place.ts";

/** A workspace with two documents, whose vectors Chroma keeps. */
export function shopWith(chroma: string, ollama: string, model = "small"): Place {
  const place = freshPlace();
  place.put("workspace/docs/returns.md", "# Returns\n\nA refund is made by bank.\n");
  place.put("workspace/docs/driving.md", "# Driving\n\nThe car is blue.\n");
  configureChroma(place, { chroma, ollama, model });
  return place;
}

/** Names the model, and the store where there is one, in the operator's settings. */
export function configureChroma(
  place: Place,
  { chroma, ollama, model = "small" }: { readonly chroma?: string; readonly ollama: string; readonly model?: string },
): void {
  const models = { local: { protocol: "ollama", url: ollama, retries: 0, timeout_seconds: 5 } };
  const vectors = { store: "chroma", url: chroma, timeout_seconds: 5 };
  const knowledge = { embeddings: { provider: "local", model }, ...(chroma !== undefined && { vectors }) };
  writeFileSync(join(place.config, "handrail.yaml"), JSON.stringify({ models, knowledge }), { mode: 0o600 });
}

/** Vectors are made and found, follow files, are kept over a restart, and are made anew by another model. */
export async function expectChromaAnswers(chroma: string): Promise<void> {
  const server = await embeddingServer();
  const first = await openKnowledge(shopWith(chroma, server.url));
  const { place } = first;
  await first.until("automobile", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(pathsOf(await ask(first.session, { query: "automobile" }))[0]).toBe("docs/driving.md");
  expect(pathsOf(await ask(first.session, { query: "reimbursed" }))[0]).toBe("docs/returns.md");
  place.put("workspace/docs/driving.md", "# Shipping\n\nWe dispatch on Mondays.\n");
  await first.until("send", ({ results }) => results[0]?.path === "docs/driving.md");
  rmSync(join(place.workspace, "docs/driving.md"));
  await first.until("send", (answer) => !pathsOf(answer).includes("docs/driving.md"));
  await first.close();

  server.texts.length = 0;
  const second = await openKnowledge(place);
  await second.until("reimbursed", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(server.texts.filter((text) => text.startsWith("docs/"))).toEqual([]);
  await second.close();

  configureChroma(place, { chroma, ollama: server.url, model: "large" });
  const third = await openKnowledge(place);
  await third.until("reimbursed", ({ vectors, results }) => vectors === "ready" && results.length > 0);
  expect(server.texts.filter((text) => text.startsWith("docs/"))).toHaveLength(1);
  expect(third.told.join("\n")).toContain("made anew");
  await third.close();
}
