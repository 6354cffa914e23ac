/** `handrail redact`: hide the secrets of a text, or say where they are and why they count as secrets. */
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { MIB, textOf } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import { operatorPath, readOperatorDirectory } from "../../server/operator/operator-directory.ts";
import { withoutControls } from "../../text/foreign-text.ts";
import { EXIT_OK, EXIT_SECRETS_FOUND } from "../terminal/exit-codes.ts";
import { letReaderGo } from "../terminal/gone-reader.ts";
import { readStandardInput } from "../terminal/inputs.ts";
import { print, printJson, printProblem } from "../terminal/output.ts";

/** Bytes that `handrail redact` takes from standard input: findings are listed with their place in all of it. */
const REDACTION_INPUT_BYTES_MAX = 256 * MIB;

interface RedactFlags {
  readonly config?: string;
  readonly explain?: boolean;
  readonly json?: boolean;
  readonly report?: string;
  readonly sarif?: boolean;
  readonly environment: boolean;
}

/** Adds `handrail redact`. */
export function addRedactCommand(program: Command): void {
  program
    .command("redact")
    .description(
      "hide the secrets of what comes on standard input; with --explain list them instead, exit 4 if there are any",
    )
    .option("--explain", "list where secrets are and why, never the secrets themselves")
    .option("--json", "print JSON: with --explain a line for each finding")
    .option("--report <directory>", "list where the files of a directory hold secrets; exit 4 if any does")
    .option("--sarif", "print the report as SARIF 2.1.0")
    .option("--config <directory>", "operator directory, for own rules and allowances")
    .option("--no-environment", "do not look for the values of this environment")
    .action(async (flags: RedactFlags) => {
      process.exitCode = await redact(flags);
    });
}

type Redactor = ReturnType<typeof import("../../server/operator/redaction.ts")["openRedactor"]>;

async function redact(flags: RedactFlags): Promise<number> {
  if (flags.sarif && flags.report === undefined)
    throw usageError("`--sarif` says how a report is printed: name a directory with `--report`");
  const redactor = await open(flags);
  if (flags.report !== undefined) {
    const { reportOn } = await import("./redact-report.ts");
    return reportOn(flags.report, redactor, flags);
  }
  if (flags.explain) return explain(redactor, flags);
  if (!flags.json) return pass(redactor);
  const { text } = await input();
  const redacted = redactor.redact(text);
  printJson({ text: redacted.text, findings: redacted.findings });
  return EXIT_OK;
}

async function open(flags: RedactFlags): Promise<Redactor> {
  const { openRedactor } = await import("../../server/operator/redaction.ts");
  const path = flags.config === undefined ? operatorPath(process.env) : resolve(flags.config);
  const { settings } = await readOperatorDirectory(path);
  const name = join(path, "handrail.yaml");
  return openRedactor(settings.redaction, flags.environment ? process.env : {}, { name });
}

/** Bytes go through as they come, of any number. */
async function pass(redactor: Redactor): Promise<number> {
  const stream = redactor.byteStream();
  const shown = process.stdout.isTTY ? screenForm() : (bytes: Uint8Array) => bytes;
  try {
    for await (const piece of process.stdin) await write(shown(stream.push(piece as Buffer)));
    await write(shown(stream.end()));
  } catch (error) {
    letReaderGo(error); // the rest is for nobody
  }
  return EXIT_OK;
}

/** A terminal gets text in which nothing moves its cursor; a file or pipe the bytes. */
function screenForm(): (bytes: Uint8Array) => Uint8Array {
  const decoder = new TextDecoder();
  return (bytes) => Buffer.from(withoutControls(decoder.decode(bytes, { stream: true })));
}

function write(bytes: Uint8Array): Promise<void> {
  if (bytes.byteLength === 0) return Promise.resolve();
  return new Promise((done, fail) => {
    process.stdout.write(bytes, (error) => (error ? fail(error) : done()));
  });
}

/** Standard input as text; what is no UTF-8 is taken byte by byte, and offsets count bytes then. */
async function input(): Promise<{ readonly text: string; readonly unit: "characters" | "bytes" }> {
  const bytes = await readStandardInput(REDACTION_INPUT_BYTES_MAX);
  const text = textOf(bytes);
  return text === undefined ? { text: bytes.toString("latin1"), unit: "bytes" } : { text, unit: "characters" };
}

async function explain(redactor: Redactor, flags: RedactFlags): Promise<number> {
  const { text, unit } = await input();
  const findings = redactor.find(text);
  let line = 1;
  let lineStart = 0;
  for (const { rule, kind, start, end } of findings) {
    for (let next = text.indexOf("\n", lineStart); next !== -1 && next < start; next = text.indexOf("\n", lineStart)) {
      line += 1;
      lineStart = next + 1;
    }
    const column = start - lineStart + 1;
    const why = redactor.titleOf(rule) ?? "a secret";
    if (flags.json) printJson({ rule, kind, start, end, line, column, unit, why });
    else print(`${line}:${column}  ${kind}  ${rule}  ${end - start} ${unit} from ${start}: ${why}`);
  }
  if (findings.length === 0 && !flags.json) print("no secrets were found");
  if (findings.length === 0) return EXIT_OK;
  if (flags.json) printProblem({ code: "SECRETS_FOUND", message: `${findings.length} secrets were found` });
  return EXIT_SECRETS_FOUND;
}
