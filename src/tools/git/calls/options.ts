/**
 * Checks the arguments of one git operation against a closed list of options.
 *
 * What is not on the list is refused, with what is allowed.
 *
 * INVARIANT: git is given what was understood here and nothing else. An option is never abbreviated, and what begins
 * with `-` is never a name.
 */

/** What an option takes: nothing, a number, a text, or one of some words. */
export interface OptionSpec {
  readonly takes?: "count" | "text" | readonly string[];
  /** The value may be left out; then it stands behind `=` alone. */
  readonly optional?: true;
  /** The name under which it is known; its own when absent. */
  readonly same?: string;
  /** It changes nothing here. */
  readonly idle?: true;
}

/** The options of an operation by their names. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** Options with one `spec`: names parted by blanks, and behind a stroke other names of the same: `--all|-a --amend`. */
export function optionsOf(names: string, spec: OptionSpec = {}): OptionTable {
  const rows = names.split(" ").flatMap((one) => {
    const [name = "", ...others] = one.split("|");
    return [[name, spec], ...others.map((other) => [other, { ...spec, same: name }])];
  });
  return Object.fromEntries(rows);
}

/** Arguments that were understood. */
export interface Parsed {
  /** Values by name; a flag has none. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  /** What is no option and stands before `--`. */
  readonly operands: readonly string[];
  /** What stands behind `--`; `undefined` without one. */
  readonly paths: readonly string[] | undefined;
}

/**
 * Options that are refused by name wherever they stand, and why: most make git run a program or write where nobody
 * looked.
 */
const REFUSED: Readonly<Record<string, string>> = {
  "-c": "it would change settings",
  "--config": "it would change settings",
  "--config-env": "it would change settings",
  "-C": "name the directory as `cwd`",
  "--git-dir": "name the directory as `cwd`",
  "--work-tree": "name the directory as `cwd`",
  "--separate-git-dir": "it would write elsewhere",
  "--upload-pack": "it would run a program",
  "--receive-pack": "it would run a program",
  "--exec": "it would run a program",
  "--exec-path": "it would run programs from elsewhere",
  "-x": "it would run a program",
  "-O": "it would read or run something else",
  "--open-files-in-pager": "it would run a program",
  "--ext-diff": "it would run a program",
  "--textconv": "it would run a program",
  "--output": "it would write a file; the result is the answer of the call",
  "-o": "it would write a file or hand something on to a server",
  "--template": "it would take files from elsewhere",
  "--reference": "it would take objects from elsewhere",
  "--reference-if-able": "it would take objects from elsewhere",
  "--shared": "it would take objects from elsewhere",
  "--local": "it would take objects from elsewhere",
  "--server-option": "it would hand something on to a server",
  "--recurse-submodules": "submodules are not entered",
  "--recursive": "submodules are not entered",
  "--no-verify": "hooks do not run anyhow; leave it out",
  "--interactive": "nobody can answer",
  "-i": "nobody can answer",
  "-p": "patches are not chosen interactively",
  "--patch": "patches are not chosen interactively",
  "--edit": "there is no editor",
  "--gpg-sign": "nothing is signed here",
  "-S": "nothing is signed here, and a search in what changed would find text that is hidden from the call",
  "-G": "a search in what changed would find text that is hidden from the call; show the changes of the paths that you mean",
  "--author": "who commits is said by the repository's settings or the session",
  "--date": "the time is the clock's",
  "--no-index": "files outside of the repository are not compared; use `read_file`",
  "--pathspec-from-file": "name the paths",
  "--show-signature": "signatures are not looked at",
  "--mirror": "it would replace every reference",
  "--prune-tags": "it would remove tags that nobody named",
};

/** Arguments, or why they are refused. */
export function parseArguments(table: OptionTable, args: readonly string[]): Parsed | string {
  const options = new Map<string, string[]>();
  const operands: string[] = [];
  const words = [...args];
  const note: Note = (name, spec, value) => {
    const problem = value === undefined ? undefined : valueProblem(name, spec, value);
    if (problem !== undefined || spec.idle) return problem;
    const known = options.get(spec.same ?? name) ?? [];
    options.set(spec.same ?? name, value === undefined ? known : [...known, value]);
    return undefined;
  };
  const reading = { table, rest: words, note };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--") return { options, operands, paths: words };
    if (!word.startsWith("-")) {
      operands.push(word);
      continue;
    }
    const problem = word.startsWith("--") ? takeLong(reading, word) : takeShort(reading, word);
    if (problem !== undefined) return problem;
  }
  return { options, operands, paths: undefined };
}

type Note = (name: string, spec: OptionSpec, value: string | undefined) => string | undefined;

interface Reading {
  readonly table: OptionTable;
  readonly rest: string[];
  readonly note: Note;
}

function takeLong({ table, rest, note }: Reading, word: string): string | undefined {
  const equals = word.indexOf("=");
  const name = equals === -1 ? word : word.slice(0, equals);
  const spec = specOf(table, name);
  if (spec === undefined) return refusal(table, name);
  const joined = equals === -1 ? undefined : word.slice(equals + 1);
  if (spec.takes === undefined)
    return joined === undefined ? note(name, spec, undefined) : `\`${name}\` takes no value`;
  const value = joined ?? (spec.optional ? undefined : rest.shift());
  if (value === undefined && !spec.optional) return `\`${name}\` needs a value`;
  return note(name, spec, value);
}

/** Letters may be joined; the value of the last one may be, too. */
function takeShort({ table, rest, note }: Reading, word: string): string | undefined {
  const number = /^-([0-9]{1,9})$/.exec(word)?.[1];
  const counted = specOf(table, "-<number>");
  if (number !== undefined && counted !== undefined) return note("-<number>", counted, number);
  for (let index = 1; index < word.length; index += 1) {
    const name = `-${word.charAt(index)}`;
    const spec = specOf(table, name);
    if (spec === undefined) return refusal(table, name);
    if (spec.takes === undefined) {
      note(name, spec, undefined);
      continue;
    }
    const joined = word.slice(index + 1);
    const value = joined !== "" ? joined : spec.optional ? undefined : rest.shift();
    if (value === undefined && !spec.optional) return `\`${name}\` needs a value`;
    return note(name, spec, value);
  }
  return word === "-" ? "`-` names nothing here; name the branch" : undefined;
}

function valueProblem(name: string, spec: OptionSpec, value: string): string | undefined {
  if (spec.takes === "count" && !/^[0-9]{1,9}$/.test(value)) return `\`${name}\` takes a number`;
  if (Array.isArray(spec.takes) && !spec.takes.includes(value))
    return `\`${name}\` takes one of ${spec.takes.join(", ")}`;
  return undefined;
}

function specOf(table: OptionTable, name: string): OptionSpec | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function refusal(table: OptionTable, name: string): string {
  const why = Object.hasOwn(REFUSED, name) ? `, because ${REFUSED[name]}` : "";
  const allowed = Object.keys(table);
  const list = allowed.length === 0 ? "no options" : allowed.join(" ");
  return `the option \`${shown(name)}\` is refused${why}; allowed here: ${list}`;
}

function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}

/** Whether an option was given. */
export function has({ options }: Parsed, name: string): boolean {
  return options.has(name);
}

/** The last value of an option. */
export function lastValue({ options }: Parsed, name: string): string | undefined {
  return options.get(name)?.at(-1);
}

/** Those of `names` that were given, written out anew. */
export function written({ options }: Parsed, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const values = options.get(name);
    if (values === undefined) return [];
    if (values.length === 0) return [name];
    return values.map((value) => (name.startsWith("--") ? `${name}=${value}` : `${name}${value}`));
  });
}
