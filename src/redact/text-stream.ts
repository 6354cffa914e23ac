/**
 * Redaction of text and bytes that come in pieces.
 *
 * Keywords are found as the pieces come; what stands at one is looked at once all the text that matters is there. Text
 * leaves as soon as no secret can begin in it any more. INVARIANTS: the output is that of the whole text, however it
 * was cut; what is held back is bounded by the longest reach of a rule whose keyword stands there, and is nothing but
 * the beginning of a keyword otherwise; no text is looked at twice for the same keyword.
 */

import type { FreeStandingSearch } from "./kinds/free-standing.ts";
import {
  addToChain,
  type Chain,
  closeChain,
  type Finding,
  type FindingCounts,
  type RuleCount,
  startChain,
} from "./search/finding.ts";
import { markerOf } from "./search/marker.ts";
import {
  addFound,
  emptyMemo,
  MATCHER_BEHIND_MAX,
  mapFound,
  type OpenedText,
  type ScanMemo,
  type Trigger,
} from "./search/matcher.ts";
import { openAt, type TriggerTable, verify } from "./search/scan.ts";

/** Findings that one stream lists; more are replaced all the same. */
export const REDACTION_FINDINGS_KEPT_MAX = 10_000;

/** A keyword that was met and not looked at yet. */
interface Candidate {
  readonly trigger: Trigger;
  /** Where its last character stands, counted from the beginning of the stream. */
  readonly index: number;
  /** The text must reach until here. */
  readonly needs: number;
  /** A finding can begin no earlier. */
  readonly earliest: number;
}

const LINE_FEED = 10;
const ASCII = 128;
const NONE: RuleCount = { definite: 0, probable: 0 };
const KEPT_BEFORE = 2 * MATCHER_BEHIND_MAX + 16;

/** The part of a stream that is wanted; what stands around it is searched and does not leave. */
export interface StreamWindow {
  readonly start: number;
  readonly end: number;
}

const EVERYTHING: StreamWindow = { start: 0, end: Number.POSITIVE_INFINITY };

/** What a stream does beside its tables. */
export interface StreamOptions {
  readonly window?: StreamWindow;
  /** Searches for tokens without a name. */
  readonly free?: FreeStandingSearch | undefined;
}

/** One stream of text on its way out. */
export class TextRedactionStream {
  readonly #tables: readonly TriggerTable[];
  readonly #window: StreamWindow;
  readonly #states: number[];
  readonly #queues = new Map<number, Candidate[]>();
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<string, RuleCount>();
  #waiting: Finding[] = [];
  /** What goes on below the lines of keywords, and where to read on, counted from the beginning of the stream. */
  #opened: OpenedText[] = [];
  #text = "";
  /** Where `#text` begins, counted from the beginning of the stream. */
  #base = 0;
  #emitted = 0;
  #chain: (Chain & { readonly interleaved: boolean }) | undefined;
  readonly #free: FreeStandingSearch | undefined;
  /** Where the search for tokens without a name goes on, counted from the beginning of the stream. */
  #freeFrom = 0;
  #freeInside = false;

  constructor(tables: readonly TriggerTable[], { window = EVERYTHING, free }: StreamOptions = {}) {
    this.#tables = tables;
    this.#window = window;
    this.#free = free;
    this.#states = tables.map(() => 0);
  }

  /** What may leave once `piece` has come. */
  push(piece: string): string {
    this.#text += piece;
    for (const [index, table] of this.#tables.entries()) this.#scan(index, table, piece);
    return this.#settle(false);
  }

  /** What was held back; the stream is over. */
  end(): string {
    return this.#settle(true);
  }

  /** What was found in the text that has left; the first ones, if there were very many. */
  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** How often each rule has found something in that text. */
  get counts(): FindingCounts {
    return this.#counts;
  }

  /** Notes the keywords in `piece`, with which the text ends. */
  #scan(number: number, table: TriggerTable, piece: string): void {
    const at = this.#base + this.#text.length - piece.length;
    const { next, classes, shift, accepting, outputStarts, outputs } = table.automaton;
    let state = this.#states[number] ?? 0;
    for (let index = 0; index < piece.length; index += 1) {
      const code = piece.charCodeAt(index);
      state = next[(state << shift) | (code < ASCII ? (classes[code] ?? 0) : 0)] ?? 0;
      if (state < accepting || code === 0) continue;
      const entry = state - accepting;
      const last = outputStarts[entry + 1] ?? 0;
      for (let place = outputStarts[entry] ?? 0; place < last; place += 1)
        this.#enqueue(table.triggers[outputs[place] ?? 0], at + index);
    }
    this.#states[number] = state;
  }

