/**
 * Lists of patterns, each a bit, and which of them a path is on: asked once for all lists together.
 *
 * Most patterns are literal, and looking a text up costs less than matching it. INVARIANT: a pattern that cannot be
 * compiled is an error and never left out; what is on a list is on it whatever else was asked.
 */
import { KernelError } from "../base/errors.ts";
import { GLOB_LIST_CHARACTERS_MAX } from "../base/limits.ts";
import { type CompiledGlob, compileMeasuredGlob, foldCase, type GlobTest } from "./glob.ts";

/** Text in which nothing is a wildcard. */
const LITERAL = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;

/** Whatever ends in one extension. */
const BY_EXTENSION = /^\*(\.[A-Za-z0-9_-]+)$/;

/** Characters at the beginning of a name that prefixes are looked up by. */
const HEAD = 4;
/** Whatever begins with a text that is long enough to be looked up. */
const BY_PREFIX = new RegExp(`^([A-Za-z0-9_.-]{${HEAD},})\\*$`);

const NONE: readonly never[] = [];

/** How texts are compared: `below` takes in what lies below a directory that a pattern names. */
interface Comparison {
  readonly ignoreCase: boolean;
  readonly below: boolean;
}

/** Several lists whose patterns are compared in the same way. */
export class PathLists {
  readonly #comparison: Comparison;
  readonly #known = new Map<string, number>();
  /** By extension, where names alone are compared. */
  readonly #extensions = new Map<string, number>();
  /** Prefixes by their heads, where names alone are compared. */
  readonly #prefixes = new Map<string, { readonly list: number; readonly prefix: string }[]>();
  /** Directories that something known lies in. */
  readonly #parents = new Set<string>();
  /** What lies above those directories, and they themselves. */
  readonly #above = new Set<string>();
  readonly #globs: { readonly list: number; readonly test: GlobTest; readonly isAbove: GlobTest }[] = [];

  constructor(comparison: Comparison) {
    this.#comparison = comparison;
  }

  /**
   * Puts what `patterns` match on the list `list`, a single bit.
   * @throws KernelError CONFIG_INVALID when one cannot be used, or when they are too much together
   */
  add(list: number, patterns: readonly string[]): void {
    this.addLiteral(
      list,
      patterns.filter((pattern) => LITERAL.test(pattern)),
    );
    const others = patterns.filter((pattern) => !LITERAL.test(pattern) && !this.#addSimple(list, pattern));
    const globs = others.map((pattern) => compiled(pattern, this.#comparison));
    if (globs.reduce((sum, { characters }) => sum + characters, 0) > GLOB_LIST_CHARACTERS_MAX) {
      const message = `the zone patterns have more than ${GLOB_LIST_CHARACTERS_MAX} characters, braces written out; use fewer or shorter ones`;
      throw new KernelError("CONFIG_INVALID", message);
    }
    this.#globs.push(...globs.map(({ test, isAbove }) => ({ list, test, isAbove })));
  }

  /** Whether `pattern` is looked up by its extension or its prefix, and need not be matched. */
  #addSimple(list: number, pattern: string): boolean {
    if (this.#comparison.below) return false;
    const extension = BY_EXTENSION.exec(pattern)?.[1];
    if (extension !== undefined) {
      const folded = this.#folded(extension);
      this.#extensions.set(folded, (this.#extensions.get(folded) ?? 0) | list);
    }
    const prefix = BY_PREFIX.exec(pattern)?.[1];
    if (prefix !== undefined) {
      const folded = this.#folded(prefix);
      const head = folded.slice(0, HEAD);
      this.#prefixes.set(head, [...(this.#prefixes.get(head) ?? []), { list, prefix: folded }]);
    }
    return extension !== undefined || prefix !== undefined;
  }

  /** Puts the very paths on the list. */
  addLiteral(list: number, paths: readonly string[]): void {
    for (const path of paths.map((one) => this.#folded(one))) {
      this.#known.set(path, (this.#known.get(path) ?? 0) | list);
      this.#parents.add(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
      for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1))
        this.#above.add(path.slice(0, end));
    }
  }

  /** The lists that name `path` itself. */
  naming(path: string): number {
    const known =
      this.#known.size + this.#extensions.size + this.#prefixes.size === 0 ? 0 : this.#lookup(this.#folded(path));
    return this.#globs.length === 0 ? known : known | this.#matching(path);
  }

  #lookup(folded: string): number {
    let lists = this.#known.get(folded) ?? 0;
    if (this.#extensions.size > 0) {
      const dot = folded.lastIndexOf(".");
      if (dot !== -1) lists |= this.#extensions.get(folded.slice(dot)) ?? 0;
    }
    if (this.#prefixes.size > 0) {
      for (const { list, prefix } of this.#prefixes.get(folded.slice(0, HEAD)) ?? NONE)
        if (folded.startsWith(prefix)) lists |= list;
    }
    return lists;
  }

  /** The lists that name `path` or a directory above it: no deeper than something known lies, however deep it is. */
  covering(path: string): number {
    let lists = this.#matching(path);
    if (this.#known.size === 0) return lists;
    const folded = this.#folded(path);
    for (let end = folded.indexOf("/"); end !== -1; end = folded.indexOf("/", end + 1)) {
      const above = folded.slice(0, end);
      lists |= this.#known.get(above) ?? 0;
      if (!this.#above.has(above)) return lists;
    }
    return lists | (this.#known.get(folded) ?? 0);
  }

  /** Whether a list may name something that lies directly in `directory`. */
  mayNameIn(directory: string): boolean {
    return this.#globs.length > 0 || (this.#parents.size > 0 && this.#parents.has(this.#folded(directory)));
  }

  /**
   * Whether a list may name something below `path`, in any depth, by more than the names below it: were `path` a link,
   * it would lead past the list.
   */
  isAbove(path: string): boolean {
    return this.#above.has(this.#folded(path)) || this.#globs.some(({ isAbove }) => isAbove(path));
  }

  #matching(path: string): number {
    let lists = 0;
    for (const { list, test } of this.#globs) if ((lists & list) === 0 && test(path)) lists |= list;
    return lists;
  }

  #folded(text: string): string {
    return this.#comparison.ignoreCase ? foldCase(text) : text;
  }
}

/** A protection that cannot be compiled is refused rather than left out. */
function compiled(pattern: string, comparison: Comparison): CompiledGlob {
  const glob = compileMeasuredGlob(pattern, comparison);
  if (glob === undefined)
    throw new KernelError(
      "CONFIG_INVALID",
      `the zone pattern \`${pattern.slice(0, 128)}\` cannot be used; make it shorter, with fewer alternatives and balanced brackets`,
    );
  return glob;
}
