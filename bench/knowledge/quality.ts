/**
 * How well `search_knowledge` finds: functions by the first sentence of their docstrings, which are taken out of what
 * is indexed, and functions by other words than their code's. Against what `search_file` shows for as many tokens.
 *
 * The tool itself is asked, and its index by other ways: without weights of paths, with the symbol graph. With
 * HANDRAIL_BENCH_OLLAMA (an address) and HANDRAIL_BENCH_MODEL, also by words and meaning, and by meaning alone.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { JsonObject } from "../../src/base/json.ts";
import { packedVector } from "../../src/knowledge/embedder.ts";
import type { FoundChunk, KnowledgeStore } from "../../src/knowledge/knowledge-store.ts";
import { pathPrior } from "../../src/knowledge/priors.ts";
import { questionTerms } from "../../src/knowledge/terms.ts";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import { KNOWLEDGE_DATABASE, openKnowledgeStore } from "../../src/stores/embedded/knowledge/knowledge-store.ts";
import type { Playground } from "../playground.ts";
import { layOut, type Question } from "./questions.ts";
import { keyOf, type SymbolGraph, symbolGraph } from "./symbol-graph.ts";

const RESULTS = 10;
const TOKENS = 4000;
/** Chunks that are looked at for a question, as the tool does. */
const CHUNKS = 400;
/** How much a chunk gains by each doubling of its mentions, and of the score of what it mentions. */
const MENTIONS_WEIGHT = 0.05;
const DECLARERS_WEIGHT = 0.1;

interface Score {
  readonly asked: number;
  readonly recall1: number;
  readonly recall5: number;
  readonly mrr: number;
}

/** Answers with files, best first. */
type Way = (question: string) => Promise<readonly string[]>;

interface Model {
  readonly url: string;
  readonly model: string;
}

/** Measures. */
export async function measureKnowledgeQuality(playground: Playground): Promise<JsonObject> {
  const [bare, commented] = [playground.directory("quality"), playground.directory("quality-commented")];
  const { docstrings, otherWords } = layOut(bare, commented);
  const rows: Record<string, JsonObject> = {};
  for (const [name, workspace, questions] of [
    ["docstrings", bare, docstrings],
    ["other words", commented, otherWords],
  ] as const) {
    const scoreBy = async (way: string, answer: Way) => {
      rows[`${name}, ${way}`] = { ...(await scoreOf(questions, answer)) };
    };
    await withSession(playground, { name: `${name} words`, workspace, config: {} }, async (session, index) => {
      await scoreBy("search_knowledge", (question) => knowledgeFiles(session, question));
      await scoreBy("search_file", (question) => searchedFiles(session, question));
      for (const [way, answer] of indexWays(await index(), workspace)) await scoreBy(way, answer);
    });
    const model = modelOf();
    if (model === undefined) continue;
    const config = configOf(model);
    await withSession(playground, { name: `${name} meaning`, workspace, config }, async (session, index) => {
      await scoreBy("words and meaning", (question) => knowledgeFiles(session, question));
      const { store } = await index();
      await scoreBy("meaning alone", async (question) => {
        return distinct(store.findClose(packedVector(await vectorOf(model, question)), CHUNKS));
      });
    });
  }
  return rows;
}

interface OpenedIndex {
  readonly store: KnowledgeStore;
  readonly file: string;
}

/** Lets `work` ask once everything is indexed; the index itself is closed after it. */
async function withSession(
  playground: Playground,
  { name, workspace, config }: { readonly name: string; readonly workspace: string; readonly config: JsonObject },
  work: (session: KernelSession, index: () => Promise<OpenedIndex>) => Promise<void>,
): Promise<void> {
  const place = name.replaceAll(" ", "-");
  const configDirectory = playground.directory(`quality-config-${place}`);
  writeFileSync(join(configDirectory, "handrail.yaml"), JSON.stringify(config), { mode: 0o600 });
  const stateDirectory = playground.directory(`quality-state-${place}`);
  const kernel = await createKernel({ stateDirectory, configDirectory, environment: playground.environment });
  let opened: OpenedIndex | undefined;
  try {
    const session = await kernel.openSession({ workspace });
    await untilReady(session);
    await work(session, async () => {
      const [only = ""] = readdirSync(join(stateDirectory, "knowledge"));
      const directory = join(stateDirectory, "knowledge", only);
      opened ??= { store: await openKnowledgeStore(directory), file: join(directory, KNOWLEDGE_DATABASE) };
      return opened;
    });
  } finally {
    await opened?.store.close();
    await kernel.close();
  }
}

