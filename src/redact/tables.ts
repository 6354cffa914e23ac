/** The compiled form of a redactor: what to look for, and what the operator allows. */
import { blake3KeyedHex } from "../base/hash.ts";
import {
  type FreeStandingSearch,
  findFreeStanding,
  isCalledPublic,
  type Searched,
  searchFreeStanding,
} from "./kinds/free-standing.ts";
import { type KnownSecret, knownTriggers } from "./kinds/known-secret.ts";
import type { ValueJudge } from "./kinds/named-rule.ts";
import { builtInRules, type RuleSet } from "./rule-set.ts";
import { searchText } from "./search/few-keywords.ts";
import { type Finding, mergeFindings } from "./search/finding.ts";
import { type Matcher, mapFound, type OpenedText, type Trigger } from "./search/matcher.ts";
import { buildTable, findInSteps, scanText, type TriggerTable } from "./search/scan.ts";
import { viewTriggers } from "./views/view.ts";

/** Sets of secrets of single calls whose tables one redactor keeps: a session's calls follow each other. */
const REDACTION_EXTRA_TABLES_MAX = 64;

/** Characters of a text that is worth looking through beforehand. */
const AHEAD_CHARACTERS_MIN = 32;

/** Judges values whose name says that they are no secret although they look drawn by chance: ids, digests, cursors. */
export const notRandom: ValueJudge = () => undefined;

/** What the operator lets pass. */
export interface Allowance {
  /** Whether a finding of this rule with this text is none. */
  readonly allows: (rule: string, secret: string) => boolean;
  /** What it was compiled from, for a digest. */
  readonly definition: string;
}

/** What a redactor knows. */
export interface RedactorOptions {
  /** Hidden wherever they stand, in plain and encoded. */
  readonly known?: readonly KnownSecret[];
  /** The built-in rules unless given. */
  readonly rules?: RuleSet;
  /** Never applies to known secrets. */
  readonly allow?: Allowance;
  /** Names the release of the program, whose code decides as much as the rules do. */
  readonly release?: string;
}

const NOTHING: readonly Finding[] = [];

/** Characters that are searched for tokens without a name before others may have their turn. */
const FREE_STEP_CHARACTERS = 262_144;

/** The tables of one redactor. */
export class RedactionTables {
  readonly #rules: RuleSet;
  readonly #allow: Allowance | undefined;
  readonly #known: readonly KnownSecret[];
  readonly #release: string;
  readonly #main: TriggerTable;
  readonly #knownTitles: ReadonlyMap<string, string>;
  readonly #extra = new Map<string, TriggerTable>();
  #digest: { readonly key: Uint8Array; readonly digest: string } | undefined;
  /** By the secrets of a call: what was found in its long texts beforehand. Goes with that very list. */
  readonly #ahead = new WeakMap<readonly KnownSecret[], Map<string, readonly Finding[]>>();
  #last: { readonly extra: readonly KnownSecret[]; readonly tables: readonly TriggerTable[] } | undefined;

