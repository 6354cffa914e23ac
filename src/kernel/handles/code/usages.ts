/**
 * Finds the usages of a name in files for the code handle, by asking the program that parses code.
 *
 * The program sees secrets as their markers, and is not trusted: positions that do not fit the text are left out, and
 * files that end or delay it are named as unread. INVARIANT: nothing is parsed in the kernel's process.
 */
import { MIB } from "../../../base/bytes.ts";
import { sharedTurns } from "../../../base/long-steps.ts";
import type { CodeUsage, FoundUsages, NoText } from "../../../model/place/code.ts";
import { cancelled } from "../../../sandbox/files/places/failures.ts";
import { askUsages } from "../../../sandbox/matching/code-process.ts";
import { type Language, languageOf } from "../../../sandbox/matching/languages.ts";
import type { FoundUsage } from "../../../sandbox/matching/usages/found-usage.ts";
import type { ShownBytes } from "../../../text/shown-text.ts";

/** Files and characters of one question to the program. */
const BATCH_FILES_MAX = 64;
const BATCH_CHARACTERS_MAX = 2 * MIB;
/** Milliseconds of the question about one file that is asked again by itself. */
const ALONE_MS_MAX = 2000;
/** Files of a failed question that are asked again by themselves. */
const ALONE_MAX = 8;
/** Questions without an answer, after which nothing more is asked for this call. */
const FAILURES_MAX = 6;
/** Characters of a line that are shown. */
const LINE_CHARACTERS_MAX = 200;
const LINE_END = 0x0a;
/** Languages that data are written in: names in them are no names of code. */
const NO_CODE: ReadonlySet<string> = new Set(["html", "css", "json", "yaml", "toml", "bash"]);

/** The bytes of a file, and how they are shown. */
export interface ShownFile {
  readonly kind: "shown";
  readonly bytes: Buffer;
  readonly shown: ShownBytes;
}

/** Where the name is looked for. */
export interface UsagesWanted {
  readonly symbol: string;
  readonly files: readonly string[];
  readonly read: (file: string) => Promise<ShownFile | { readonly kind: "none"; readonly why: NoText }>;
  readonly signal: AbortSignal;
}

interface Source {
  readonly path: string;
  readonly language: Language;
  readonly source: string;
  readonly file: ShownFile;
}

/** The usages of a name in files. */
export async function usagesOf({ symbol, files, read, signal }: UsagesWanted): Promise<FoundUsages> {
  const answer: Answer = { files: [], partly: [], unknown: [], unread: [], failures: 0 };
  const turn = sharedTurns();
  let batch: Source[] = [];
  let characters = 0;
  const flush = async () => {
    if (batch.length > 0) await takeBatch(batch, { symbol, signal }, answer);
    batch = [];
    characters = 0;
  };
  for (const path of files) {
    if (await turn()) requireWanted(signal);
    const language = languageOf(path, undefined);
    if (language === undefined || NO_CODE.has(language.name)) {
      answer.unknown.push(path);
      continue;
    }
    const file = await read(path);
    if (file.kind === "none") {
      // One that is gone or may not be read any more does not exist for this call.
      if (file.why !== "absent") answer.unread.push(path);
      continue;
    }
    const source = file.shown.bytes.toString("utf8");
    batch.push({ path, language, source, file });
    characters += source.length;
    if (batch.length >= BATCH_FILES_MAX || characters >= BATCH_CHARACTERS_MAX) await flush();
  }
  await flush();
  const { failures: _, ...found } = answer;
  return found;
}

type FoundFile = FoundUsages["files"][number];

interface Answer {
  /** Questions that had no answer. */
  failures: number;
  readonly partly: string[];
  readonly files: FoundFile[];
  readonly unknown: string[];
  readonly unread: string[];
}

interface Asked {
  readonly symbol: string;
  readonly signal: AbortSignal;
  readonly msMax?: number;
}

async function takeBatch(batch: readonly Source[], asked: Asked, answer: Answer): Promise<void> {
  if (answer.failures > FAILURES_MAX) return void answer.unread.push(...batch.map(({ path }) => path));
  const { symbol, signal, msMax } = asked;
  const sources = batch.map(({ language: { name, parser }, source }) => ({
    language: { name, ...(parser !== undefined && { parser }) },
    source,
  }));
  const outcome = await askUsages({ symbol, sources }, signal, msMax);
  requireWanted(signal);
  if (outcome.kind !== "usages") {
    answer.failures += 1;
    const again = batch.length === 1 || answer.failures > FAILURES_MAX ? 0 : ALONE_MAX;
    for (const one of batch.slice(0, again)) await takeBatch([one], { ...asked, msMax: ALONE_MS_MAX }, answer);
    answer.unread.push(...batch.slice(again).map(({ path }) => path));
    return;
  }
  for (const [index, source] of batch.entries()) {
    const found = outcome.found[index];
    if (found === undefined) answer.unknown.push(source.path);
    else answer.files.push({ path: source.path, usages: located(source, found.usages) });
    if (found?.isPartly === true) answer.partly.push(source.path);
  }
}

function requireWanted(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

/** Usages by lines of the file as it is. */
function located({ source, file }: Source, found: readonly FoundUsage[]): readonly CodeUsage[] {
  const usages: CodeUsage[] = [];
  let [character, byte, line, lineByte] = [0, 0, 1, 0];
  for (const { start, end, kind, binding, from, isOwn, within } of found) {
    if (!Number.isInteger(start) || start < character || !(end > start) || end > source.length) continue;
    byte += Buffer.byteLength(source.slice(character, start));
    character = start;
    const place = file.shown.placeOf(byte, byte + 1);
    if (place === undefined) continue; // a part of a secret's marker
    for (let at = file.bytes.indexOf(LINE_END, lineByte); at !== -1 && at < place.start; ) {
      line += 1;
      lineByte = at + 1;
      at = file.bytes.indexOf(LINE_END, lineByte);
    }
    const lineStart = source.lastIndexOf("\n", start - 1) + 1;
    const lineEnd = source.indexOf("\n", start);
    const whole = source.slice(lineStart, lineEnd === -1 ? source.length : lineEnd);
    usages.push({
      line,
      column: start - lineStart + 1,
      kind,
      binding,
      ...(from !== undefined && { from: String(from).slice(0, LINE_CHARACTERS_MAX) }),
      ...(isOwn === true && { isOwn }),
      ...(within !== undefined && { within: String(within).slice(0, LINE_CHARACTERS_MAX) }),
      text: whole.trim().slice(0, LINE_CHARACTERS_MAX),
    });
  }
  return usages;
}
