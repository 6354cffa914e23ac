/**
 * Defines the findings of the redactor and replaces them with markers.
 *
 * Offsets are UTF-16 code units of the text that was searched, or byte offsets when bytes were searched.
 *
 * INVARIANT: the findings of one text are sorted and do not overlap, so that replacing them needs no further decision.
 */
import { markerOf } from "./marker.ts";

/**
 * How sure a finding is: `definite` has the form of a secret or is a known one, `probable` stands where secrets stand
 * and looks like one.
 */
export type FindingKind = "definite" | "probable";

/** A secret in a text: from `start` up to, not including, `end`. */
export interface Finding {
  readonly rule: string;
  readonly kind: FindingKind;
  readonly start: number;
  readonly end: number;
}

/** How often a rule has found something. */
export interface RuleCount {
  readonly definite: number;
  readonly probable: number;
}

/** The findings of each rule, counted: complete where a list of them would have to end. */
export type FindingCounts = ReadonlyMap<string, RuleCount>;

/**
 * Joins findings that overlap: the range is their union, the rule that of the better one (definite before probable,
 * then the specific, the longer one, then the earlier one, then the one whose rule's name comes first).
 */
export function mergeFindings(found: readonly Finding[]): readonly Finding[] {
  if (found.length < 2) return found;
  const merging = new Merging();
  merging.add(found, Number.POSITIVE_INFINITY);
  return merging.end();
}

/** The same for findings that come little by little. */
export class Merging {
  readonly #merged: Finding[] = [];
  #waiting: readonly Finding[] = [];
  #chain: Chain | undefined;

  /** Takes `found`; what is found later begins at `from` or after it. */
  add(found: readonly Finding[], from: number): void {
    const sorted = [...this.#waiting, ...found].sort((left, right) => left.start - right.start || right.end - left.end);
    const next = sorted.findIndex(({ start }) => start >= from);
    const settled = next === -1 ? sorted.length : next;
    for (let place = 0; place < settled; place += 1) this.#join(sorted[place] as Finding);
    this.#waiting = sorted.slice(settled);
  }

  #join(finding: Finding): void {
    if (this.#chain && finding.start < this.#chain.end) {
      addToChain(this.#chain, finding);
      return;
    }
    if (this.#chain) this.#merged.push(closeChain(this.#chain));
    this.#chain = startChain(finding);
  }

  /** Everything, sorted and without overlaps. */
  end(): readonly Finding[] {
    this.add([], Number.POSITIVE_INFINITY);
    if (this.#chain) this.#merged.push(closeChain(this.#chain));
    this.#chain = undefined;
    return this.#merged;
  }
}

/** Findings that overlap, joined so far. */
export interface Chain {
  best: Finding;
  start: number;
  end: number;
}

/** A chain of one finding. */
export function startChain(finding: Finding): Chain {
  return { best: finding, start: finding.start, end: finding.end };
}

/** Joins `finding`, which begins no earlier than the chain, to it. */
export function addToChain(chain: Chain, finding: Finding): void {
  chain.start = Math.min(chain.start, finding.start);
  chain.end = Math.max(chain.end, finding.end);
  if (isBetter(finding, chain.best)) chain.best = finding;
}

/** The one finding that a chain is. */
export function closeChain({ best, start, end }: Chain): Finding {
  return best.start === start && best.end === end ? best : { rule: best.rule, kind: best.kind, start, end };
}

/** Rules that know where a secret stands, not whose it is: one that knows more gives the marker its name. */
const GENERAL = new Set([
  "bearer-token",
  "token-header",
  "named-secret",
  "uuid-key",
  "vendor-key",
  "live-key",
  "url-password",
  "url-token",
  "npmrc-auth",
  "command-login",
  "random-token",
]);

function isBetter(finding: Finding, best: Finding): boolean {
  if (finding.kind !== best.kind) return finding.kind === "definite";
  if (GENERAL.has(finding.rule) !== GENERAL.has(best.rule)) return GENERAL.has(best.rule);
  const difference = finding.end - finding.start - (best.end - best.start);
  if (difference !== 0) return difference > 0;
  // whatever was found first
  return finding.start !== best.start ? finding.start < best.start : finding.rule < best.rule;
}

/** `text` with every finding replaced by its marker. */
export function applyMarkers(text: string, findings: readonly Finding[]): string {
  let result = "";
  let at = 0;
  for (const finding of findings) {
    result += text.slice(at, finding.start) + markerFor(text, finding);
    at = finding.end;
  }
  return result + text.slice(at);
}

/**
 * The marker in the encoding that the secret has: one whose characters alternate with null characters is UTF-16 seen as
 * bytes.
 */
export function markerFor(text: string, { rule, start, end }: Finding): string {
  const marker = markerOf(rule);
  if (end - start < 3 || text.charCodeAt(start + 1) !== 0 || text.charCodeAt(start) === 0) return marker;
  return [...marker].join("\0");
}

/** The secret that a value is, or its first line; `undefined` when it is none. */
export type ValueJudge = (value: string) => Finding | undefined;

/**
 * How values of a name that stands apart from them are judged, as members of an object have it; `undefined` when the
 * name promises nothing.
 */
export type NamedJudges = (name: string) => ValueJudge | undefined;
