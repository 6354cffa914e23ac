/**
 * Looks for the secrets of one call in what is long, in slices, before anything asks for them.
 *
 * INVARIANT: who asks for something that was not looked through gets it looked through at once: nothing is taken for
 * clean because nobody looked.
 */
import { inSlices } from "../../base/long-steps.ts";
import type { Finding, KnownSecret, Redactor } from "../../redact/redact.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { AT_ONCE_CHARACTERS_MAX } from "./limits.ts";
import { longTexts } from "./long-texts.ts";

/** Ranges that are made before others may have their turn. */
const RANGES_PER_STEP = 4096;
const WHAT = "looking for secrets";

/** The looks of one call. */
export class Looks {
  readonly #redactor: Redactor;
  readonly #secrets: readonly KnownSecret[];
  /** Most calls ask about no bytes. */
  #hidden: WeakMap<Uint8Array, readonly HiddenRange[]> | undefined;

  constructor(redactor: Redactor, secrets: readonly KnownSecret[]) {
    this.#redactor = redactor;
    this.#secrets = secrets;
  }

  /** The secrets in `bytes`, which stay as they are. */
  hidden(bytes: Uint8Array): readonly HiddenRange[] {
    return (
      this.#hidden?.get(bytes) ?? this.#note(bytes, this.#redactor.find(latin1(bytes), this.#secrets).map(rangeOf))
    );
  }

  /** The same in slices; `undefined` when `bytes` are short. */
  hiddenAhead(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.byteLength <= AT_ONCE_CHARACTERS_MAX || this.#hidden?.has(bytes)) return undefined;
    return inSlices(WHAT, this.#lookForHidden(bytes)).then(() => undefined);
  }

  /** Looks through the texts in `value`, those up to `charactersMax`; `undefined` when they are short together. */
  textsAhead(value: unknown, charactersMax: number): Promise<void> | undefined {
    const texts = longTexts(value, charactersMax);
    return texts.length === 0 ? undefined : inSlices(WHAT, this.#lookThrough(texts)).then(() => undefined);
  }

  *#lookForHidden(bytes: Uint8Array): Generator<void, void> {
    const ranges: HiddenRange[] = [];
    for (const finding of yield* this.#redactor.findInSteps(latin1(bytes), this.#secrets)) {
      ranges.push(rangeOf(finding));
      if (ranges.length % RANGES_PER_STEP === 0) yield;
    }
    this.#note(bytes, ranges);
  }

  *#lookThrough(texts: readonly (string | Uint8Array)[]): Generator<void, void> {
    for (const text of texts) {
      yield;
      yield* this.#redactor.findAhead(typeof text === "string" ? text : latin1(text), this.#secrets);
    }
  }

  #note(bytes: Uint8Array, ranges: readonly HiddenRange[]): readonly HiddenRange[] {
    this.#hidden ??= new WeakMap();
    this.#hidden.set(bytes, ranges);
    return ranges;
  }
}

function rangeOf({ rule, start, end }: Finding): HiddenRange {
  return { start, end, marker: `[REDACTED:${rule}]` };
}

/** Bytes as text: each becomes one code unit, so that offsets are those of bytes and all of them survive. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
