/**
 * Redaction of one call: whatever leaves the kernel for its sake goes through here, and what was found is counted.
 *
 * Decides: nothing; the redactor does. INVARIANTS: values that hold no secret come back as the very same objects;
 * member names are redacted too, and none is lost; what was counted never names a secret.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Shapes } from "../../base/shapes.ts";
import type { FoundSecrets } from "../../flow/labels.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { Excerpt, Window } from "../../model/tool/tool.ts";
import type {
  ByteRedactionStream,
  Finding,
  FindingCounts,
  KnownSecret,
  Redactor,
  ValueJudge,
} from "../../redact/redact.ts";
import type { HiddenRange } from "../../text/hidden-range.ts";
import { decodedRun, NUMBERED, NUMBERED_ROUNDS_MAX, NUMBERED_RUN } from "../../text/numbered-runs.ts";
import { secretsInArguments } from "./argument-secrets.ts";
import { hideInCommand } from "./command-words.ts";
import { FoundValues } from "./found-values.ts";
import { CLEAN_NAMES_MAX, NAME_CHARACTERS_MAX, namesOf } from "./known-names.ts";
import { LAST_CHARACTERS_MAX, REFUSAL_TEXT_CHARACTERS_MAX, SHORT } from "./limits.ts";
import { Looks, latin1 } from "./looks.ts";
import { entriesBefore, hasDefinite, type Measured, nameBeside, uniqueName } from "./members.ts";
import { excerptText, partOf } from "./shown-excerpt.ts";

const NONE: readonly KnownSecret[] = [];

/** The redaction of one call. */
export class CallRedaction {
  readonly #redactor: Redactor;
  readonly #secrets: readonly KnownSecret[];
  /** Short texts in which nothing is: names of members, tools and kinds come again with every call. */
  readonly #clean: Set<string>;
  /** How values are judged by short names of their members. */
  readonly #judges: Map<string, ValueJudge | undefined>;
  /** How all members of an object are judged, where nothing is in their names. */
  readonly #shapes: Shapes<readonly (ValueJudge | undefined)[]> | undefined;
  /** Most calls have no findings. */
  #rules: Map<string, number> | undefined;
  /**
   * The last longer text of the call in which nothing was: its path stands in its result, its accesses and its
   * arguments.
   */
  #lastClean = "";
  #definite = 0;
  #probable = 0;
  readonly #looks: Looks;
  /** Made with the first finding. */
  #values: FoundValues | undefined;

  /** Likely secrets of the arguments by value, hidden in words and facts alone: they decide nothing. */
  readonly #likely: readonly KnownSecret[];

  constructor(redactor: Redactor, secrets: readonly KnownSecret[] = NONE, likely: readonly KnownSecret[] = NONE) {
    this.#redactor = redactor;
    this.#secrets = secrets;
    this.#likely = likely;
    this.#looks = new Looks(redactor, secrets);
    const known = namesOf(redactor);
    const isKnown = [...secrets, ...likely].every(({ value }) => value.length > NAME_CHARACTERS_MAX);
    this.#clean = isKnown ? known.clean : new Set();
    this.#judges = known.judges;
    this.#shapes = isKnown ? known.shapes : undefined;
  }

  /** What hides the secrets. */
  get by(): Redactor {
    return this.#redactor;
  }

  /** Names the rules that are in force for the call. */
  digest(key: Uint8Array): string {
    return this.#redactor.digest(key);
  }