  #enqueue(trigger: Trigger | undefined, index: number): void {
    if (!trigger) return;
    const { keyword, matcher } = trigger;
    // Text in UTF-16 that is seen as bytes takes twice the room.
    const spread = this.#text.charCodeAt(index - 1 - this.#base) === 0 ? 2 : 1;
    const start = index + 1 - spread * keyword.length;
    const needs = start + spread * matcher.reach;
    const candidate = { trigger, index, needs, earliest: start - spread * (matcher.back ?? 0) };
    const queue = this.#queues.get(matcher.reach * spread);
    if (queue) queue.push(candidate);
    else this.#queues.set(matcher.reach * spread, [candidate]);
  }

  #settle(isLast: boolean): string {
    const end = this.#base + this.#text.length;
    let safe = isLast ? end : this.#frontier(end);
    const memo = emptyMemo(this.#text);
    for (const queue of this.#queues.values()) {
      let done = 0;
      for (const candidate of queue) {
        if (candidate.needs > end && !isLast && !this.#isDecided(candidate)) break;
        this.#look(candidate, memo);
        done += 1;
      }
      queue.splice(0, done);
      for (const { earliest } of queue) safe = Math.min(safe, earliest);
    }
    safe = Math.min(safe, this.#readOpened(isLast), this.#lookForTokens(isLast));
    const output = this.#emit(Math.max(safe, this.#emitted), isLast);
    // What a secret that is still growing has covered will not leave: only what may be looked at again is kept.
    const keep = Math.min(this.#chain?.end ?? this.#emitted, safe) - KEPT_BEFORE;
    if (keep > this.#base) {
      this.#text = this.#text.slice(keep - this.#base);
      this.#base = keep;
    }
    return output;
  }

  /** Searches for tokens without a name; one that is undecided yet begins no earlier than what is returned. */
  #lookForTokens(isWhole: boolean): number {
    const end = this.#base + this.#text.length;
    if (!this.#free) return end;
    const at = { from: this.#freeFrom - this.#base, isInside: this.#freeInside, isWhole };
    const { found, from, isInside } = this.#free(this.#text, at);
    this.#wait(found);
    this.#freeFrom = from + this.#base;
    this.#freeInside = isInside;
    return this.#freeFrom;
  }

  /** Reads on in what was opened; a line of it that has not come whole begins no earlier than what is returned. */
  #readOpened(isWhole: boolean): number {
    let safe = this.#base + this.#text.length;
    for (const { from, read } of this.#opened.splice(0)) {
      const part = read(this.#text, { from: from - this.#base, until: this.#text.length, isWhole });
      this.#wait(part.found);
      if (part.from === undefined) continue;
      const next = part.from + this.#base;
      this.#opened.push({ from: next, read });
      safe = Math.min(safe, next);
    }
    return safe;
  }

  /** Keeps what was found in the text that is here until it leaves. */
  #wait(found: readonly Finding[]): void {
    for (const each of found)
      this.#waiting.push({ ...each, start: each.start + this.#base, end: each.end + this.#base });
  }

  #look({ trigger, index }: Candidate, memo: ScanMemo): void {
    const opened = openAt(trigger, memo, index - this.#base);
    if (opened) this.#opened.push({ ...opened, from: opened.from + this.#base });
    const found = verify(trigger, memo, index - this.#base);
    const moved = mapFound(found, (each) => ({
      ...each,
      start: each.start + this.#base,
      end: each.end + this.#base,
    }));
    addFound(this.#waiting, moved);
  }

  /** Whether a matcher that looks no further than the end of its line has all of it. */
  #isDecided({ trigger, index }: Candidate): boolean {
    return trigger.matcher.endsWithLine === true && this.#text.includes("\n", index - this.#base);
  }

  /**
   * No secret whose keyword has not come whole yet can begin before this. Text in UTF-16 seen as bytes takes twice the
   * room.
   */
  #frontier(end: number): number {
    let hold = 0;
    for (const [number, { automaton, backInLine, backAnywhere }] of this.#tables.entries()) {
      const begun = automaton.depths[this.#states[number] ?? 0] ?? 0;
      const back = backAnywhere > 0 ? begun + backAnywhere : begun;
      hold = Math.max(hold, 2 * back, backInLine > 0 ? this.#lengthOfLastLine(2 * (begun + backInLine)) : 0);
    }
    return end - hold;
  }

  #lengthOfLastLine(max: number): number {
    let length = 0;
    while (
      length < max &&
      length < this.#text.length &&
      this.#text.charCodeAt(this.#text.length - 1 - length) !== LINE_FEED
    )
      length += 1;
    return length;
  }

  #emit(safe: number, isLast: boolean): string {
    let output = "";
    this.#waiting.sort((left, right) => left.start - right.start || right.end - left.end);
    let taken = 0;
    for (const finding of this.#waiting) {
      if (finding.start >= safe && !isLast) break;
      taken += 1;
      if (this.#chain && finding.start < this.#chain.end) addToChain(this.#chain, finding);
      else {
        output += this.#closeChain() + this.#plain(finding.start);
        this.#chain = { ...startChain(finding), interleaved: this.#isInterleaved(finding) };
      }
    }
    this.#waiting = this.#waiting.slice(taken);
    if (this.#chain && (isLast || this.#chain.end <= safe)) output += this.#closeChain();
    return this.#chain ? output : output + this.#plain(safe);
  }

  /** The marker of the secret that is complete now. */
  #closeChain(): string {
    if (!this.#chain) return "";
    const finding = closeChain(this.#chain);
    const isWanted = finding.start < this.#window.end && finding.end > this.#window.start;
    if (!isWanted) {
      this.#emitted = this.#chain.end;
      this.#chain = undefined;
      return "";
    }
    const marker = this.#chain.interleaved ? [...markerOf(finding.rule)].join("\0") : markerOf(finding.rule);
    if (this.#findings.length < REDACTION_FINDINGS_KEPT_MAX) this.#findings.push(finding);
    const { definite, probable } = this.#counts.get(finding.rule) ?? NONE;
    const isDefinite = finding.kind === "definite";
    this.#counts.set(
      finding.rule,
      isDefinite ? { definite: definite + 1, probable } : { definite, probable: probable + 1 },
    );
    this.#emitted = this.#chain.end;
    this.#chain = undefined;
    return marker;
  }

  #isInterleaved({ start, end }: Finding): boolean {
    const at = start - this.#base;
    return end - start >= 3 && this.#text.charCodeAt(at) !== 0 && this.#text.charCodeAt(at + 1) === 0;
  }

  /** The text that has not left yet, up to `end`. */
  #plain(end: number): string {
    if (end <= this.#emitted) return "";
    const from = Math.max(this.#emitted, this.#window.start);
    const to = Math.min(end, this.#window.end);
    this.#emitted = end;
    return from < to ? this.#text.slice(from - this.#base, to - this.#base) : "";
  }
}

/** The same for bytes: each is one code unit, so bytes that are no text come out as they went in. */
export class ByteRedactionStream {
  readonly #stream: TextRedactionStream;

  constructor(tables: readonly TriggerTable[], options?: StreamOptions) {
    this.#stream = new TextRedactionStream(tables, options);
  }

  /** What may leave once `bytes` have come. */
  push(bytes: Uint8Array): Uint8Array {
    return Buffer.from(
      this.#stream.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")),
      "latin1",
    );
  }

  /** What was held back; the stream is over. */
  end(): Uint8Array {
    return Buffer.from(this.#stream.end(), "latin1");
  }

  /** What was found in the bytes that have left; offsets count bytes. */
  get findings(): readonly Finding[] {
    return this.#stream.findings;
  }

  /** How often each rule has found something in those bytes. */
  get counts(): FindingCounts {
    return this.#stream.counts;
  }
}
