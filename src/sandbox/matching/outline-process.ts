/**
 * Asks the program that outlines code, for one index: several files a question, one question at a time.
 *
 * INVARIANTS: each file gets an outline or none, whatever the program does. A file that ends the program or keeps it
 * too long costs the others nothing but time, which is bounded; the program ends when it is idle, and with the kernel.
 */
import { ownProgram } from "../../names/own-program.ts";
import { Questions } from "../ports/questions.ts";
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
  readonly #program = new Questions<Omit<OutlineRequest, "id">, Pick<OutlineReply, "outlines">>({
    program: ownProgram(import.meta.url, "./code-program.ts"),
    heapMib: HEAP_MIB,
    idleMs: IDLE_MS,
  });

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
    return outlines;
  }

  /** Ends the program. */
  close(): void {
    this.#program.close();
  }

  async #ask(outlined: readonly OutlinedSource[], msMax: number): Promise<OutlineReply["outlines"] | undefined> {
    const reply = await this.#program.ask({ outlined }, msMax);
    return "outlines" in reply ? reply.outlines : undefined;
  }
}
