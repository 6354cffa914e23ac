/**
 * How well `search_knowledge` finds: functions by the first sentence of their docstrings, which are taken out of what
 * is indexed, and functions by other words than their code's. Against what `search_file` shows for as many tokens.
 *
 * The code is that of packages which are installed beside Handrail, so that nothing is fetched. With
 * HANDRAIL_BENCH_OLLAMA (an address) and HANDRAIL_BENCH_MODEL, answers by words and meaning are measured, too.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../../src/base/json.ts";
import { questionTerms } from "../../src/knowledge/terms.ts";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import type { Playground } from "../playground.ts";
import { PARAPHRASES } from "./paraphrases.ts";

const PACKAGES = [
  "es-toolkit",
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "enhanced-resolve",
  "entities",
  "hono",
  "jose",
  "unbash",
  "yaml",
  "zod",
];
const MODULES = new URL("../../node_modules/", import.meta.url).pathname;
/** Docstrings that are asked for, and words that one must have. */
const DOCSTRINGS_MIN = 300;
const WORDS_MIN = 4;
const RESULTS = 10;
const TOKENS = 4000;

const DOCUMENTED = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export (?:declare )?(?:async )?function\*? ([A-Za-z_$][\w$]*)/g;

/** Directories and files with the same code again. */
const COPIES = /(?:^|[/.])(?:compat|cjs|commonjs|umd|min|global|v3|mini|locales)[/.]/;

interface Question {
  readonly file: string;
  readonly question: string;
}

interface Score {
  readonly asked: number;
  readonly recall1: number;
  readonly recall5: number;
  readonly mrr: number;
}

/** Measures and prints. */
export async function measureKnowledgeQuality(playground: Playground): Promise<JsonObject> {
  const workspace = playground.directory("quality");
  const questions = layOut(workspace);
  if (questions.length < DOCSTRINGS_MIN)
    throw new Error(`${questions.length} docstrings were found, ${DOCSTRINGS_MIN} are needed; run \`npm ci\``);
  const sets = { docstrings: questions, "other words": PARAPHRASES.map(withExtension(workspace)) };
  const rows: Record<string, JsonObject> = {};
  for (const [by, config] of Object.entries(configurations())) {
    const configDirectory = playground.directory(`quality-config-${by.replaceAll(" ", "-")}`);
    writeFileSync(join(configDirectory, "handrail.yaml"), JSON.stringify(config), { mode: 0o600 });
    const kernel = await createKernel({
      stateDirectory: playground.directory(`quality-state-${by.replaceAll(" ", "-")}`),
      configDirectory,
      environment: playground.environment,
    });
    try {
      const session = await kernel.openSession({ workspace });
      await untilReady(session);
      for (const [name, asked] of Object.entries(sets)) {
        rows[`${name}, ${by}`] = { ...(await scoreOf(asked, (question) => knowledgeFiles(session, question))) };
        if (by === "words")
          rows[`${name}, search_file`] = { ...(await scoreOf(asked, (q) => searchedFiles(session, q))) };
      }
    } finally {
      await kernel.close();
    }
  }
  return rows;
}

function configurations(): Readonly<Record<string, JsonObject>> {
  const { HANDRAIL_BENCH_OLLAMA: url, HANDRAIL_BENCH_MODEL: model } = process.env;
  const words = { words: {} };
  if (url === undefined || model === undefined) return words;
  const embeddings = { provider: "local", model };
  return {
    ...words,
    "words and meaning": { models: { local: { protocol: "ollama", url } }, knowledge: { embeddings } },
  };
}

/** Copies the code without docstrings. @returns what is asked, by the file that answers */
function layOut(workspace: string): readonly Question[] {
  const questions = new Map<string, Question>();
  const asked = new Set<string>();
  for (const name of PACKAGES) {
    const files = globSync("**/*.{js,mjs,ts,mts}", { cwd: join(MODULES, name) }).sort();
    // One copy of each: packages bring the same code as several kinds of modules.
    const modules = new Set(files.filter((file) => /\.m?js$/.test(file) && !COPIES.test(file)));
    const code = new Set(
      [...modules].filter((file) => file.endsWith(".mjs") || !modules.has(`${file.slice(0, -3)}.mjs`)),
    );
    for (const file of code) {
      const to = join(workspace, name, file);
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, readFileSync(join(MODULES, name, file), "utf8").replace(/\/\*\*[\s\S]*?\*\//g, ""));
    }
    for (const file of files) {
      const text = readFileSync(join(MODULES, name, file), "utf8");
      const coded = file.replace(/\.d\.ts$/, ".js").replace(/\.d\.mts$/, ".mjs");
      if (!code.has(coded)) continue;
      for (const [, doc = "", declared = ""] of text.matchAll(DOCUMENTED)) {
        const question = firstSentence(doc);
        if (question.split(" ").length < WORDS_MIN || asked.has(question)) continue;
        asked.add(question);
        questions.set(`${name}/${coded} ${declared}`, { file: `${name}/${coded}`, question });
      }
    }
  }
  return [...questions.values()];
}

function firstSentence(doc: string): string {
  const words = doc.replace(/^\s*\*\s?/gm, "").split(/\n\s*@|\n\s*\n/)[0] ?? "";
  return (
    words
      .replace(/\s+/g, " ")
      .trim()
      .split(/(?<=[.?!]) /)[0] ?? ""
  ).slice(0, 300);
}

function withExtension(workspace: string) {
  return ({ file, question }: Question): Question => {
    if (!existsSync(join(workspace, `${file}.mjs`))) throw new Error(`${file}.mjs is not installed; run \`npm ci\``);
    return { file: `${file}.mjs`, question };
  };
}

async function scoreOf(
  questions: readonly Question[],
  answer: (question: string) => Promise<readonly string[]>,
): Promise<Score> {
  let [first, five, sum] = [0, 0, 0];
  for (const { file, question } of questions) {
    const rank = (await answer(question)).indexOf(file);
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
  return distinct(matches).slice(0, RESULTS);
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