  constructor({ known = [], rules = builtInRules(), allow, release = "" }: RedactorOptions) {
    this.#rules = rules;
    this.#allow = allow;
    this.#known = known;
    this.#release = release;
    const formats = allow ? rules.triggers.map(allowing(allow)) : rules.triggers;
    this.#main = buildTable([
      ...known.flatMap((secret) => knownTriggers(secret)),
      ...formats,
      ...viewTriggers(() => this.#main),
    ]);
    this.#knownTitles = new Map(known.map(({ rule }) => [rule, "a value that is known to be secret"]));
  }

  /** Everything to hide in `text`; `judged` is what was found in it otherwise. */
  find(text: string, extra?: readonly KnownSecret[], judged?: Finding): readonly Finding[] {
    const ahead = extra && text.length >= AHEAD_CHARACTERS_MIN ? this.#ahead.get(extra)?.get(text) : undefined;
    if (ahead) return judged === undefined ? ahead : mergeFindings([judged, ...ahead]);
    const found: Finding[] = judged === undefined ? [] : [judged];
    const [main, own] = this.tablesFor(extra);
    if (main) scanText(main, text, found);
    if (own) searchText(own, text, found);
    const { bar } = this.#rules;
    if (bar && text.length >= bar.charactersMin)
      for (const free of this.#allowed(text, findFreeStanding(text, bar))) found.push(free);
    return found.length === 0 ? NOTHING : mergeFindings(found);
  }

  /** The same in steps. */
  *findInSteps(text: string, extra?: readonly KnownSecret[]): Generator<void, readonly Finding[]> {
    const found = yield* findInSteps(this.tablesFor(extra), text);
    const free: Finding[] = [];
    for (const to of this.#freeSteps(text, free)) if (to > 0) yield;
    return free.length === 0 ? found : mergeFindings([...found, ...free]);
  }

  /** Appends the tokens without a name to `free`, step by step; gives how far it has come. */
  *#freeSteps(text: string, free: Finding[]): Generator<number, void> {
    const { bar } = this.#rules;
    if (!bar) return;
    let searched: Searched = { found: NOTHING, from: 0, isInside: false };
    for (let to = FREE_STEP_CHARACTERS; ; to += FREE_STEP_CHARACTERS) {
      const isWhole = to >= text.length;
      const part = isWhole ? text : text.slice(0, to);
      searched = searchFreeStanding(part, bar, { ...searched, isWhole });
      for (const each of this.#allowed(text, searched.found)) free.push(each);
      if (isWhole) return;
      yield to;
    }
  }

  /** Searches a text that comes in pieces for tokens without a name; `undefined` when none are looked for. */
  get freeStanding(): FreeStandingSearch | undefined {
    const { bar } = this.#rules;
    if (!bar) return undefined;
    return (text, from) => {
      const searched = searchFreeStanding(text, bar, from);
      return { ...searched, found: this.#allowed(text, searched.found) };
    };
  }

  #allowed(text: string, found: readonly Finding[]): readonly Finding[] {
    const allow = this.#allow;
    if (!allow || found.length === 0) return found;
    return found.filter(({ rule, start, end }) => !allow.allows(rule, text.slice(start, end)));
  }

  /** Finds in steps what `find` answers at once afterwards, as long as it is given that very list. */
  *findAhead(text: string, extra: readonly KnownSecret[]): Generator<void, void> {
    const ahead = this.#ahead.get(extra) ?? new Map<string, readonly Finding[]>();
    this.#ahead.set(extra, ahead);
    if (text.length < AHEAD_CHARACTERS_MIN || ahead.has(text)) return;
    ahead.set(text, yield* this.findInSteps(text, extra));
  }

  /** How values of members of that name are judged. */
  judgeOf(name: string): ValueJudge | undefined {
    const judge = this.#rules.named(name) ?? (isCalledPublic(name) ? notRandom : undefined);
    const allow = this.#allow;
    if (judge === undefined || judge === notRandom || allow === undefined) return judge;
    return (value) => {
      const found = judge(value);
      return found && allow.allows(found.rule, value.slice(found.start, found.end)) ? undefined : found;
    };
  }

  /** Names everything that decides what is found; keyed, because values that can be guessed are among it. */
  digest(key: Uint8Array): string {
    if (this.#digest?.key !== key) {
      const known = this.#known.map(({ rule, value }) => [rule, value]);
      const all = JSON.stringify([this.#release, this.#rules.definition(), this.#allow?.definition ?? "", known]);
      this.#digest = { key, digest: blake3KeyedHex(key, all) };
    }
    return this.#digest.digest;
  }

  /** The tables to scan with; those of `extra` are kept for a while, because calls of one session follow each other. */
  tablesFor(extra: readonly KnownSecret[] | undefined): readonly TriggerTable[] {
    // The texts of one call come with the very same list.
    if (extra !== undefined && extra === this.#last?.extra) return this.#last.tables;
    const tables = this.#tablesFor(extra);
    if (extra !== undefined) this.#last = { extra, tables };
    return tables;
  }

  #tablesFor(extra: readonly KnownSecret[] | undefined): readonly TriggerTable[] {
    const secrets = extra?.filter(({ value }) => value !== "") ?? [];
    if (secrets.length === 0) return [this.#main];
    const key = secrets.map(({ rule, value }) => `${rule}\0${value}`).join("\0\0");
    let table = this.#extra.get(key);
    if (!table) {
      table = buildTable(secrets.flatMap((secret) => knownTriggers(secret, true)));
      const oldest = this.#extra.size >= REDACTION_EXTRA_TABLES_MAX ? this.#extra.keys().next().value : undefined;
      if (oldest !== undefined) this.#extra.delete(oldest);
      this.#extra.set(key, table);
    }
    return [this.#main, table];
  }

  /** What the rule finds, in words. */
  titleOf(rule: string): string | undefined {
    return this.#rules.titles.get(rule) ?? this.#knownTitles.get(rule);
  }
}

function allowing({ allows }: Allowance): (trigger: Trigger) => Trigger {
  const wrapped = new Map<Matcher, Matcher>();
  const allowedOf = (text: string, part: ReturnType<OpenedText["read"]>) => ({
    ...part,
    found: part.found.filter(({ rule, start, end }) => !allows(rule, text.slice(start, end))),
  });
  return ({ matcher, ...trigger }) => {
    let judged = wrapped.get(matcher);
    if (!judged) {
      const { opens } = matcher;
      judged = {
        get reach() {
          return matcher.reach;
        },
        back: matcher.back ?? 0,
        backCrossesLines: matcher.backCrossesLines ?? false,
        endsWithLine: matcher.endsWithLine ?? false,
        match: (memo, start, end) => {
          const found = matcher.match(memo, start, end);
          return mapFound(found, (each) =>
            allows(each.rule, memo.text.slice(each.start, each.end)) ? undefined : each,
          );
        },
        ...(opens && {
          opens: (memo, start, end) => {
            const opened = opens(memo, start, end);
            return opened && { from: opened.from, read: (text, part) => allowedOf(text, opened.read(text, part)) };
          },
        }),
      };
      wrapped.set(matcher, judged);
    }
    return { ...trigger, matcher: judged };
  };
}
