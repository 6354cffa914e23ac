/**
 * The code that is asked about and the questions: that of packages which are installed beside Handrail.
 *
 * Each package lies as its sources would: what a program made counts less in answers, and `dist` would say so of all.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
/** Characters of a question. */
const QUESTION_CHARACTERS_MAX = 300;

const DOCSTRING = /\/\*\*[\s\S]*?\*\//g;
const DOCUMENTED = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export (?:declare )?(?:async )?function\*? ([A-Za-z_$][\w$]*)/g;
const EXPORTED = /export\s*\{([^}]*)\}(?!\s*from)|export (?:async )?(?:function\*?|class|const) ([\w$]+)/g;

const DECLARED = /\b(?:function\*?|class|const|let|var) ([\w$]+)/g;

/** Directories and files with the same code again. */
const COPIES = /(?:^|[/.])(?:browser|compat|cjs|commonjs|umd|min|global|v3|mini|locales)[/.]/;

/** A question, and the files that answer it: those of one package that export the function. */
export interface Question {
  readonly question: string;
  readonly files: ReadonlySet<string>;
}

/** Two workspaces with what is asked about each. */
export interface QuestionSets {
  /** Without docstrings; asked by the first sentence of each. */
  readonly docstrings: readonly Question[];
  /** With docstrings, as code is; asked in other words than theirs. */
  readonly otherWords: readonly Question[];
}

/** A function that is asked for: what exports it in its package. */
interface Asked {
  readonly package: string;
  readonly name: string;
  readonly file: string;
  readonly question: string;
}

/** Copies the code into both workspaces, with and without docstrings. @throws where a package is missing */
export function layOut(bare: string, commented: string): QuestionSets {
  const docstrings: Asked[] = [];
  const exporting = new Map<string, Set<string>>();
  const seen = new Set<string>();
  for (const name of PACKAGES) {
    const files = globSync("**/*.{js,mjs,ts,mts}", { cwd: join(MODULES, name) }).sort();
    // One copy of each: packages bring the same code as several kinds of modules.
    const modules = new Set(files.filter((file) => /\.m?js$/.test(file) && !COPIES.test(file)));
    const code = new Set(
      [...modules].filter((file) => file.endsWith(".mjs") || !modules.has(`${file.slice(0, -3)}.mjs`)),
    );
    for (const file of code) {
      const text = readFileSync(join(MODULES, name, file), "utf8");
      const path = sourcePath(`${name}/${file}`);
      put(join(bare, path), text.replace(DOCSTRING, ""));
      put(join(commented, path), text);
      for (const exported of exportsOf(text)) add(exporting, `${name} ${exported}`, path);
    }
    for (const file of files) {
      const coded = file.replace(/\.d\.ts$/, ".js").replace(/\.d\.mts$/, ".mjs");
      if (!code.has(coded)) continue;
      for (const [, doc = "", declared = ""] of readFileSync(join(MODULES, name, file), "utf8").matchAll(DOCUMENTED)) {
        const question = firstSentence(doc);
        if (question.split(" ").length < WORDS_MIN || seen.has(question)) continue;
        seen.add(question);
        docstrings.push({ package: name, name: declared, file: sourcePath(`${name}/${coded}`), question });
      }
    }
  }
  if (docstrings.length < DOCSTRINGS_MIN)
    throw new Error(`${docstrings.length} docstrings were found, ${DOCSTRINGS_MIN} are needed; run \`npm ci\``);
  const withFiles = ({ package: owner, name, file, question }: Asked): Question => {
    if (!existsSync(join(commented, file))) throw new Error(`${file} is not installed; run \`npm ci\``);
    return { question, files: new Set([file, ...(exporting.get(`${owner} ${name}`) ?? [])]) };
  };
  const otherWords = PARAPHRASES.map(({ file, question }) => {
    const path = sourcePath(`${file}.mjs`);
    return withFiles({ package: "es-toolkit", name: basename(file), file: path, question });
  });
  return { docstrings: docstrings.map(withFiles), otherWords };
}

function sourcePath(path: string): string {
  return path.replace("/dist/", "/src/");
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(value));
}

/** What a module declares and exports; what it only passes on is another's. */
function exportsOf(text: string): readonly string[] {
  const declared = new Set([...text.matchAll(DECLARED)].map(([, name = ""]) => name));
  return [...text.matchAll(EXPORTED)]
    .flatMap(([, list, name]) => (name === undefined ? (list ?? "").split(",").map((one) => one.trim()) : [name]))
    .filter((name) => declared.has(name));
}

function firstSentence(doc: string): string {
  const words = doc.replace(/^\s*\*\s?/gm, "").split(/\n\s*@|\n\s*\n/)[0] ?? "";
  const [first = ""] = words
    .replace(/\s+/g, " ")
    .trim()
    .split(/(?<=[.?!]) /);
  return first.slice(0, QUESTION_CHARACTERS_MAX);
}
