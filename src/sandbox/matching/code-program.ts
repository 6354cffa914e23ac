/**
 * The program that matches code by its tree, apart from the kernel.
 *
 * Parsers are native code that reads what an agent wrote: what they crash or hang is this process alone, which has no
 * environment, opens no file of the workspace, and is killed when it takes too long.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { type NapiConfig, parse, registerDynamicLanguage, type SgNode } from "@ast-grep/napi";
import { endWithParent } from "../ports/end-with-parent.ts";
import type {
  SyntaxPlace,
  SyntaxReply,
  SyntaxRequest,
  SyntaxResult,
  UsagesRequest,
  UsagesResult,
} from "./code-messages.ts";
import { outlineOf } from "./outline.ts";
import type { OutlineReply, OutlineRequest } from "./outline-messages.ts";
import { usagesIn } from "./usages/usages-in.ts";

/** Characters of all contents together. */
const EXPANDED_MAX = 64 * 1024 * 1024;

/** The parsers that are installed beside the program; those of TypeScript, JavaScript, HTML and CSS are built in. */
const PARSERS = {
  bash: () => import("@ast-grep/lang-bash"),
  c: () => import("@ast-grep/lang-c"),
  cpp: () => import("@ast-grep/lang-cpp"),
  csharp: () => import("@ast-grep/lang-csharp"),
  go: () => import("@ast-grep/lang-go"),
  java: () => import("@ast-grep/lang-java"),
  lua: () => import("@ast-grep/lang-lua"),
  php: () => import("@ast-grep/lang-php"),
  python: () => import("@ast-grep/lang-python"),
  ruby: () => import("@ast-grep/lang-ruby"),
  rust: () => import("@ast-grep/lang-rust"),
  toml: () => import("@ast-grep/lang-toml"),
  yaml: () => import("@ast-grep/lang-yaml"),
} as const;

/** Loads the parsers once: the library takes them all at one time. The names of those that are there. */
async function loadParsers(): Promise<ReadonlySet<string>> {
  const found: Record<string, Registration> = {};
  for (const [name, load] of Object.entries(PARSERS)) {
    const parser = await load().then(registrationIn, () => undefined); // not installed, which the answer says
    if (parser !== undefined) found[name] = parser;
  }
  registerDynamicLanguage(found);
  return new Set(Object.keys(found));
}

type Registration = Parameters<typeof registerDynamicLanguage>[0][string];

/**
 * How a parser is found; nothing where its package has none for this machine. Some packages name a file that only a
 * script of their installation makes, though the one for this machine lies beside it; and one file that is not there
 * would end the program.
 */
function registrationIn({ default: parser }: { readonly default: unknown }): Registration | undefined {
  const known = parser as Registration;
  const machine = `prebuild-Linux-${process.arch.toUpperCase()}`;
  try {
    const named = known.libraryPath;
    const beside = join(dirname(named), "prebuilds", machine, "parser.so");
    const libraryPath = [named, beside].find(existsSync);
    return libraryPath === undefined ? undefined : { ...known, libraryPath };
  } catch {
    return undefined; // the package found none, which the answer says
  }
}

const parsers = loadParsers();

endWithParent();
process.on("message", (request: SyntaxRequest | UsagesRequest | OutlineRequest) => void answer(request));

async function answer(request: SyntaxRequest | UsagesRequest | OutlineRequest): Promise<void> {
  if ("outlined" in request) {
    const outlines = await outlinesOf(request);
    process.send?.({ id: request.id, outlines } satisfies OutlineReply);
    return;
  }
  const result = "symbol" in request ? await usages(request) : await match(request);
  process.send?.({ ...result, id: request.id } satisfies SyntaxReply);
}

async function usages({ symbol, sources }: UsagesRequest): Promise<UsagesResult> {
  const installed = await parsers;
  const found = sources.map(({ language: { name, parser }, source }) => {
    if (parser === undefined && !installed.has(name)) return undefined;
    const root = parse(parser ?? name, source).root();
    return { usages: usagesIn(root, name, symbol), isPartly: root.find({ rule: { kind: "ERROR" } }) !== null };
  });
  return { kind: "usages", found };
}

