/**
 * Parses a status document: phases, services, features and tasks by their headings and list items. Pure.
 *
 * INVARIANTS: one pass over the lines, time linear in their length; entries, levels and acceptance lines are bounded,
 * and what is malformed is refused with its line.
 */
import {
  acceptanceIn,
  checkbox,
  KINDS,
  type Kind,
  LINE_CHARACTERS_MAX,
  type Named,
  namedIn,
  statedState,
} from "./status-line.ts";

/** Entries of a document: far more than anybody plans. */
export const ENTRIES_MAX = 50_000;
/** Levels of list items within each other. */
export const LIST_LEVELS_MAX = 32;
/** Acceptance lines of one entry. */
const ACCEPTANCE_MAX = 200;
/** Levels of headings. */
const HEADING_LEVELS = 6;

/** A phase, service, feature or task, or a heading that is none of them. */
export interface Entry extends Named {
  /** From 1. */
  readonly line: number;
  /** The last line that belongs to it. */
  lastLine: number;
  state?: string;
  readonly parent: Entry | undefined;
  readonly children: Entry[];
  readonly acceptance: string[];
  /** Acceptance lines beyond those that are kept. */
  acceptanceLeftOut: number;
}

/** A document, or the line in which it is none. */
export type StatusDocument =
  | { readonly kind: "document"; readonly entries: readonly Entry[] }
  | { readonly kind: "malformed"; readonly line: number; readonly problem: string };

/** Parses `text`. */
export function parseStatus(text: string): StatusDocument {
  const reader = new StatusReader();
  let line = 0;
  for (let at = 0; at <= text.length; ) {
    const end = text.indexOf("\n", at);
    const stop = end === -1 ? text.length : end;
    line += 1;
    // Leading white space decides, however long the rest of the line is.
    const whole = text.slice(at, Math.min(stop, at + 2 * LINE_CHARACTERS_MAX)).replace(/\r$/, "");
    const problem = reader.take(whole, line);
    if (problem !== undefined) return { kind: "malformed", line, problem };
    at = stop + 1;
  }
  const open = reader.openEnd();
  return open === undefined ? { kind: "document", entries: reader.entries } : { kind: "malformed", ...open };
}

interface Level {
  readonly entry: Entry;
  /** Of a heading 1 to 6; of a list item more, by its indentation. */
  readonly depth: number;
}

class StatusReader {
  readonly entries: Entry[] = [];
  readonly #levels: Level[] = [];
  #fence: { readonly mark: string; readonly line: number } | undefined;
  #comment: number | undefined;
  #collects = false;

