/**
 * Secrets in the files of a batch: looked for where something was found, so that a search costs no more where nothing was.
 *
 * Trusts: whoever says what is secret. INVARIANTS: a file in which something is found is looked at before that is shown or
 * counted; one that cannot be looked at any more shows nothing.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HiddenRange } from "../../model/tool.ts";
import { contentsOf } from "./contents.ts";
import type { BatchFiles, ThreadMatch } from "./messages.ts";

/** Says which bytes are secret. */
export type HiddenIn = (bytes: Uint8Array) => readonly HiddenRange[];

/** Bytes looked at after which other calls get their turn. */
const BYTES_PER_TURN = 1024 * 1024;
const EVERYTHING: readonly HiddenRange[] = [{ start: 0, end: Number.MAX_SAFE_INTEGER, marker: "" }];

/** What is known about the secrets of one batch. */
export class HiddenInBatch {
  readonly #batch: BatchFiles;
  readonly #hiddenIn: HiddenIn | undefined;
  readonly #lookedAt = new Set<number>();
  readonly #ranges = new Map<number, readonly HiddenRange[]>();

  constructor(batch: BatchFiles, hiddenIn: HiddenIn | undefined) {
    this.#batch = batch;
    this.#hiddenIn = hiddenIn;
  }

  /** By file, for those that have secrets. */
  get ranges(): ReadonlyMap<number, readonly HiddenRange[]> {
    return this.#ranges;
  }

  /** Looks at the files in which something was found; whether one has secrets that were not known before. */
  async lookAt(matches: readonly Pick<ThreadMatch, "index">[]): Promise<boolean> {
    const before = this.#ranges.size;
    let bytes = 0;
    for (const { index } of matches) {
      if (this.#hiddenIn === undefined || this.#lookedAt.has(index)) continue;
      this.#lookedAt.add(index);
      const contents = contentsOf(this.#batch.directories[index] ?? -1, this.#batch.names[index] ?? "");
      const ranges = typeof contents === "string" ? EVERYTHING : this.#hiddenIn(contents);
      if (ranges.length > 0) this.#ranges.set(index, ranges);
      bytes += contents.length;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
    return this.#ranges.size > before;
  }
}
