/**
 * Runs the program that outlines code, for one index: several files a question, one question at a time.
 *
 * INVARIANTS: each file gets an outline or none, whatever the program does. A file that ends the program or keeps it
 * too long costs the others nothing but time, which is bounded; the program ends when it is idle, and with the kernel.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ownProgram } from "../../names/own-program.ts";
import { languageOf } from "./languages.ts";
import type { OutlinedSource, OutlineNode, OutlineReply, OutlineRequest } from "./outline-messages.ts";

/** Milliseconds for several files, the start of the program included, and for one file that is tried alone. */
const FILES_MS_MAX = 10_000;
const FILE_MS_MAX = 5000;
/** Files of one question that may fail alone; those after them get no outline. */
const FAILED_MAX = 3;
/** Milliseconds after which a program that had nothing to do is ended. */
const IDLE_MS = 5000;
/** Mebibytes of the program's heap. */
const HEAP_MIB = 128;

/** A file by its name and text. */
export interface FileText {
  readonly path: string;
  readonly text: string;
}

/** Outlines code by a program of its own. Not to be asked again before it has answered. */
export class Outliner {
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  /** An outline for each file, in their order; none where no parser knows it or its parser failed. */
  async outlines(files: readonly FileText[]): Promise<readonly (OutlineNode | undefined)[]> {
    const outlines: (OutlineNode | undefined)[] = files.map(() => undefined);
    const known = files.flatMap(({ path, text }, index) => {
      const language = languageOf(path, undefined);
      if (language === undefined || language.wrap !== undefined) return [];
      const { name, parser } = language;
      return [{ index, outlined: { language: { name, ...(parser !== undefined && { parser }) }, source: text } }];
    });
    if (known.length === 0) return outlines;
    const all = await this.#ask(
      known.map(({ outlined }) => outlined),
      FILES_MS_MAX,
    );
    let failed = 0;
    for (const [at, { index, outlined }] of known.entries()) {
      if (all !== undefined) outlines[index] = all[at] ?? undefined;
      else if (failed < FAILED_MAX) {
        const alone = await this.#ask([outlined], FILE_MS_MAX);
        if (alone === undefined) failed += 1;
        outlines[index] = alone?.[0] ?? undefined;
      }
    }
    this.#rest();
    return outlines;
  }

  /** Ends the program. */
  close(): void {
    clearTimeout(this.#idle);
    if (this.#child !== undefined) this.#end(this.#child);
  }

  #ask(outlined: readonly OutlinedSource[], msMax: number): Promise<OutlineReply["outlines"] | undefined> {
    clearTimeout(this.#idle);
    const id = this.#nextId++;
    this.#child ??= this.#start();
    const program = this.#child;
    return new Promise((resolve) => {
      const settle = (outlines: OutlineReply["outlines"] | undefined) => {
        clearTimeout(timer);
        program.off("message", onMessage).off("exit", giveUp).off("error", giveUp);
        resolve(outlines);
      };
      const giveUp = () => {
        this.#end(program);
        settle(undefined);
      };
      const onMessage = (reply: OutlineReply) => {
        if (reply.id === id) settle(reply.outlines);
      };
      const timer = setTimeout(giveUp, msMax);
      program.on("message", onMessage).on("exit", giveUp).on("error", giveUp);
      program.send({ id, outlined } satisfies OutlineRequest, (error) => {
        if (error) giveUp();
      });
    });
  }

  #start(): ChildProcess {
    const program = fork(fileURLToPath(ownProgram(import.meta.url, "./code-program.ts")), {
      env: {},
      cwd: "/",
      execArgv: [`--max-old-space-size=${HEAP_MIB}`, "--disable-warning=ExperimentalWarning"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    program.on("error", () => this.#end(program)).on("exit", () => this.#end(program));
    program.unref();
    program.channel?.unref();
    return program;
  }

  #end(program: ChildProcess): void {
    if (this.#child === program) this.#child = undefined;
    program.kill("SIGKILL");
  }

  #rest(): void {
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }
}
