/**
 * Programs that run another: what they run, so that policy sees it as well.
 *
 * It knows the options of those that agents and attackers use. INVARIANT: an option that is not known here makes what
 * follows unclear; it is never guessed which of the words is the program.
 */
import { PLACES, replaced, replacedBy } from "../words/placeholders.ts";
import { isFixed, mayBeMany, plainWord, type ShellWord } from "../words/words.ts";
import {
  BEFORE_PROGRAM,
  CODE_OPTIONS,
  LOADER,
  type Options,
  PREFIXES,
  RUNNERS,
  SETARCH,
  SETARCH_NAMES,
} from "./wrapper-data.ts";

/** Something that a program runs. */
export type Wrapped =
  /** A program; `fed` when further arguments come from elsewhere. */
  | ({ readonly kind: "command"; readonly words: readonly ShellWord[]; readonly fed?: true } & Where)
  /** Text for a shell. */
  | ({ readonly kind: "code"; readonly code: ShellWord; readonly isBash?: boolean } & Where)
  /** Something, but what is not clear. */
  | { readonly kind: "unclear" };

/**
 * `inside`: in the same shell, so that `cd` holds; `elsewhere`: in a directory that is not the shell's; `repeated`:
 * perhaps more than once.
 */
interface Where {
  readonly inside?: true;
  readonly elsewhere?: true;
  readonly repeated?: true;
}

/** The wrapped program of a line, and the names of the variables that are set for it. */
export interface Unwrapped {
  readonly runs: readonly Wrapped[];
  readonly sets: readonly string[];
}

/** A verb of git as a program of its own, as they lie in git's own directory: `git-push` is `git push`. */
const GIT_VERB = /^git-([^.]+)(?:\.exe)?$/;

const FIND_RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

/**
 * What `name` runs when it is given `args`; nothing for a program that is not known to run others.
 * @param fed when it gets more of them at run time
 */
export function unwrap(name: string, args: readonly ShellWord[], fed = false): Unwrapped {
  const { runs, sets } = written(name, args);
  if (!fed) return { runs, sets };
  // What comes last goes to the program that is run, and where none is written it is the program.
  const isOpen =
    runs.length === 0
      ? wraps(name, args)
      : name === "find" || runs.some((run) => run.kind === "command" && run.words.length === 0);
  const reached = runs.map((run): Wrapped => (run.kind === "command" ? { ...run, fed: true } : run));
  return { runs: isOpen ? [...reached, { kind: "unclear" }] : reached, sets };
}

/** Whether `name` with `args` would run what stands behind them. */
function wraps(name: string, args: readonly ShellWord[]): boolean {
  if (
    /^(?:find|fd|fdfind|watch|flock|setarch|jobs|compgen|start-stop-daemon)$/.test(name) ||
    SETARCH_NAMES.test(name) ||
    Object.hasOwn(PREFIXES, name) ||
    Object.hasOwn(CODE_OPTIONS, name)
  )
    return true;
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return args.length === 0;
  const verbs = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  return verbs !== undefined && (args.length === 0 || args.some(({ text }) => verbs.includes(text)));
}

function written(name: string, args: readonly ShellWord[]): Unwrapped {
  const gitVerb = GIT_VERB.exec(name)?.[1];
  const asksOnly = args.length === 1 && /^--(?:version|help)$/.test(args[0]?.text ?? "");
  if (gitVerb !== undefined && !asksOnly)
    return only({ kind: "command", words: [plainWord("git"), plainWord(gitVerb), ...args] });
  const code = codeOption(name, args);
  if (code !== undefined) return only({ kind: "code", code, elsewhere: true });
  if (name === "script" || name === "su" || name === "runuser") return ownShell(name, args);
  if (name === "mapfile" || name === "readarray") return calledBack(args);
  if (name === "find" || name === "fd" || name === "fdfind") return { runs: foundRuns(name, args), sets: [] };
  if (name === "eval") return only({ kind: "code", code: joinedCode(args), inside: true });
  if (name === "trap") return trapped(args);
  if (name === "watch") return watched(args);
  if (name === "flock") return locked(args);
  if (name === "setarch" || SETARCH_NAMES.test(name)) return otherArchitecture(name, args);
  if (name === "start-stop-daemon") return startedDaemon(args);
  if (name === "jobs") return replacedJobs(args);
  if (name === "compgen") return completed(args);
  const options = Object.hasOwn(PREFIXES, name)
    ? PREFIXES[name]
    : /^ld(?:-linux[\w-]*)?\.so[\d.]*$/.test(name)
      ? LOADER
      : undefined;
  if (options !== undefined) return prefixed(name, args, options);
  return runner(name, args);
}