  /** The redaction of the same call, once more of its secrets are known. */
  hiding(secrets: readonly KnownSecret[]): CallRedaction {
    return new CallRedaction(this.#redactor, secrets);
  }

  /** The redaction of the same call, which knows these secrets as well; nothing may have been counted yet. */
  also(secrets: readonly KnownSecret[]): CallRedaction {
    if (secrets.length === 0) return this;
    return new CallRedaction(this.#redactor, [...this.#secrets, ...secrets], this.#likely);
  }

  /** The redaction of the same call, which knows the secrets in its arguments. */
  knowing(args: Readonly<Record<string, unknown>>): CallRedaction {
    const { definite, likely } = secretsInArguments(args, {
      redactor: this.#redactor,
      known: this.#secrets,
      judgeOf: (object, member) => this.#judgeOf(object, member),
      isClean: (text) => this.#isClean(text),
      noteClean: (text) => {
        if (text.length > NAME_CHARACTERS_MAX && text.length <= LAST_CHARACTERS_MAX) this.#lastClean = text;
      },
    });
    if (definite.size + likely.size === 0) return this;
    return new CallRedaction(this.#redactor, [...this.#secrets, ...definite.values()], [...likely.values()]);
  }

  /** Only short texts are kept, and looking a long one up would read all of it. */
  #isClean(text: string): boolean {
    return text.length <= NAME_CHARACTERS_MAX ? this.#clean.has(text) : text === this.#lastClean;
  }

  /** What was found in what left, all of it hidden. */
  get found(): FoundSecrets {
    return { definite: this.#definite, probable: this.#probable };
  }

  /** How often each rule has found something, by rule name. */
  get rules(): Readonly<Record<string, number>> {
    return Object.fromEntries([...(this.#rules ?? [])].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** Values of the answer that are secrets for certain. */
  get definiteValues(): readonly KnownSecret[] {
    return this.#values?.definite ?? NONE;
  }

  /** A text without its secrets. */
  text(text: string): string {
    const redacted = this.#redactor.redact(text, this.#secrets);
    this.take(redacted.findings);
    return this.#withoutLikely(redacted.text);
  }

  /** The text, decoded where characters written by their numbers hide a secret: `%41%4b…`. */
  #withoutNumbered(text: string): string {
    let plain = text;
    for (let round = 0; round < NUMBERED_ROUNDS_MAX && NUMBERED.test(plain); round += 1) {
      plain = plain.replace(NUMBERED_RUN, decodedRun);
      const shown = this.#withoutLikely(this.#redactor.redact(plain, this.#secrets).text);
      if (shown !== plain) return shown;
    }
    return text;
  }

  #withoutLikely(text: string): string {
    return this.#likely.length === 0 ? text : this.#redactor.redact(text, this.#likely).text;
  }

  /** Text of a refusal or failure: without secrets, and no longer than such texts are. */
  words(text: string): string {
    const clean = this.#withoutNumbered(this.text(text));
    return clean.length <= REFUSAL_TEXT_CHARACTERS_MAX
      ? clean
      : `${clean.slice(0, REFUSAL_TEXT_CHARACTERS_MAX - 1).toWellFormed()}…`;
  }

  /** Bytes without their secrets: all of them, or the part of them that `window` names. */
  bytes(bytes: Uint8Array, window?: Window): Uint8Array {
    if (window === undefined) {
      const redacted = this.#redactor.redactBytes(bytes, this.#secrets);
      this.#takeFrom(() => latin1(bytes), redacted.findings);
      return redacted.bytes;
    }
    const text = latin1(bytes);
    const shown = this.#redactor.redactWindow(text, window, this.#secrets);
    this.#takeFrom(() => text, shown.findings);
    return shown.findings.length === 0 ? bytes.subarray(window.start, window.end) : Buffer.from(shown.text, "latin1");
  }

  /** Bytes as evidence keeps them: without their secrets, and nothing is counted. */
  bytesForRecord(bytes: Uint8Array): Uint8Array {
    return this.#redactor.redactBytes(bytes, this.#secrets).bytes;
  }

  /** For bytes that come in pieces; hand its counts to `takeCounts` when it is over. */
  byteStream(window?: Window): ByteRedactionStream {
    return this.#redactor.byteStream(this.#secrets, window);
  }

  /** Counts what was found in a stream. */
  takeCounts(counts: FindingCounts): void {
    for (const [rule, { definite, probable }] of counts) {
      this.#definite += definite;
      this.#probable += probable;
      this.#note(rule, definite + probable);
    }
  }

  /** Counts what was found. */
  take(findings: readonly Finding[]): void {
    for (const { rule, kind } of findings) {
      if (kind === "definite") this.#definite += 1;
      else this.#probable += 1;
      this.#note(rule, 1);
    }
  }

  /** Counts what was found in a text of the answer, and takes its values. */
  #takeFrom(textOf: () => string, findings: readonly Finding[]): void {
    if (findings.length === 0) return;
    this.take(findings);
    this.#values ??= new FoundValues();
    this.#values.take(textOf(), findings);
  }

  #note(rule: string, count: number): void {
    this.#rules ??= new Map();
    this.#rules.set(rule, (this.#rules.get(rule) ?? 0) + count);
  }

  /**
   * The secrets in `bytes`; nothing leaves by that, so nothing is counted. Whoever asks leaves `bytes` as they are:
   * asked about them again, it answers the same.
   */
  hidden(bytes: Uint8Array): readonly HiddenRange[] {
    return this.#looks.hidden(bytes);
  }

  /** Looks through long `bytes` in slices, so that `hidden` answers at once; `undefined` when they are short. */
  hiddenAhead(bytes: Uint8Array): Promise<void> | undefined {
    return this.#looks.hiddenAhead(bytes);
  }

  /**
   * Looks through the texts in `value` in slices, where they are long together, so that everything else here answers
   * at once what is in them; `undefined` when they are short.
   * @param charactersMax of a text that will be looked at
   */
  ahead(value: unknown, charactersMax = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    // Without secrets of the call there is no list with which what was found would go.
    return this.#secrets === NONE ? undefined : this.#looks.textsAhead(value, charactersMax);
  }

  /**
   * Whether a value that the caller has sent, judged by its name or alone, holds a definite secret. Nothing is counted.
   */
  isSecret(value: unknown, judge?: ValueJudge): boolean {
    if (typeof value === "string")
      return judge?.(value)?.kind === "definite" || hasDefinite(this.#redactor.find(value, this.#secrets));
    if (value instanceof Uint8Array) return hasDefinite(this.#redactor.find(latin1(value), this.#secrets));
    if (Array.isArray(value)) return value.some((item) => this.isSecret(item, judge));
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(
      ([name, member]) => this.isSecret(name) || this.isSecret(member, this.#judgeOf(value, name)),
    );
  }

  /**
   * The data of a result; a member that is an excerpt is redacted as what it is part of. Where anything was found, in
   * it or before, its value is hidden wherever else it stands.
   */
  data(object: JsonObject, excerpts: Readonly<Record<string, Excerpt>> | undefined, measured: Measured): JsonObject {
    const before = this.#definite + this.#probable;
    const first = { ...measured };
    const shown = this.#object(object, first, excerpts);
    const values = this.#values?.all ?? NONE;
    if (values.length === 0) {
      Object.assign(measured, first);
      return shown;
    }
    const again = new CallRedaction(this.#redactor, [...this.#secrets, ...values]);
    const hidden = again.#object(object, measured, excerpts);
    const more = again.#definite + again.#probable - (this.#definite + this.#probable - before);
    if (more > 0) {
      this.#probable += more;
      this.#note(REPEATED, more);
    }
    return hidden;
  }

  /** Facts for evidence. */
  facts(object: JsonObject): JsonObject {
    return this.#object(object, { bytes: 0, values: 0, uncounted: true });
  }

  /** A refusal as it may be shown. */
  denial(denial: Denial): Denial {
    const { message, fix, violations, targetPath, command } = denial;
    const listed = violations?.map((each) => ({
      ...each,
      field: this.words(each.field),
      message: this.words(each.message),
    }));
    return {
      ...denial,
      message: this.words(message),
      ...(fix !== undefined && { fix: this.words(fix) }),
      ...(listed && { violations: listed }),
      ...(targetPath !== undefined && { targetPath: this.words(targetPath) }),
      ...(command !== undefined && { command: hideInCommand(command, (word) => this.words(word)) }),
    };
  }

  /** How the value of a member is judged: by its own name, or by the one that stands beside it. */
  #judgeOf(object: object, member: string): ValueJudge | undefined {
    const name = member === "value" || member === "Value" ? nameBeside(object) : member;
    if (name === undefined) return undefined;
    const known = this.#judges.get(name);
    if (known !== undefined || this.#judges.has(name)) return known;
    const judge = this.#redactor.judgeOf(name);
    if (name.length <= NAME_CHARACTERS_MAX) {
      if (this.#judges.size >= CLEAN_NAMES_MAX) this.#judges.clear();
      this.#judges.set(name, judge);
    }
    return judge;
  }

  /** `undefined` where a name has to be looked at, or where a value is judged by another one. */
  #judgesOf(object: object, names: readonly string[]): readonly (ValueJudge | undefined)[] | undefined {
    if (!names.every((name) => this.#clean.has(name)) || names.includes("value") || names.includes("Value"))
      return undefined;
    return names.map((name) => this.#judgeOf(object, name));
  }

  #text(text: string, { uncounted }: Measured, judge?: ValueJudge): string {
    const judged = judge?.(text);
    if (uncounted === true && judged === undefined && text.includes("%")) {
      const shown = this.#withoutNumbered(text);
      if (shown !== text) return shown;
    }
    if (judged === undefined && this.#isClean(text)) return text;
    const { text: once, findings } = this.#redactor.redact(text, this.#secrets, judged);
    const { notRandom, randomRule } = this.#redactor;
    if (judge === notRandom && findings.every(({ rule }) => rule === randomRule)) return text;
    const shown = uncounted === true ? this.#withoutLikely(once) : once;
    if (shown !== once) return shown;
    if (findings.length > 0) {
      if (!uncounted) this.#takeFrom(() => text, findings);
    } else if (text.length <= NAME_CHARACTERS_MAX) {
      if (this.#clean.size >= CLEAN_NAMES_MAX) this.#clean.clear();
      this.#clean.add(text);
    } else if (text.length <= LAST_CHARACTERS_MAX && judged === undefined) {
      this.#lastClean = text;
    }
    return shown;
  }

  #value(value: JsonValue, measured: Measured, judge?: ValueJudge): JsonValue {
    measured.values += 1;
    if (typeof value === "string") {
      const text = this.#text(value, measured, judge);
      measured.bytes += text.length < SHORT ? text.length : Buffer.byteLength(text);
      return text;
    }
    if (Array.isArray(value)) return this.#array(value, measured, judge);
    if (typeof value === "object" && value !== null) return this.#object(value as JsonObject, measured);
    measured.bytes += 8;
    return value;
  }

  #array(values: readonly JsonValue[], measured: Measured, judge: ValueJudge | undefined): JsonValue {
    let changed: JsonValue[] | undefined;
    for (const [index, value] of values.entries()) {
      const clean = this.#value(value, measured, judge);
      if (clean !== value) changed ??= values.slice(0, index);
      changed?.push(clean);
    }
    return changed ?? (values as JsonValue);
  }

  #object(object: JsonObject, measured: Measured, excerpts?: Readonly<Record<string, Excerpt>>): JsonObject {
    const names = Object.keys(object);
    const judges = this.#shapes?.of(names, () => this.#judgesOf(object, names));
    let changed: [string, JsonValue][] | undefined;
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] as string;
      const member = object[name];
      if (member === undefined) {
        changed ??= entriesBefore(object, names, at);
        continue;
      }
      measured.bytes += name.length;
      const shownName = judges === undefined ? this.#text(name, measured) : name;
      const excerpt = excerpts && Object.hasOwn(excerpts, name) ? excerpts[name] : undefined;
      const shown = excerpt
        ? this.#excerpt(member, excerpt, measured)
        : this.#value(member, measured, judges === undefined ? this.#judgeOf(object, name) : judges[at]);
      if (shownName !== name || shown !== member) changed ??= entriesBefore(object, names, at);
      changed?.push([shownName === name ? name : uniqueName(shownName, changed), shown]);
    }
    // Entries become own members whatever they are called, `__proto__` too.
    return changed ? Object.fromEntries(changed) : object;
  }

  #excerpt(member: JsonValue, excerpt: Excerpt, measured: Measured): JsonValue {
    measured.values += 1;
    const text = excerpt.kind === "text" ? excerpt.text : latin1(excerpt.bytes);
    const { text: shown, findings } = this.#redactor.redactWindow(text, partOf(excerpt), this.#secrets);
    this.#takeFrom(() => text, findings);
    const result = findings.length === 0 ? member : excerptText(shown, excerpt);
    measured.bytes += typeof result === "string" ? Buffer.byteLength(result) : 8;
    return result;
  }
}

/** Counts places of a value that was found elsewhere in the answer. */
const REPEATED = "repeated-secret";
