/**
 * Finds the secrets in the files of a search batch.
 *
 * They are looked for only where something was found, so that a search costs no more where nothing was. The module
 * trusts whoever says what is secret.
 *
 * INVARIANTS: a file in which something is found is looked at before that is shown or counted. A file that cannot be
 * looked at any more is left out, and counted as left out. If the machine merely has no descriptor for it now, that
 * says nothing of the file: then the search fails, because its answer would leave out what is there.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HiddenRange } from "../../../text/hidden-range.ts";
import type { BatchFiles, ThreadMatch, WorkResult } from "../pattern/messages.ts";
import { contentsOf, type SkipReason } from "./contents.ts";

/** Says which bytes are secret; of long ones it says so once others have had their turn. */
export type HiddenIn = (bytes: Uint8Array) => readonly HiddenRange[] | Promise<readonly HiddenRange[]>;

/** Bytes looked at after which other calls get their turn. */
const BYTES_PER_TURN = 1024 * 1024;

/** What came of looking: something that was not known before, nothing of the kind, or no way to look. */
export type Look = { readonly kind: "learned" | "settled" } | Extract<WorkResult, { kind: "busy" }>;

/** What is known about the secrets of one batch. */
export class HiddenInBatch {
  readonly #batch: BatchFiles;
  readonly #hiddenIn: HiddenIn | undefined;
  readonly #lookedAt = new Set<number>();
  readonly #ranges = new Map<number, readonly HiddenRange[]>();
  readonly #leftOut = new Map<number, SkipReason>();

  constructor(batch: BatchFiles, hiddenIn: HiddenIn | undefined) {
    this.#batch = batch;
    this.#hiddenIn = hiddenIn;
  }

  /** The batch as far as its secrets are known. */
  get files(): BatchFiles {
    return { ...this.#batch, hidden: this.#ranges, leftOut: this.#leftOut };
  }

  /** Looks at the files in which something was found. */
  async lookAt(matches: readonly Pick<ThreadMatch, "index">[]): Promise<Look> {
    const before = this.#ranges.size + this.#leftOut.size;
    let bytes = 0;
    for (const { index } of matches) {
      if (this.#hiddenIn === undefined || this.#lookedAt.has(index)) continue;
      this.#lookedAt.add(index);
      const contents = contentsOf(this.#batch.directories[index] ?? -1, this.#batch.names[index] ?? "");
      if (contents === "busy") return { kind: "busy", index };
      if (typeof contents === "string") {
        this.#leftOut.set(index, contents);
        continue;
      }
      const found = this.#hiddenIn(contents);
      const ranges = found instanceof Promise ? await found : found;
      if (ranges.length > 0) this.#ranges.set(index, ranges);
      bytes += contents.length;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
    return { kind: this.#ranges.size + this.#leftOut.size > before ? "learned" : "settled" };
  }
}