/** Other ways to order what the index finds. */
function indexWays({ store, file }: OpenedIndex, workspace: string): ReadonlyMap<string, Way> {
  const graph = symbolGraph(file, workspace);
  const by =
    (order: (found: readonly FoundChunk[], terms: readonly string[]) => readonly FoundChunk[]): Way =>
    async (question) => {
      const terms = questionTerms(question);
      const scored = order(store.find(terms, CHUNKS), terms);
      return distinct([...scored].sort((left, right) => right.score - left.score));
    };
  const weighed = (found: readonly FoundChunk[], terms: readonly string[]) =>
    found.map((chunk) => ({ ...chunk, score: chunk.score * pathPrior(chunk.path, terms) }));
  return new Map([
    ["words", by((found) => found)],
    ["words, paths", by(weighed)],
    ["words, paths, mentions", by((found, terms) => byMentions(graph, weighed(found, terms)))],
    ["words, paths, what is mentioned", by((found, terms) => byDeclarers(graph, weighed(found, terms)))],
  ]);
}

function byMentions(graph: SymbolGraph, found: readonly FoundChunk[]): readonly FoundChunk[] {
  return found.map((chunk) => ({
    ...chunk,
    score: chunk.score * (1 + MENTIONS_WEIGHT * Math.log2(1 + graph.mentions(chunk))),
  }));
}

function byDeclarers(graph: SymbolGraph, found: readonly FoundChunk[]): readonly FoundChunk[] {
  const scores = new Map(found.map((chunk) => [keyOf(chunk), chunk.score]));
  return found.map((chunk) => {
    const best = Math.max(0, ...graph.declarers(chunk).map((key) => scores.get(key) ?? 0));
    return { ...chunk, score: chunk.score + DECLARERS_WEIGHT * best };
  });
}

function modelOf(): Model | undefined {
  const { HANDRAIL_BENCH_OLLAMA: url, HANDRAIL_BENCH_MODEL: model } = process.env;
  return url === undefined || model === undefined ? undefined : { url, model };
}

function configOf({ url, model }: Model): JsonObject {
  const embeddings = { provider: "local", model };
  return { models: { local: { protocol: "ollama", url } }, knowledge: { embeddings } };
}

const embedded = z.object({ embeddings: z.tuple([z.array(z.number())]) });

async function vectorOf({ url, model }: Model, input: string): Promise<Float32Array> {
  const response = await fetch(`${url}/api/embed`, { method: "POST", body: JSON.stringify({ model, input }) });
  return Float32Array.from(embedded.parse(await response.json()).embeddings[0]);
}

async function scoreOf(questions: readonly Question[], answer: Way): Promise<Score> {
  let [first, five, sum] = [0, 0, 0];
  for (const { files, question } of questions) {
    const rank = (await answer(question)).slice(0, RESULTS).findIndex((file) => files.has(file));
    if (rank === 0) first += 1;
    if (rank >= 0 && rank < 5) five += 1;
    if (rank >= 0) sum += 1 / (rank + 1);
  }
  const part = (value: number) => Number((value / questions.length).toFixed(3));
  return { asked: questions.length, recall1: part(first), recall5: part(five), mrr: part(sum) };
}

/** Files in the order in which an answer names them first. */
async function knowledgeFiles(session: KernelSession, query: string): Promise<readonly string[]> {
  const data = await call(session, "search_knowledge", { query, limit: RESULTS, max_tokens: TOKENS });
  return distinct(data["results"] as unknown as readonly { readonly path: string }[]);
}

/** Files in the order in which the lines of a search for any of the words name them, of as many tokens. */
async function searchedFiles(session: KernelSession, question: string): Promise<readonly string[]> {
  const words = questionTerms(question).join("|");
  const data = await call(session, "search_file", { regex: `(?i)(?:${words})`, path: ".", max_results: 1000 });
  let room = TOKENS * 4;
  const matches = (data["results"] as unknown as readonly { readonly path: string; readonly text: string }[]).filter(
    ({ path, text }) => {
      room -= path.length + text.length + 8;
      return room >= 0;
    },
  );
  return distinct(matches);
}

function distinct(found: readonly { readonly path: string }[]): readonly string[] {
  return [...new Set(found.map(({ path }) => path))];
}

async function untilReady(session: KernelSession): Promise<void> {
  for (;;) {
    const { state, vectors = "ready" } = await call(session, "search_knowledge", { query: "function", limit: 1 });
    if (vectors === "unavailable") throw new Error("the model for meaning cannot be used; see HANDRAIL_BENCH_OLLAMA");
    if (state === "ready" && vectors === "ready") return;
    await pause(200);
  }
}

async function call(session: KernelSession, tool: string, args: JsonObject): Promise<JsonObject> {
  const { result } = await session.call(tool, args);
  if (result.status !== "success") throw new Error(JSON.stringify(result));
  return result.data as JsonObject;
}
