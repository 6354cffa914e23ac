/**
 * The `.gitignore` files on the way to a directory, and what they leave out of a search. They hide nothing from an
 * agent, who may still read an ignored file by name; they only keep searches free of what was built or installed.
 *
 * Decides as git does: the deepest file with a matching rule wins, and below an ignored directory nothing is looked at.
 * Rules come from the workspace, so that they are not trusted with time: the number of rules is bounded, those with
 * many wildcards are tried on short names alone, and those with even more not at all.
 */
import ignore, { type Ignore } from "ignore";
import { KIB } from "../../../base/bytes.ts";

/** Bytes of one `.gitignore`; the rest of a larger one is not read. */
export const IGNORE_FILE_BYTES_MAX = 64 * KIB;
/** Rules of one `.gitignore`: each is tried on every name. */
const IGNORE_RULES_MAX = 1000;
/**
 * Characters of a name up to which rules with many wildcards are tried: their time grows with a power of the length.
 */
export const IGNORE_WILDCARD_CHARACTERS_MAX = 48;

/** Wildcards in one component up to which a rule is tried on every name … */
const WILDCARDS_CHEAP = 2;
/** … and on short names. Matching takes time in the order of length to that power. */
const WILDCARDS_MAX = 4;

/** The rules of one `.gitignore`. */
interface RuleFile {
  /** Its directory with a slash at the end, from the project root; the root itself is the empty text. */
  readonly base: string;
  readonly lines: readonly string[];
  readonly all: Ignore;
  /** Without the rules that are for short names alone; the same when there are none. */
  readonly cheap: Ignore;
}

/** The rules that hold in a directory. Immutable: going down a level makes a new one. */
export class IgnoreRules {
  readonly #files: readonly RuleFile[];

  /** No rules. */
  static readonly none = new IgnoreRules([]);

  private constructor(files: readonly RuleFile[]) {
    this.#files = files;
  }

  /** With the rules of the `.gitignore` that lies in `directory` (from the project root, `""` for the root). */
  with(directory: string, text: string): IgnoreRules {
    const lines = text.slice(0, IGNORE_FILE_BYTES_MAX).split(/\r?\n/).filter(isUsable).slice(0, IGNORE_RULES_MAX);
    if (lines.length === 0) return this;
    return new IgnoreRules([...this.#files, ruleFile(directory === "" ? "" : `${directory}/`, lines)]);
  }

  /** Whether the file or directory `path`, from the project root, is left out. Its parents are not. */
  leaveOut(path: string, isDirectory: boolean): boolean {
    for (let index = this.#files.length - 1; index >= 0; index -= 1) {
      const verdict = verdictOf(this.#files[index], path, isDirectory);
      if (verdict !== undefined) return verdict;
    }
    return false;
  }

  /**
   * The rules inside the directory `path`, which is searched whatever rules say of it: because a deeper file or the
   * call itself names it. Rules of outer files then speak of what is in it, and not of the directory.
   */
  inside(path: string): IgnoreRules {
    if (this.#files.every((file) => verdictOf(file, path, true) !== true)) return this;
    return new IgnoreRules(
      this.#files.map((file) => {
        if (verdictOf(file, path, true) !== true) return file;
        return ruleFile(file.base, [...file.lines, `!/${escaped(path.slice(file.base.length))}`]);
      }),
    );
  }
}

function ruleFile(base: string, lines: readonly string[]): RuleFile {
  const cheapLines = lines.filter((line) => wildcardsIn(line) <= WILDCARDS_CHEAP);
  const all = ignore({ ignorecase: false }).add([...lines]);
  return {
    base,
    lines,
    all,
    cheap: cheapLines.length === lines.length ? all : ignore({ ignorecase: false }).add(cheapLines),
  };
}

function verdictOf(file: RuleFile | undefined, path: string, isDirectory: boolean): boolean | undefined {
  if (file === undefined) return undefined;
  const relative = path.slice(file.base.length);
  const rules = file.all === file.cheap || hasShortNames(relative) ? file.all : file.cheap;
  const { ignored, unignored } = rules.test(isDirectory ? `${relative}/` : relative);
  return ignored ? true : unignored ? false : undefined;
}

function hasShortNames(path: string): boolean {
  return (
    path.length <= IGNORE_WILDCARD_CHARACTERS_MAX ||
    path.split("/").every((name) => name.length <= IGNORE_WILDCARD_CHARACTERS_MAX)
  );
}

function isUsable(line: string): boolean {
  return line !== "" && !line.startsWith("#") && wildcardsIn(line) <= WILDCARDS_MAX;
}

/** The most wildcards that stand in one component, or the number of `**` components. */
function wildcardsIn(line: string): number {
  const components = line.split("/");
  const deep = components.filter((component) => /^\*{2,}$/.test(component)).length;
  return Math.max(deep, ...components.map((component) => component.split(/\*+/).length - 1));
}

function escaped(path: string): string {
  return path.replace(/[\\*?[\]!# ]/g, "\\$&");
}
