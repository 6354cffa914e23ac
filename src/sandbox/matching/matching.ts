/**
 * The match handle of one call: regular expressions on the search threads, syntax patterns in a program of their own.
 *
 * INVARIANTS: both see secrets as their markers, and a match that touches one is none; nothing here runs on the
 * kernel's own thread for longer than it takes to copy the bytes; time and sizes are bounded.
 */
import { isUtf8 } from "node:buffer";
import { MIB } from "../../base/bytes.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Match, MatchAnswer, MatchedPlace, MatchQuery } from "../../model/work/matching.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { shownBytes } from "../../text/shown-text.ts";
import { cancelled, quoted } from "../files/places/failures.ts";
import { failureOfWork } from "../search/failures.ts";
import { REGEX_BUDGET_MS } from "../search/pattern/budget.ts";
import type { SearchThreads } from "../search/threads.ts";
import type { SyntaxPlace } from "./code-messages.ts";
import { askSyntax, SYNTAX_MS_MAX, type SyntaxOutcome } from "./code-process.ts";
import { LANGUAGES, languageOf } from "./languages.ts";

/** Bytes of a file in which syntax patterns are matched: its tree takes many times as much. */
const SYNTAX_FILE_BYTES_MAX = 4 * MIB;

/** What matching needs of a call. */
export interface MatchScope {
  readonly threads: SearchThreads;
  readonly hidden: (bytes: Uint8Array) => readonly HiddenRange[];
  readonly signal: AbortSignal;
  /** Milliseconds for a syntax pattern, for tests. */
  readonly syntaxMsMax?: number;
}

/** Matching for one call. */
export function createMatch(scope: MatchScope): Match {
  return async (bytes, query) => {
    const shown = shownBytes(bytes, scope.hidden(bytes));
    const found =
      query.mode === "regex"
        ? await regexPlaces(scope, shown.bytes, query)
        : await syntaxPlaces(scope, shown.bytes, query);
    const places: MatchedPlace[] = [];
    for (const { start, end, content } of found) {
      const place = shown.placeOf(start, end);
      if (place) places.push({ ...place, content });
    }
    return { places, hidden: found.length - places.length } satisfies MatchAnswer;
  };
}

async function regexPlaces(
  { threads, signal }: MatchScope,
  text: Buffer,
  query: MatchQuery,
): Promise<readonly MatchedPlace[]> {
  const { words, path } = query;
  const pattern = { kind: "regex", text: query.spec } as const;
  const wanted = { kind: "places", text, content: query.content, placesMax: query.placesMax + 1 } as const;
  const result = await threads.run({ pattern, wanted, files: { directories: [], names: [] } }, signal);
  if (signal.aborted) throw cancelled();
  switch (result.kind) {
    case "done": {
      const plain = Buffer.from(query.content);
      return (result.places ?? []).map(({ start, end, content }) => ({
        start,
        end,
        content: content === undefined ? plain : Buffer.from(content),
      }));
    }
    case "invalid":
      throw new ToolFailure(
        "REGEX_INVALID",
        `${words.spec} is not a regular expression: ${result.problem}; nothing was changed`,
        'correct it (RE2 syntax), or leave out `match_mode: "regex"` to match the text as it is',
      );
    case "bad_content":
      throw badContent(query, result.problem);
    case "over_budget":
    case "out_of_memory":
    case "too_big":
      throw new ToolFailure(
        "REGEX_TIMEOUT",
        `matching ${words.spec} in ${quoted(path)} took more than the ${REGEX_BUDGET_MS} ms or the memory that it may; nothing was changed`,
        "use a simpler expression, or the text as it is, without `match_mode`",
      );
    default:
      throw failureOfWork(result, pattern, path);
  }
}