function only(wrapped: Wrapped): Unwrapped {
  return { runs: [wrapped], sets: [] };
}

const NOTHING: Unwrapped = { runs: [], sets: [] };
const UNCLEAR: Unwrapped = only({ kind: "unclear" });

/**
 * The text behind `-c`, which may stand in a group of letters, joined to its value, or as a long name that is cut
 * short.
 */
function codeOption(name: string, args: readonly ShellWord[]): ShellWord | undefined {
  const option = Object.hasOwn(CODE_OPTIONS, name) ? CODE_OPTIONS[name] : undefined;
  if (option === undefined) return undefined;
  for (const [at, word] of args.entries()) {
    const { text } = word;
    const next = args[at + 1];
    if (text === "--") return undefined;
    if (text.startsWith("--")) {
      const [long = ""] = text.split("=", 1);
      if (long.length > 2 && option.name.startsWith(long))
        return text.includes("=") ? joinedValue(word, text.slice(long.length + 1)) : next;
      continue;
    }
    if (!text.startsWith("-")) continue;
    for (let index = 1; index < text.length && !option.values.includes(text.charAt(index)); index += 1) {
      if (text.charAt(index) !== option.letter) continue;
      return index === text.length - 1 ? next : joinedValue(word, text.slice(index + 1));
    }
  }
  return undefined;
}

/** What is joined to an option; a word that is only known at run time stays one. */
function joinedValue(word: ShellWord, text: string): ShellWord {
  return word.known ? plainWord(text) : word;
}

function prefixed(name: string, args: readonly ShellWord[], options: Options): Unwrapped {
  const skipped = skipOptions(args, options);
  if (skipped === "asks") return NOTHING;
  if (skipped === undefined) return UNCLEAR;
  let at = skipped;
  const sets: string[] = [];
  while (options.assigns === true && at < args.length) {
    const assigned = /^([^=]+)=/.exec(args[at]?.text ?? "");
    if (assigned === null) break;
    sets.push(assigned[1] ?? "");
    at += 1;
  }
  at += options.skip ?? 0;
  const isClear = !args.slice(0, at).some(mayBeMany);
  const words = args.slice(at);
  if (words.length === 0) {
    // `sudo -s` and `env` alone: a shell, or a listing.
    return name === "xargs"
      ? { runs: [{ kind: "command", words: [plainWord("echo")], fed: true }], sets }
      : { runs: [], sets };
  }
  const isElsewhere = args.slice(0, at).some(({ text }) => options.elsewhere?.test(text) === true);
  const command: Wrapped = {
    kind: "command",
    words: name === "xargs" ? replaced(words, replacedBy(args.slice(0, at))) : words,
    ...(options.fed && { fed: true }),
    ...(options.inside && { inside: true }),
    ...(isElsewhere && { elsewhere: true }),
  };
  // What it most probably is stands beside what it may be, for the rules that deny.
  return { runs: isClear ? [command] : [{ kind: "unclear" }, command], sets };
}

