/** The compiled form of a redactor: what to look for, and what the operator allows. */
import { REDACTION_EXTRA_TABLES_MAX } from "../base/limits.ts";
import { type Finding, mergeFindings } from "./finding.ts";
import { type KnownSecret, knownTriggers } from "./known-secret.ts";
import type { Matcher, Trigger } from "./matcher.ts";
import { builtInRules, type RuleSet } from "./rule-set.ts";
import { buildTable, scanText, type TriggerTable } from "./scan.ts";
import { searchText } from "./skip-search.ts";

/** Says that a finding of this rule with this text is none. */
export type Allowance = (rule: string, secret: string) => boolean;

/** What a redactor knows. */
export interface RedactorOptions {
  /** Hidden wherever they stand, in plain and encoded. */
  readonly known?: readonly KnownSecret[];
  /** The built-in rules unless given. */
  readonly rules?: RuleSet;
  /** Never applies to known secrets. */
  readonly allow?: Allowance;
}

const NOTHING: readonly Finding[] = [];

/** The tables of one redactor. */
export class RedactionTables {
  readonly #rules: RuleSet;
  readonly #main: TriggerTable;
  readonly #knownTitles: ReadonlyMap<string, string>;
  readonly #extra = new Map<string, TriggerTable>();
  #last: { readonly extra: readonly KnownSecret[]; readonly tables: readonly TriggerTable[] } | undefined;

  constructor({ known = [], rules = builtInRules(), allow }: RedactorOptions) {
    this.#rules = rules;
    const formats = allow ? rules.triggers.map(allowing(allow)) : rules.triggers;
    this.#main = buildTable([...known.flatMap(knownTriggers), ...formats]);
    this.#knownTitles = new Map(known.map(({ rule }) => [rule, "a value that is known to be secret"]));
  }

  /** Everything to hide in `text`. */
  find(text: string, extra?: readonly KnownSecret[]): readonly Finding[] {
    const found: Finding[] = [];
    const [main, own] = this.tablesFor(extra);
    if (main) scanText(main, text, found);
    if (own) searchText(own, text, found);
    return found.length === 0 ? NOTHING : mergeFindings(found);
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
      table = buildTable(secrets.flatMap(knownTriggers));
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

function allowing(allow: Allowance): (trigger: Trigger) => Trigger {
  const wrapped = new Map<Matcher, Matcher>();
  return ({ keyword, matcher }) => {
    let judged = wrapped.get(matcher);
    if (!judged) {
      judged = {
        ...matcher,
        match: (text, start, end, memo) => {
          const found = matcher.match(text, start, end, memo);
          return found && allow(found.rule, text.slice(found.start, found.end)) ? undefined : found;
        },
      };
      wrapped.set(matcher, judged);
    }
    return { keyword, matcher: judged };
  };
}