async function syntaxPlaces(scope: MatchScope, bytes: Buffer, query: MatchQuery): Promise<readonly MatchedPlace[]> {
  const language = languageOf(query.path, query.language);
  if (language === undefined) throw unknownLanguage(query);
  if (bytes.byteLength > SYNTAX_FILE_BYTES_MAX)
    throw new ToolFailure(
      "FILE_TOO_LARGE",
      `${quoted(query.path)} has ${bytes.byteLength} bytes; syntax patterns are matched in at most ${SYNTAX_FILE_BYTES_MAX}`,
      'use `match_mode: "regex"` or the text as it is',
    );
  // Bytes that are no UTF-8 are read as if each were a character, so that all of them come through.
  const encoding = isUtf8(bytes) ? "utf8" : "latin1";
  const read = (text: string) => Buffer.from(text).toString(encoding);
  const { name, parser, wrap, fragments } = language;
  const source = bytes.toString(encoding);
  const question = {
    language: { name, ...(parser !== undefined && { parser }), ...(wrap && { wrap }), ...(fragments && { fragments }) },
    source,
    pattern: read(query.spec),
    content: read(query.content),
    placesMax: query.placesMax + 1,
  };
  const outcome = await askSyntax(question, scope.signal, scope.syntaxMsMax);
  if (outcome.kind !== "found") throw failureOfSyntax(outcome, query, name);
  return inBytes(source, outcome.places, encoding);
}

/** Characters as bytes. What the program answers is not trusted to be in order. */
function inBytes(source: string, places: readonly SyntaxPlace[], encoding: "utf8" | "latin1"): readonly MatchedPlace[] {
  let character = 0;
  let byte = 0;
  const byteAt = (position: number): number => {
    if (!Number.isInteger(position) || position < character || position > source.length)
      throw new ToolFailure("INTERNAL", "the parser gave places that are out of order", "report this to the operator");
    byte += Buffer.byteLength(source.slice(character, position), encoding);
    character = position;
    return byte;
  };
  return places.map(({ start, end, content }) => ({
    start: byteAt(start),
    end: byteAt(end),
    content: Buffer.from(content, encoding),
  }));
}

function badContent({ words }: MatchQuery, problem: string): ToolFailure {
  const message = `${words.content} cannot be used: ${problem}; nothing was changed`;
  return new ToolFailure("NOT_SUPPORTED", message, `correct ${words.content}`);
}

function unknownLanguage({ language, path }: MatchQuery): ToolFailure {
  const what = language === undefined ? `the language of ${quoted(path)}` : `the language ${quoted(language)}`;
  const names = LANGUAGES.map(({ name }) => name).join(", ");
  const next = `set \`language\` to one of ${names}; or use \`match_mode: "regex"\` or the text as it is`;
  return new ToolFailure("NOT_SUPPORTED", `${what} is not known; nothing was changed`, next);
}

function failureOfSyntax(
  outcome: Exclude<SyntaxOutcome, { kind: "found" }>,
  query: MatchQuery,
  language: string,
): ToolFailure {
  const { words, path } = query;
  switch (outcome.kind) {
    case "invalid":
      return new ToolFailure(
        "NOT_SUPPORTED",
        `${words.spec} is not a syntax pattern of ${language}: ${outcome.problem}; nothing was changed`,
        "write one whole piece of code with metavariables, such as `foo($A, $$$REST)`",
      );
    case "bad_content":
      return badContent(query, outcome.problem);
    case "missing":
      return new ToolFailure(
        "NOT_SUPPORTED",
        `the parser of ${language} is not installed; nothing was changed`,
        `use \`match_mode: "regex"\` or the text as it is; a person can install @ast-grep/lang-${language}`,
      );
    case "too_slow":
      return new ToolFailure(
        "REGEX_TIMEOUT",
        `matching ${words.spec} in ${quoted(path)} took more than ${SYNTAX_MS_MAX / 1000} s; nothing was changed`,
        'use a simpler pattern, `match_mode: "regex"`, or the text as it is',
      );
    case "ended":
      return new ToolFailure(
        "NOT_SUPPORTED",
        `the parser of ${language} ended while it read ${quoted(path)}; nothing was changed`,
        'use `match_mode: "regex"` or the text as it is',
      );
    case "busy":
      return new ToolFailure("RESOURCE_BUSY", "too many syntax patterns are being matched; nothing was changed", {
        suggestion: "try again in a moment",
        retryAfterMs: 1000,
      });
    case "cancelled":
      return cancelled();
  }
}
