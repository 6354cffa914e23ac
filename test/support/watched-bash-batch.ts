/**
 * A watched bash for many texts: one process reads them one after another, each in a subshell of its own or, where that
 * is too slow, in the same shell. What it would have run is told for each text apart.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid } from "node:process";
import type { Wanted } from "./watched-bash.ts";

/** How the texts are read. */
export interface BatchOptions {
  /** What every program answers. */
  readonly status: 0 | 1;
  /**
   * A subshell for each text; without it they must not change the shell, and `w` is a function, which costs no process.
   */
  readonly apart: boolean;
}

/** Milliseconds that a text may take until a text is given up; what it wanted until then counts. */
const STUCK_MS = 8_000;
/** Milliseconds that what a text left running in the background may go on. */
const LEFT_BEHIND_MS = 300;
/** An account without rights, for the case that the tests run as root. */
const NOBODY = 61_234;
/** Processes that this account may have: a text that starts itself again and again ends there. */
const PROCESSES_MAX = 200;
/** Ends a text that is handed to bash; none can hold it. */
const END = "\0";
/**
 * Between the words that bash writes, and what stands for a line's end there: a clear text holds none of these
 * characters.
 */
const UNIT = "\x1f";
const LINE = "\x1e";
/** One line for a program, written at once: what runs in the background writes at the same time. */
const TELL = [
  `local HANDRAIL_TOLD; builtin printf -v HANDRAIL_TOLD '${UNIT}%s' "$@"`,
  `builtin printf '%s%s\\n' "$HANDRAIL_AT" "\${HANDRAIL_TOLD//$'\\n'/${LINE}}" >&3`,
].join("; ");

/** What bash wants to run for each of `texts`, none of which may hold a null byte. */
export async function wantedByEach(
  texts: readonly string[],
  options: BatchOptions,
): Promise<readonly (readonly Wanted[])[]> {
  const found: Wanted[][] = texts.map(() => []);
  for (let from = 0; from < texts.length; ) {
    const { records, done } = await runFrom(texts.slice(from), options);
    for (const { index, wanted } of records) found[from + index]?.push(wanted);
    from += Math.max(done, 1); // one that ended or held up its shell is passed over
  }
  return found;
}

interface Run {
  readonly records: readonly { readonly index: number; readonly wanted: Wanted }[];
  /** Texts after which the shell came back, and the one that it did not come back from. */
  readonly done: number;
}

function runFrom(texts: readonly string[], options: BatchOptions): Promise<Run> {
  const place = mkdtempSync(join(tmpdir(), "handrail-bash-"));
  const list = join(place, "texts");
  const script = join(place, "script");
  const directory = join(place, "empty");
  mkdirSync(directory);
  writeFileSync(list, texts.map((text) => text + END).join(""));
  writeFileSync(script, scriptFor(texts.length, list, options));
  for (const path of [directory, place]) chmodSync(path, 0o555);
  const nobody = getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn("/bin/bash", ["--norc", "--noprofile", script], {
    ...nobody,
    cwd: directory,
    env: { PATH: "/nonexistent", LANG: "C.UTF-8", FUNCNEST: "30" },
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    detached: true,
  });
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let finished = 0;
    const endAll = () => endGroup(child.pid);
    let timer = setTimeout(endAll, STUCK_MS);
    child.stdio[3]?.on("data", (piece: Buffer) => pieces.push(piece));
    child.stdio[4]?.on("data", (marks: Buffer) => {
      finished += marks.length;
      clearTimeout(timer);
      timer = setTimeout(endAll, STUCK_MS);
    });
    child.on("error", reject);
    child.on("exit", () => setTimeout(endAll, LEFT_BEHIND_MS)); // what it left behind holds the pipes open
    child.on("close", () => {
      clearTimeout(timer);
      chmodSync(place, 0o700);
      rmSync(place, { recursive: true });
      const records = decode(Buffer.concat(pieces).toString("utf8").split("\n"));
      resolve({ records, done: Math.min(finished + 1, texts.length) });
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // nobody is left of its group
  }
}

function scriptFor(count: number, list: string, { status, apart }: BatchOptions): string {
  const tell = (all: string) => `{ ${TELL.replace("$@", all)}; return ${status}; }`;
  const code = `"\${HANDRAIL_TEXTS[HANDRAIL_AT]}"`;
  const run = apart ? `( exec 4>&-; eval ${code} )` : `w() ${tell('w" "$@')}; unset x; eval ${code}`;
  return [
    ...(getuid?.() === 0 ? [`ulimit -u ${PROCESSES_MAX}`] : []),
    `mapfile -d '' -t HANDRAIL_TEXTS <'${list}'`,
    `command_not_found_handle() ${tell("$@")}`,
    ...Array.from({ length: count }, (_, at) => `HANDRAIL_AT=${at}\n${run}\nprintf . >&4`),
    "",
  ].join("\n");
}

function decode(lines: readonly string[]): Run["records"] {
  return lines.slice(0, -1).map((line) => {
    const [index, name = "", ...args] = line.split(UNIT).map((field) => field.replaceAll(LINE, "\n"));
    return { index: Number(index), wanted: [name, ...args] as const };
  });
}
