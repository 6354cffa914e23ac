/**
 * Searching against ripgrep, on the same tree for the same pattern: `search_file` through the whole kernel, warm,
 * against a `rg` process from its start to its end. Both must find the same number of lines. All files are in the page
 * cache.
 */
import { execFile, spawnSync } from "node:child_process";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import { FILE_BYTES, type Playground } from "../playground.ts";

const SMALL_TREE_FILES = 1000;
/** 50 MB. */
const LARGE_TREE_FILES = Math.ceil((50 * 2 ** 20) / FILE_BYTES);
const OUTPUT_BYTES_MAX = 16 * 2 ** 20;
/** Lines that an answer may hold; each pattern finds fewer. */
const RESULTS_MAX = 1000;
/** Until the searching code is compiled as it will stay. */
const WARM_UP_SEARCHES = 100;

/**
 * Text that stands in one file, an expression that holds such a text, and one that holds none and has to be tried
 * everywhere.
 */
const PATTERNS = [
  { id: "literal", what: "a plain text", regex: "value77 = compute" },
  { id: "regex", what: "a regular expression with a text in it", regex: "\\bval[a-z]{2}77 = comp\\w+\\(" },
  { id: "regex-bare", what: "a regular expression without any", regex: "[A-Z]{3}\\d+" },
] as const;

/** The figures. @throws Error when ripgrep is not installed */
export async function measureSearch(playground: Playground, effort: Effort): Promise<Row[]> {
  requireRipgrep();
  const trees = [
    { id: "search-1000", what: "1,000 files of 4 KB", files: Math.min(SMALL_TREE_FILES, effort.distinctFiles) },
    { id: "search-50mb", what: "50 MB in files of 4 KB", files: Math.min(LARGE_TREE_FILES, effort.distinctFiles) },
  ];
  const rows: Row[] = [];
  for (const tree of trees) {
    const { path } = playground.workspace(tree.id, tree.files);
    const kernel = await createKernel({
      stateDirectory: playground.directory(`state-${tree.id}`),
      environment: playground.environment,
    });
    try {
      const session = await kernel.openSession({ workspace: path });
      for (const pattern of PATTERNS) {
        const ours = () => searchOnce(session, pattern.regex);
        const theirs = () => ripgrepOnce(path, pattern.regex);
        for (let count = 0; count < Math.min(WARM_UP_SEARCHES, effort.warmUpCalls / 20); count += 1) await ours();
        const lines = [(await ours()).lines, (await theirs()).lines];
        if (lines[0] !== lines[1])
          throw new Error(`${pattern.regex}: ${lines[0]} lines were found, ripgrep finds ${lines[1]}`);
        const subject = {
          id: `${tree.id}-${pattern.id}`,
          what: `search of ${tree.what} for ${pattern.what}`,
          peer: "ripgrep, one process",
          unit: "ms",
          better: "lower",
        } as const;
        rows.push(
          await interleave(
            subject,
            effort.rounds,
            async () => (await ours()).ms,
            async () => (await theirs()).ms,
          ),
        );
      }
    } finally {
      await kernel.close();
    }
  }
  return rows;
}

function requireRipgrep(): void {
  if (spawnSync("rg", ["--version"]).status === 0) return;
  throw new Error(
    "ripgrep is not installed, so there is nothing to compare with; install it (Debian: apt-get install ripgrep)",
  );
}

interface Searched {
  readonly ms: number;
  readonly lines: number;
}

async function searchOnce(session: KernelSession, regex: string): Promise<Searched> {
  const started = performance.now();
  const { response } = await session.call("search_file", { path: ".", regex, max_results: RESULTS_MAX });
  const ms = performance.now() - started;
  const { outcome } = response;
  if (outcome.kind !== "success") throw new Error(`the search failed: ${JSON.stringify(outcome)}`);
  const results = outcome.data["results"];
  return { ms, lines: Array.isArray(results) ? results.length : -1 };
}

function ripgrepOnce(directory: string, regex: string): Promise<Searched> {
  const args = [
    "--no-config",
    "--hidden",
    "--no-messages",
    "--line-number",
    "--column",
    "--no-heading",
    "--regexp",
    regex,
    ".",
  ];
  const started = performance.now();
  return new Promise((resolve, reject) => {
    execFile("rg", args, { cwd: directory, maxBuffer: OUTPUT_BYTES_MAX, encoding: "utf8" }, (error, stdout) => {
      const ms = performance.now() - started;
      if (error !== null && error.code !== 1)
        reject(error); // 1: nothing was found
      else resolve({ ms, lines: stdout.split("\n").length - 1 });
    });
  });
}
