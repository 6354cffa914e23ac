/**
 * Patterns made ready for searching, inside a search thread: linear-time regular expressions, or plain bytes.
 *
 * Decides: what a pattern means. `^` and `$` are the ends of lines, whichever line ends a file has; `.` is any
 * character but a line end; a match may go on over lines where the pattern says so. A pattern without special
 * characters is searched for as bytes. The engine is loaded with the first pattern that needs it.
 */
import type { RRegex } from "rregex";
import { utf8 } from "../../../base/bytes.ts";

import type { SearchPattern } from "../../../model/work/search.ts";
import { sequencesOf } from "./byte-sequences.ts";
import { type EngineMatch, type EngineModule, engineModule, findAllIn } from "./engine-memory.ts";
import { type FirstPlace, firstPlaceOf } from "./first-place.ts";
import type { Wear } from "./messages.ts";
import { type Sought, soughtOf } from "./rare-bytes.ts";
import { factsOf, type PatternFacts } from "./syntax-tree.ts";

/** Compiled patterns that a search thread keeps. */
const SEARCH_PATTERNS_KEPT_MAX = 16;

/** A pattern that can be searched for. */
export type ReadyPattern =
  | { readonly kind: "bytes"; readonly sought: Sought }
  | ({
      readonly kind: "regex";
      readonly regex: RRegex;
      readonly findAll: (text: Buffer) => readonly EngineMatch[];
      readonly firstPlace: FirstPlace;
    } & PatternFacts);

/** A pattern that cannot. */
export type BadPattern = { readonly kind: "invalid"; readonly problem: string } | { readonly kind: "too_big" };

/** Multi-line mode, with CRLF as a line end too. */
const FLAGS = "(?mR)";
const NO_SPECIAL_CHARACTER = /^[^\\.+*?()|[\]{}^$]+$/;

let engineLoaded: EngineModule | undefined;
let patternsCompiled = 0;

/** What the engine of this thread holds so far: its memory only ever grows. */
export function engineWear(): Wear {
  return { engineBytes: engineLoaded?.memory.buffer.byteLength ?? 0, patternsCompiled };
}

const kept = new Map<string, ReadyPattern | BadPattern>();

/** Makes `pattern` ready; the same pattern is made ready once. */
export async function readyPattern(pattern: SearchPattern): Promise<ReadyPattern | BadPattern> {
  if (pattern.kind === "literal" || NO_SPECIAL_CHARACTER.test(pattern.text))
    return { kind: "bytes", sought: soughtOf(utf8(pattern.text)) };
  const known = kept.get(pattern.text);
  if (known !== undefined) return known;
  const made = await compile(pattern.text);
  for (const [oldest, old] of kept) {
    if (kept.size < SEARCH_PATTERNS_KEPT_MAX) break;
    kept.delete(oldest);
    if (old.kind === "regex") old.regex.free();
  }
  kept.set(pattern.text, made);
  return made;
}

async function compile(text: string): Promise<ReadyPattern | BadPattern> {
  const engine = await import("rregex");
  const module = engineModule(engine);
  engineLoaded = module;
  patternsCompiled += 1;
  try {
    const regex = new engine.RRegex(FLAGS + text);
    const tree: unknown = regex.syntax();
    const facts = factsOf(tree);
    const firstPlace = firstPlaceOf(facts.required, sequencesOf(tree));
    return { kind: "regex", regex, findAll: (text) => findAllIn(module, regex, text), firstPlace, ...facts };
  } catch (error) {
    if (!(error instanceof Error) || error.name === "RuntimeError") throw error;
    if (error.message.includes("size limit")) return { kind: "too_big" };
    return { kind: "invalid", problem: problemOf(error.message) };
  }
}

/** What is wrong and where, from the engine's drawing: the pattern, below it an arrow, then the reason. */
function problemOf(drawing: string): string {
  const lines = drawing.split("\n");
  const reason =
    lines.find((line) => line.startsWith("error: "))?.slice("error: ".length) ?? "it is not a regular expression";
  const at = lines.findIndex((line) => /^ +\^/.test(line));
  if (at < 1) return reason;
  const [margin = "", number] = /^(?: {4}|(\d+): )/.exec(lines[at - 1] ?? "") ?? [];
  const inFirstLine = number === undefined || number === "1";
  const character = (lines[at] ?? "").indexOf("^") - margin.length - (inFirstLine ? FLAGS.length : 0) + 1;
  return `${reason} at character ${Math.max(1, character)}${number === undefined ? "" : ` of line ${number}`}`;
}
