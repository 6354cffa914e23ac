/** Finds the places of mistakes in files that the operator wrote, and what stands there. */
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { FileProblem } from "../../base/errors.ts";
import { placesIn } from "../../config/files/yaml.ts";
import { createRedactor } from "../../redact/redact.ts";

/** Characters of a line that are shown. */
const SNIPPET_CHARACTERS_MAX = 120;
/** Shown for a line that holds a secret. */
const HIDDEN_LINE = "(hidden: the line holds a secret)";

/** A mistake, and where it is. */
export interface Mistake {
  readonly message: string;
  readonly place: {
    readonly file: string;
    readonly line?: number;
    readonly column?: number;
    readonly snippet?: string;
  };
}

/** The mistakes with their places; names of files that are not absolute are those of files in `directory`. */
export async function placedMistakes(problems: readonly FileProblem[], directory: string): Promise<readonly Mistake[]> {
  return Promise.all(problems.map((problem) => placed(problem, directory)));
}

/** A line `file:line:column: message`, as policies report their problems. */
export async function placedLine(line: string, directory: string): Promise<Mistake> {
  const { file, row, column, message } =
    /^(?<file>.+?):(?<row>\d+):(?<column>\d+): (?<message>.*)$/s.exec(line)?.groups ?? {};
  if (file === undefined || message === undefined) return { message: line, place: { file: directory } };
  return placed({ file, message, line: Number(row), column: Number(column) }, directory);
}

async function placed({ file, message, at, line, column }: FileProblem, directory: string): Promise<Mistake> {
  const path = isAbsolute(file) ? file : join(directory, file);
  const text = textOf(path);
  if (text === undefined) return { message, place: { file: path } };
  const known = line === undefined || column === undefined ? undefined : { line, column };
  const place = known ?? (at === undefined ? undefined : (await placesIn(text, [at]))[0]);
  if (place === undefined) return { message, place: { file: path } };
  return { message, place: { file: path, ...place, snippet: snippetOf(text, place.line) } };
}

/** A file may be gone, or be one that ships with Handrail and is named by its short name. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return undefined;
    throw error;
  }
}

/** The whole text is looked through, because a secret may go over several lines. */
function snippetOf(text: string, line: number): string {
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const shown = lines[line - 1] ?? "";
  const findings = createRedactor().find(text);
  if (findings.some((finding) => finding.start < start + shown.length && finding.end > start)) return HIDDEN_LINE;
  return shown.trim().slice(0, SNIPPET_CHARACTERS_MAX).toWellFormed();
}