/** Index of the first argument that is no option; `undefined` when an option is not known. */
function skipOptions(args: readonly ShellWord[], options: Options): number | "asks" | undefined {
  let at = 0;
  while (at < args.length) {
    const argument = args[at] as ShellWord;
    // What begins as an assignment is one; anything else may turn out to be an option.
    if (!argument.known) return /^[A-Za-z_]\w*=/.test(argument.text) || !/^["$`-]/.test(argument.text) ? at : undefined;
    const { text } = argument;
    if (text === "--") return at + 1;
    if (!text.startsWith("-") || text === "-") return text === "-" ? at + 1 : at;
    const taken = text.startsWith("--") ? longTaken(text, options) : shortTaken(text, options);
    if (taken === undefined || taken === "asks") return taken;
    at += taken;
  }
  return at;
}

/** How many arguments a long option takes, itself counted. */
function longTaken(text: string, { longFlags, longValues }: Options): number | undefined {
  const [name = ""] = text.slice(2).split("=", 1);
  const isOneOf = (known = "") => known !== "" && known.split(" ").some((one) => one.startsWith(name));
  if (isOneOf(longValues)) return text.includes("=") ? 1 : 2;
  return isOneOf(longFlags) ? 1 : undefined;
}

/** How many arguments a group of short options takes, itself counted. */
function shortTaken(
  text: string,
  { flags = "", values = "", attached = "", asks = "" }: Options,
): number | "asks" | undefined {
  for (let index = 1; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (asks.includes(letter)) return "asks";
    if (values.includes(letter)) return index === text.length - 1 ? 2 : 1;
    if (attached.includes(letter)) return 1;
    if (!flags.includes(letter)) return undefined;
  }
  return 1;
}

function runner(name: string, args: readonly ShellWord[]): Unwrapped {
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return ranModule(args);
  const verbs = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  const at = args.findIndex(({ text }) => verbs?.includes(text) === true);
  // Before the verb stand options, and perhaps what they take.
  if (verbs === undefined || at === -1 || (at > 0 && args[0]?.text.startsWith("-") !== true)) return NOTHING;
  const rest = args.slice(name === "corepack" ? at : at + 1 + (BEFORE_PROGRAM[name] ?? 0));
  const words = rest[0]?.text === "--" ? rest.slice(1) : rest;
  const [first] = words;
  if (first === undefined) return NOTHING;
  if (first.text.startsWith("-")) return UNCLEAR;
  const command: Wrapped = { kind: "command", words, elsewhere: true };
  return { runs: at === 0 ? [command] : [{ kind: "unclear" }, command], sets: [] };
}

/**
 * Without a text these run a shell, which reads what comes in; `script` and `runuser -u` may name a program behind
 * `--`.
 */
function ownShell(name: string, args: readonly ShellWord[]): Unwrapped {
  const end = args.findIndex(({ text }) => text === "--");
  const command: Wrapped = { kind: "command", words: args.slice(end + 1), elsewhere: true };
  return end === -1 || end === args.length - 1 || name === "su"
    ? UNCLEAR
    : { runs: [command, { kind: "unclear" }], sets: [] };
}

/** The name of an architecture comes first, if anything but an option does; without a program a shell is run. */
function otherArchitecture(name: string, args: readonly ShellWord[]): Unwrapped {
  const [first] = args;
  const named = name === "setarch" && first !== undefined && !first.text.startsWith("-");
  if (named && mayBeMany(first)) return UNCLEAR;
  if (args.some(({ text }) => text === "--list")) return NOTHING;
  const { runs, sets } = prefixed(name, named ? args.slice(1) : args, SETARCH);
  return runs.length === 0 ? UNCLEAR : { runs, sets };
}

/** The program behind `--exec` or `--startas`, with what stands behind `--`; whatever is not read so is unclear. */
function startedDaemon(args: readonly ShellWord[]): Unwrapped {
  const end = args.findIndex(({ text }) => text === "--");
  const own = end === -1 ? args : args.slice(0, end);
  const starts = own.some(({ text }) => /^-[a-zA-Z]*S/.test(text) || (text.length > 4 && "--start".startsWith(text)));
  if (own.every(({ known }) => known) && !starts) return NOTHING;
  const program = own.findLastIndex(({ text }) => /^(?:-[a-zA-Z]*a|--startas)$/.test(text));
  const at = program === -1 ? own.findLastIndex(({ text }) => /^(?:-[a-zA-Z]*x|--exec)$/.test(text)) : program;
  const word = own[at + 1];
  if (at === -1 || word === undefined || own.some((one) => mayBeMany(one))) return UNCLEAR;
  return only({ kind: "command", words: [word, ...(end === -1 ? [] : args.slice(end + 1))], elsewhere: true });
}

/** `jobs -x` runs a program with the numbers of processes in place of those of jobs. */
function replacedJobs(args: readonly ShellWord[]): Unwrapped {
  const at = args.findIndex(({ text }) => /^-[a-zA-Z]*x/.test(text));
  if (at === -1) return args.some((word) => !word.known) ? UNCLEAR : NOTHING;
  if (args[at]?.text !== "-x") return UNCLEAR;
  return only({ kind: "command", words: args.slice(at + 1), inside: true });
}

/** `compgen -C` runs a text with three words behind it, `-W` expands one, `-F` calls a function. */
function completed(args: readonly ShellWord[]): Unwrapped {
  const runs: Wrapped[] = [];
  for (const [at, word] of args.entries()) {
    const letter = /^-[a-zA-Z]*?([CFW])([\s\S]*)$/.exec(word.text);
    if (letter === null) {
      if (!word.known && mayBeMany(word)) runs.push({ kind: "unclear" });
      continue;
    }
    const value = letter[2] === "" || letter[2] === undefined ? args[at + 1] : joinedValue(word, letter[2]);
    if (letter[1] === "C" && isFixed(value))
      runs.push({ kind: "code", code: plainWord(`${value.text} "$1" "$2" "$3"`), isBash: true });
    else if (letter[1] !== "W" || !isFixed(value) || /[$`<>]/.test(value.text)) runs.push({ kind: "unclear" });
  }
  return { runs, sets: [] };
}

/** `mapfile -C` runs a text for each line, with a number and the line behind it. */
function calledBack(args: readonly ShellWord[]): Unwrapped {
  const at = args.findIndex(({ text }) => /^-[t]*C/.test(text));
  const joined = args[at]?.text.replace(/^-t*C/, "") ?? "";
  const code = joined === "" ? args[at + 1] : { ...(args[at] as ShellWord), text: joined };
  if (at === -1) return NOTHING;
  if (!isFixed(code)) return UNCLEAR;
  return only({ kind: "code", code: plainWord(`${code.text} "$1" "$2"`), inside: true, repeated: true, isBash: true });
}

/** `python -m pip` is `pip`. */
function ranModule(args: readonly ShellWord[]): Unwrapped {
  // `-W` and `-X` take the next word where nothing is joined to them.
  const isOption = (text: string) => /^-[bBdEiIOPqRsSuvVx]*(?:[WX].*)?$/s.test(text) && text !== "-";
  const at = args.findIndex(
    ({ text }, index) => !isOption(text) && !/^-[a-zA-Z]*[WX]$/.test(args[index - 1]?.text ?? ""),
  );
  const module = /^-[bBdEiIOPqRsSuvVx]*m(.*)$/s.exec(args[at]?.text ?? "");
  if (module?.[1] === "") return only({ kind: "command", words: args.slice(at + 1) });
  if (module?.[1] !== undefined) return only({ kind: "command", words: [plainWord(module[1]), ...args.slice(at + 1)] });
  return NOTHING;
}

function foundRuns(name: string, args: readonly ShellWord[]): readonly Wrapped[] {
  const runs: Wrapped[] = args.some((word) => !word.known && mayBeMany(word)) ? [{ kind: "unclear" }] : [];
  const begins = (text: string) =>
    name === "find" ? FIND_RUNS.has(text) : ["-x", "-X", "--exec", "--exec-batch"].includes(text);
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.text ?? "";
    if (name !== "find" && /^(?:-[a-zA-Z]*[xX]|--exec)./.test(text) && !begins(text)) runs.push({ kind: "unclear" });
    if (!begins(text)) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ text }, index) => text === ";" || (text === "+" && rest[index - 1]?.text === "{}"));
    const words = end === -1 ? rest : rest.slice(0, end);
    const isElsewhere =
      text.endsWith("dir") || (name !== "find" && args.some((option) => /^(?:-C|--base)/.test(option.text)));
    const command: Wrapped = {
      kind: "command",
      words: replaced(words, PLACES),
      fed: true,
      ...(isElsewhere && { elsewhere: true }),
    };
    runs.push(words.length === 0 ? { kind: "unclear" } : command);
    at += words.length;
  }
  return runs;
}

function trapped(args: readonly ShellWord[]): Unwrapped {
  const [code, ...signals] = args[0]?.text === "--" ? args.slice(1) : args;
  if (code === undefined || signals.length === 0 || code.text === "-" || (code.known && code.text.startsWith("-")))
    return NOTHING;
  return only({ kind: "code", code, inside: true, repeated: true });
}

/** `watch` joins its arguments and hands them to a shell. */
function watched(args: readonly ShellWord[]): Unwrapped {
  const at = skipOptions(args, {
    flags: "bcCdegprtwx",
    values: "nqs",
    longFlags: "beep color differences errexit chgexit precise no-title exec no-wrap",
    longValues: "interval equexit",
  });
  if (typeof at !== "number") return UNCLEAR;
  return at === args.length ? NOTHING : only({ kind: "code", code: joinedCode(args.slice(at)) });
}

function locked(args: readonly ShellWord[]): Unwrapped {
  const at = skipOptions(args, {
    flags: "sxeunoFv",
    values: "wE",
    longFlags: "shared exclusive unlock nonblock close no-fork verbose",
    longValues: "timeout wait conflict-exit-code",
  });
  if (typeof at !== "number") return UNCLEAR;
  const words = args.slice(at + 1);
  const [first, code] = words;
  if (first === undefined) return NOTHING;
  return only(first.text === "-c" && code !== undefined ? { kind: "code", code } : { kind: "command", words });
}

/** Words as the one text that a shell is given. */
function joinedCode(words: readonly ShellWord[]): ShellWord {
  return {
    text: words.map(({ text }) => text).join(" "),
    known: words.every(({ known }) => known),
    expands: words.some(({ expands }) => expands),
    shown: words.map(({ shown }) => shown).join(" "),
  };
}