  /** Takes the next line; what is wrong with it. */
  take(whole: string, line: number): string | undefined {
    if (this.#isHidden(whole, line)) return undefined;
    const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(whole);
    if (heading) return this.#heading(heading[1]?.length ?? 1, heading[2] ?? "", line);
    const item = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/.exec(whole);
    const problem = item ? this.#item(indentOf(item[1] ?? ""), item[2] ?? "", line) : this.#prose(whole.trim());
    const current = this.#levels.at(-1);
    if (current && whole.trim() !== "") current.entry.lastLine = line;
    return problem;
  }

  /** A fence or comment that nothing has ended. */
  openEnd(): { readonly line: number; readonly problem: string } | undefined {
    if (this.#fence) return { line: this.#fence.line, problem: "the code block that begins here is never ended" };
    if (this.#comment !== undefined)
      return { line: this.#comment, problem: "the comment that begins here is never ended" };
    return undefined;
  }

  /** Code and comments say nothing of tasks. */
  #isHidden(whole: string, line: number): boolean {
    const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(whole);
    if (this.#fence) {
      const { mark } = this.#fence;
      if (fence?.[1]?.startsWith(mark) && (fence[2] ?? "").trim() === "") this.#fence = undefined;
      return true;
    }
    if (this.#comment !== undefined) {
      if (whole.includes("-->")) this.#comment = undefined;
      return true;
    }
    if (fence?.[1] !== undefined) {
      this.#fence = { mark: fence[1], line };
      return true;
    }
    if (!whole.trimStart().startsWith("<!--")) return false;
    if (!whole.includes("-->")) this.#comment = line;
    return true;
  }

  #heading(depth: number, text: string, line: number): string | undefined {
    this.#collects = false;
    const acceptance = acceptanceIn(text);
    if (acceptance) {
      // It belongs to what stands above it, whatever its level.
      this.#collects = true;
      while (this.#top !== undefined && this.#top.depth > HEADING_LEVELS) this.#levels.pop();
      return undefined;
    }
    return this.#enter(namedIn(text), depth, line);
  }

  #item(indent: number, text: string, line: number): string | undefined {
    const depth = HEADING_LEVELS + 1 + indent;
    const box = checkbox(text);
    const said = box?.rest ?? text;
    const named = namedIn(said);
    const isEntry = named.id !== undefined && (box !== undefined || named.kind !== undefined || /^\[/.test(said));
    if (isEntry && !this.#collects) {
      if (this.#levels.filter((level) => level.depth > HEADING_LEVELS && level.depth < depth).length >= LIST_LEVELS_MAX)
        return `list items stand more than ${LIST_LEVELS_MAX} levels within each other`;
      return this.#enter({ ...named, ...(box && { state: box.state }) }, depth, line);
    }
    while (this.#top !== undefined && this.#top.depth > HEADING_LEVELS && this.#top.depth >= depth) this.#levels.pop();
    if (this.#says(said)) return undefined;
    const isOfTask = box !== undefined && this.#top !== undefined && isTask(this.#top.entry);
    if (this.#collects || isOfTask) this.#accept(box ? `[${box.state}] ${box.rest}` : said);
    return undefined;
  }

  #prose(text: string): undefined {
    if (text === "" || this.#says(text)) return;
    this.#collects = false;
  }

  /** Whether the text states a state, or begins acceptance lines. */
  #says(text: string): boolean {
    const state = statedState(text);
    const entry = this.#top?.entry;
    if (state !== undefined) {
      if (entry) entry.state = state;
      return true;
    }
    const acceptance = acceptanceIn(text);
    if (acceptance === undefined) return false;
    this.#collects = true;
    if (acceptance.first !== undefined) this.#accept(acceptance.first);
    return true;
  }

  get #top(): Level | undefined {
    return this.#levels.at(-1);
  }

  #accept(text: string): void {
    const entry = this.#top?.entry;
    if (entry === undefined) return;
    if (entry.acceptance.length < ACCEPTANCE_MAX) entry.acceptance.push(text.trim().slice(0, LINE_CHARACTERS_MAX));
    else entry.acceptanceLeftOut += 1;
  }

  #enter(named: Named, depth: number, line: number): string | undefined {
    if (this.entries.length >= ENTRIES_MAX) return `there are more than ${ENTRIES_MAX} headings and tasks`;
    while (this.#top !== undefined && this.#top.depth >= depth) this.#levels.pop();
    const parent = this.#top?.entry;
    const above = named.kind && firstInnerKind(named.kind, parent);
    if (named.kind && above)
      return `a ${named.kind} stands within the ${above.kind} of line ${above.line}; phases hold services, these features, and these tasks`;
    const entry: Entry = {
      ...named,
      line,
      lastLine: line,
      parent,
      children: [],
      acceptance: [],
      acceptanceLeftOut: 0,
    };
    parent?.children.push(entry);
    this.entries.push(entry);
    this.#levels.push({ entry, depth });
    return undefined;
  }
}

/** An entry above that is of a kind which lies further in. Levels are few, so that this takes no time. */
function firstInnerKind(kind: Kind, parent: Entry | undefined): Entry | undefined {
  for (let above = parent; above !== undefined; above = above.parent) {
    if (above.kind !== undefined && KINDS.indexOf(above.kind) > KINDS.indexOf(kind)) return above;
  }
  return undefined;
}

/** Whether an entry is a task: it says so, or it has an id and is of no other kind. */
export function isTask({ kind, id }: Pick<Entry, "kind" | "id">): boolean {
  return kind === "task" || (kind === undefined && id !== undefined);
}

/** Columns of white space; a tab takes four. */
function indentOf(space: string): number {
  let columns = 0;
  for (const each of space) columns += each === "\t" ? 4 : 1;
  return columns;
}
