/**
 * `handrail redact --report <directory>`: where the files of a directory hold secrets, for people and for CI.
 *
 * It looks at every regular file, follows no link, and prints places and rules, never a secret. INVARIANT: what could
 * not be looked at is named and makes the exit code that of a failure, so that no report is clean by what it left out.
 */
import { constants, type Dirent } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { MIB, textOf } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";
import type { openRedactor } from "../../server/operator/redaction.ts";
import { EXIT_FAILURE, EXIT_OK, EXIT_SECRETS_FOUND } from "../terminal/exit-codes.ts";
import { print, printForeignJson, printJson, say, visible } from "../terminal/output.ts";

type Redactor = ReturnType<typeof openRedactor>;

/** Bytes of one file: more are no source, and are named as not looked at. */
const REPORT_FILE_BYTES_MAX = 64 * MIB;
/** Findings that one report lists; more are counted. */
const REPORT_FINDINGS_MAX = 10_000;
/** Milliseconds between two lines that say how far a long run has come. */
const PROGRESS_MS = 2000;
/** Directories of others' objects and packages, in which whoever looks for own secrets does not look. */
const LEFT_OUT = new Set([".git", "node_modules"]);

/** One place of a secret. */
interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly kind: string;
  readonly why: string;
}

/** What was found in a directory. */
interface Report {
  readonly places: Place[];
  readonly unread: { readonly path: string; readonly why: string }[];
  files: number;
  filesWithSecrets: number;
  findings: number;
  bytes: number;
}

/** Reports on `directory`. The exit code: 0 clean, 1 something could not be looked at, 4 secrets were found. */
export async function reportOn(
  directory: string,
  redactor: Redactor,
  flags: { readonly json?: boolean; readonly sarif?: boolean },
): Promise<number> {
  const root = resolve(directory);
  const report: Report = { places: [], unread: [], files: 0, filesWithSecrets: 0, findings: 0, bytes: 0 };
  let toldMs = performance.now();
  for await (const path of filesBelow(root, report)) {
    await lookAt(root, path, { redactor, report });
    if (performance.now() - toldMs < PROGRESS_MS) continue;
    toldMs = performance.now();
    say(`looked at ${report.files} files, ${Math.round(report.bytes / MIB)} MiB; ${report.findings} findings so far`);
  }
  if (flags.sarif) printForeignJson(sarifOf(report));
  else tell(report, flags.json ?? false);
  if (report.unread.length > 0) return EXIT_FAILURE;
  return report.findings > 0 ? EXIT_SECRETS_FOUND : EXIT_OK;
}

/** The regular files below `root` in the order of their names. */
async function* filesBelow(root: string, report: Report): AsyncGenerator<string, void> {
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const entries = await entriesOf(directory, root, report);
    const below: string[] = [];
    for (const entry of entries) {
      const path = join(directory, entry.name);
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) below.push(path);
    }
    waiting.push(...below.reverse());
  }
}

async function entriesOf(directory: string, root: string, { unread }: Report): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    unread.push({ path: relative(root, directory) || ".", why: errorCode(error) });
    return [];
  }
}

async function lookAt(
  root: string,
  path: string,
  { redactor, report }: { readonly redactor: Redactor; readonly report: Report },
): Promise<void> {
  const name = relative(root, path);
  const bytes = await bytesOf(path);
  if (typeof bytes === "string") {
    report.unread.push({ path: name, why: bytes });
    return;
  }
  report.files += 1;
  report.bytes += bytes.byteLength;
  const text = textOf(bytes) ?? bytes.toString("latin1");
  const findings = redactor.find(text);
  if (findings.length === 0) return;
  report.filesWithSecrets += 1;
  report.findings += findings.length;
  let line = 1;
  let lineStart = 0;
  for (const { rule, kind, start } of findings) {
    if (report.places.length >= REPORT_FINDINGS_MAX) return;
    for (let next = text.indexOf("\n", lineStart); next !== -1 && next < start; next = text.indexOf("\n", lineStart)) {
      line += 1;
      lineStart = next + 1;
    }
    const why = redactor.titleOf(rule) ?? "a secret";
    report.places.push({ path: redactor.shownPath(name), line, column: start - lineStart + 1, rule, kind, why });
  }
}

/** The bytes of a regular file, or why there are none; a link or a pipe put in its place meanwhile is not followed. */
async function bytesOf(path: string): Promise<Buffer | string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (!status.isFile()) return "no regular file any more";
      if (status.size > REPORT_FILE_BYTES_MAX) return `larger than ${REPORT_FILE_BYTES_MAX / MIB} MiB`;
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    return errorCode(error);
  }
}

function tell({ places, unread, files, filesWithSecrets, findings }: Report, asJson: boolean): void {
  const unlisted = findings - places.length;
  if (asJson) {
    const problem =
      unread.length > 0
        ? { code: "CHECK_FAILED", message: `${unread.length} files or directories could not be looked at` }
        : findings > 0
          ? { code: "SECRETS_FOUND", message: `${findings} secrets were found` }
          : undefined;
    printJson({ files, files_with_secrets: filesWithSecrets, findings, unlisted, places, unread }, problem);
    return;
  }
  for (const { path, line, column, kind, rule, why } of places)
    print(`${visible(path)}:${line}:${column}  ${kind}  ${rule}  ${why}`);
  if (unlisted > 0) print(`… and ${unlisted} more`);
  for (const { path, why } of unread) say(`not looked at: \`${visible(path)}\` (${why})`);
  print(`${findings === 1 ? "1 finding" : `${findings} findings`} in ${filesWithSecrets} of ${files} files`);
}

/** The report as SARIF 2.1.0, which code hosts show beside the lines. */
function sarifOf({ places, unread }: Report): object {
  const rules = new Map(places.map(({ rule, why }) => [rule, why]));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "handrail",
            rules: [...rules].map(([id, why]) => ({ id, shortDescription: { text: why } })),
          },
        },
        invocations: [
          {
            executionSuccessful: unread.length === 0,
            toolExecutionNotifications: unread.map(({ path, why }) => ({
              level: "error",
              message: { text: `${path}: ${why}` },
            })),
          },
        ],
        results: places.map(({ path, line, column, rule, kind, why }) => ({
          ruleId: rule,
          level: kind === "definite" ? "error" : "warning",
          message: { text: why },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: path.split("/").map(encodeURIComponent).join("/") },
                region: { startLine: line, startColumn: column },
              },
            },
          ],
        })),
      },
    ],
  };
}
