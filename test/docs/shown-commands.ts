/**
 * Runs the commands that a page shows, block by block, as a reader would type them.
 *
 * A block of commands begins with ```` ```sh ````; one that cannot run in a test says why: ```` ```sh not run: REASON
 * ````. A command ends with 0, or as its comment ends with: `# …; exit 4`.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { environmentOf } from "../support/command-line.ts";
import type { Place } from "../support/place.ts";
import { MAIN } from "../support/program.ts";
import { STUCK_MS } from "../support/waiting.ts";
import { type Block, blocksOf, type Page } from "./pages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** A command of a page, and how it ends. */
export interface ShownCommand {
  readonly text: string;
  readonly exitCode: number;
}

/** What a page writes in place of names that only a run knows: each gives the value for its next occurrence. */
export type Placeholders = ReadonlyMap<string | RegExp, () => string>;

/** Blocks of commands, apart from those that say why they are not run. */
export function commandBlocks(page: Page): readonly Block[] {
  return blocksOf(page.text).filter(({ info }) => info === "sh");
}

/** Blocks of commands that are not run. */
export function unrunBlocks(page: Page): readonly Block[] {
  return blocksOf(page.text).filter(({ info }) => info.startsWith("sh not run:"));
}

/** The commands of a block: lines that end in `\` go on, comments are no commands. */
export function commandsOf({ text }: Block): readonly ShownCommand[] {
  return text
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, command = line, comment = ""] = /^(.*?)(?:\s+# (.*))?$/.exec(line) ?? [];
      return { text: command, exitCode: Number(/; exit (\d+)$/.exec(comment)?.[1] ?? 0) };
    });
}

/**
 * Makes the place a checkout as far as pages need one: `./handrail`, `handrail`, the README, the examples, and what
 * `npx` runs.
 */
export function likeCheckout(place: Place): void {
  const launcher = `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${MAIN}' "$@"\n`;
  for (const directory of [place.workspace, join(place.base, "bin")]) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "handrail"), launcher);
    chmodSync(join(directory, "handrail"), 0o755);
  }
  cpSync(join(ROOT, "README.md"), join(place.workspace, "README.md"));
  cpSync(join(ROOT, "examples/service"), join(place.workspace, "examples/service"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(place.workspace, "node_modules"));
}

/**
 * Runs a block in one shell and stops at the first command that ends otherwise than shown. Returns what was wrong with
 * it.
 */
export async function runBlock(
  place: Place,
  block: Block,
  placeholders: Placeholders = new Map(),
): Promise<readonly string[]> {
  const script = commandsOf(block).map((command, index) =>
    checked(filled(command.text, placeholders), command.exitCode, index),
  );
  const environment = environmentOf(place);
  const environmentOfReader = { ...environment, PATH: `${join(place.base, "bin")}:${environment["PATH"]}` };
  const all = ["trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT", ...script].join("\n");
  try {
    await promisify(execFile)("bash", ["-c", all], {
      cwd: place.workspace,
      env: environmentOfReader,
      timeout: STUCK_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    return [];
  } catch (error) {
    const { stderr, stdout, message } = error as {
      readonly stderr?: string;
      readonly stdout?: string;
      readonly message: string;
    };
    return [`line ${block.line}: ${(stderr ?? message).trim()}\n${(stdout ?? "").slice(-2000)}`];
  }
}

/**
 * The command, and after it what ends the script where it ended otherwise. One in the background is given time to
 * listen.
 */
function checked(text: string, exitCode: number, index: number): string {
  if (text.trimEnd().endsWith("&")) return `${text}\n${waitForPort(text)}`;
  const said = `command ${index + 1} (${text}) ended with $code and not with ${exitCode}`.replace(
    /["`\\]|\$(?!code)/g,
    "\\$&",
  );
  return `${text}\ncode=$?\nif [ $code -ne ${exitCode} ]; then echo "${said}" >&2; exit 99; fi`;
}

function waitForPort(text: string): string {
  const port = /127\.0\.0\.1:(\d+)/.exec(text)?.[1];
  if (port === undefined) return "sleep 1";
  return `for try in $(seq 300); do (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && break; sleep 0.1; done`;
}

function filled(text: string, placeholders: Placeholders): string {
  let result = text;
  for (const [name, next] of placeholders) result = result.replace(name, () => next());
  return result;
}