async function outlinesOf({ outlined }: OutlineRequest): Promise<OutlineReply["outlines"]> {
  const installed = await parsers;
  return outlined.map(({ language: { name, parser }, source }) =>
    parser === undefined && !installed.has(name) ? null : outlineOf(parse(parser ?? name, source).root()),
  );
}

async function match(request: SyntaxRequest): Promise<SyntaxResult> {
  const { name, parser, wrap: [before, after] = NO_WRAP, fragments = [] } = request.language;
  if (parser === undefined && !(await parsers).has(name)) return { kind: "missing" };
  const variables = variablesIn(request.pattern);
  const unknown = variablesIn(request.content).find((each) => !variables.includes(each));
  if (unknown !== undefined && !KEEPS_DOLLARS.has(name))
    return { kind: "bad_content", problem: unknownIn(unknown, variables) };
  const root = parse(parser ?? name, `${before}${request.source}${after}`).root();
  const rules: NapiConfig[] = [
    { rule: { pattern: request.pattern } },
    ...fragments.map(({ context: [opening, closing], kind }) => ({
      rule: { pattern: { context: `${opening}${request.pattern}${closing}`, selector: kind } },
    })),
  ];
  let problem: string | undefined;
  let nodes: readonly SgNode[] = [];
  for (const rule of rules) {
    try {
      nodes = root.findAll(rule);
    } catch (error) {
      problem ??= problemOf(error);
      continue;
    }
    if (nodes.length > 0) break;
  }
  if (nodes.length === 0 && problem !== undefined) return { kind: "invalid", problem };
  return placesOf(nodes, { ...request, shift: before.length }, variables);
}

/** Languages in which a dollar sign before capitals is text of the program, too. */
const KEEPS_DOLLARS: ReadonlySet<string> = new Set(["bash", "php", "yaml", "html", "json", "toml"]);
const VARIABLE = /\$\$\$[A-Z_][A-Z0-9_]*|\$[A-Z_][A-Z0-9_]*/g;

function variablesIn(text: string): readonly string[] {
  return [...new Set(text.match(VARIABLE))];
}

function unknownIn(unknown: string, known: readonly string[]): string {
  const names = known.length === 0 ? "none" : known.map((each) => `\`${each}\``).join(", ");
  return `\`${unknown}\` is no metavariable of the pattern, which has ${names}`;
}

function problemOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const last = text.split("|->").at(-1)?.trim() ?? text;
  return last.replace(/\s*Please check the pattern source[\s\S]*$/, "").replace(/\.$/, "");
}

const NO_WRAP = ["", ""] as const;

/** A request whose source was parsed with so many characters before it. */
type Shifted = SyntaxRequest & { readonly shift: number };

/** The outermost matches, in order: one within another is part of what is replaced. */
function placesOf(nodes: readonly SgNode[], request: Shifted, variables: readonly string[]): SyntaxResult {
  const places: SyntaxPlace[] = [];
  let room = EXPANDED_MAX;
  let end = 0;
  const sorted = nodes.map((node) => ({ node, range: node.range() }));
  sorted.sort((one, two) => one.range.start.index - two.range.start.index || two.range.end.index - one.range.end.index);
  for (const { node, range } of sorted) {
    if (range.start.index < end) continue;
    end = range.end.index;
    const content = filledIn(request, node, variables);
    room -= content.length;
    if (room < 0) return { kind: "bad_content", problem: "the contents of all matches together are too long" };
    places.push({ start: range.start.index - request.shift, end: end - request.shift, content });
    if (places.length >= request.placesMax) break;
  }
  return { kind: "found", places };
}

function filledIn({ content, source, shift }: Shifted, node: SgNode, variables: readonly string[]): string {
  return content.replaceAll(VARIABLE, (written) => {
    if (!variables.includes(written)) return written;
    if (!written.startsWith("$$$")) return node.getMatch(written.slice(1))?.text() ?? "";
    const all = node.getMultipleMatches(written.slice("$$$".length));
    const [first, last] = [all[0]?.range(), all.at(-1)?.range()];
    return first && last ? source.slice(first.start.index - shift, last.end.index - shift) : "";
  });
}
