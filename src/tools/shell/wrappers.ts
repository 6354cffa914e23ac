/**
 * Programs that run another: what they run, so that policy sees it as well.
 *
 * It knows the options of those that agents and attackers use. INVARIANT: an option that is not known here makes what follows
 * unclear; it is never guessed which of the words is the program.
 */
import { PLACES, replaced, replacedBy } from "./placeholders.ts";
import { isFixed, mayBeMany, plainWord, type ShellWord } from "./words.ts";

/** Something that a program runs. */
export type Wrapped =
  /** A program; `fed` when further arguments come from elsewhere. */
  | ({ readonly kind: "command"; readonly words: readonly ShellWord[]; readonly fed?: true } & Where)
  /** Text for a shell. */
  | ({ readonly kind: "code"; readonly code: ShellWord; readonly isBash?: boolean } & Where)
  /** Something, but what is not clear. */
  | { readonly kind: "unclear" };

/** `inside`: in the same shell, so that `cd` holds; `elsewhere`: in a directory that is not the shell's; `repeated`: perhaps more than once. */
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

/** Options by letters and long names; `values` take one. `skip` counts arguments before the program. */
interface Options {
  readonly flags?: string;
  readonly values?: string;
  /** Letters whose value, if there is one, is joined to them. */
  readonly attached?: string;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
  readonly skip?: number;
  /** `NAME=value` may stand before the program. */
  readonly assigns?: true;
  readonly inside?: true;
  readonly fed?: true;
  /** Letters of options with which nothing is run. */
  readonly asks?: string;
  /** Options with which it runs in another directory. */
  readonly elsewhere?: RegExp;
}

const PREFIXES: Readonly<Record<string, Options>> = {
  env: {
    flags: "i0v",
    values: "uC",
    longFlags: ["ignore-environment", "null", "debug"],
    longValues: ["unset", "chdir"],
    assigns: true,
    elsewhere: /^(?:-[a-zA-Z0]*C|--c)/,
  },
  sudo: {
    flags: "AbEHnPkKSBN",
    values: "ugpChrtTUDR",
    longFlags: ["preserve-env", "non-interactive", "stdin", "set-home", "background", "login", "shell", "askpass"],
    longValues: ["user", "group", "prompt", "host", "chdir", "chroot", "role", "type"],
    assigns: true,
    elsewhere: /^(?:-[a-zA-Z]*[DRi]|--(?:c|l))/,
  },
  doas: { flags: "nLs", values: "uC" },
  nohup: {},
  setsid: { flags: "cfw", longFlags: ["ctty", "fork", "wait"] },
  timeout: {
    flags: "v",
    values: "sk",
    longFlags: ["foreground", "preserve-status", "verbose"],
    longValues: ["signal", "kill-after"],
    skip: 1,
  },
  nice: { flags: "0123456789", values: "n", longValues: ["adjustment"] },
  ionice: { flags: "t", values: "cn", longFlags: ["ignore"], longValues: ["class", "classdata"] },
  chrt: { flags: "abfiorRv", values: "TPD", skip: 1 },
  taskset: { flags: "ac", longFlags: ["all-tasks", "cpu-list"], skip: 1 },
  stdbuf: { values: "ioe", longValues: ["input", "output", "error"] },
  time: { flags: "pvaq", values: "fo", longFlags: ["portability", "verbose", "append", "quiet"], longValues: ["format", "output"] },
  prlimit: { flags: "v", longFlags: ["as", "core", "cpu", "data", "fsize", "nofile", "nproc", "rss", "stack"] },
  setarch: { flags: "BFILRSTXZv3", skip: 1 },
  linux32: {},
  linux64: {},
  unbuffer: { flags: "p" },
  faketime: { flags: "fm", skip: 1 },
  fakeroot: {},
  chroot: { longValues: ["userspec", "groups"], longFlags: ["skip-chdir"], skip: 1, elsewhere: /^/ },
  strace: { flags: "cCdfFhikqrtTvVwxyYzZ", values: "aebEIoOpPsSuUX" },
  ltrace: { flags: "bcCfiLrStT", values: "aAeFlnopsuwx" },
  exec: { flags: "cl", values: "a", inside: true },
  command: { flags: "p", asks: "vV", inside: true },
  builtin: { inside: true },
  noglob: { inside: true },
  busybox: {},
  toybox: {},
  tini: { flags: "gsvw", values: "pe" },
  "dumb-init": { flags: "cv", values: "r" },
  catchsegv: {},
  "xvfb-run": { flags: "al", values: "efnpsw" },
  "dbus-run-session": {},
  valgrind: {},
  numactl: {},
  gosu: { skip: 1 },
  "su-exec": { skip: 1 },
  "cross-env": { assigns: true },
  "cross-env-shell": { assigns: true },
  chronic: { flags: "ve" },
  ifne: { flags: "n" },
  logsave: { flags: "asv", skip: 1 },
  proot: {},
  torsocks: {},
  proxychains: {},
  proxychains4: {},
  xargs: {
    flags: "0oprtx",
    values: "IadEsLnPJRS",
    attached: "iel",
    longFlags: ["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "show-limits", "replace", "eof", "max-lines"],
    longValues: ["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
    fed: true,
  },
  npx: {
    flags: "yq",
    values: "pw",
    longFlags: ["yes", "no", "no-install", "quiet", "prefer-offline", "offline"],
    longValues: ["package", "workspace"],
  },
  bunx: { longFlags: ["bun", "verbose", "silent"] },
  uvx: { flags: "q", values: "p", longValues: ["from", "with", "python"] },
};

/** What loads programs also runs them. */
const LOADER: Options = { longFlags: ["inhibit-cache"], longValues: ["library-path", "argv0"] };

/** Programs whose first argument makes them run what follows. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  poetry: ["run"],
  pipenv: ["run"],
  uv: ["run"],
  pdm: ["run"],
  hatch: ["run"],
  rye: ["run"],
  bundle: ["exec"],
  conda: ["run"],
  direnv: ["exec"],
  rustup: ["run"],
  corepack: ["npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"],
  pipx: ["run"],
};
/** What stands between the verb and the program: a directory, a toolchain. */
const BEFORE_PROGRAM: Readonly<Record<string, number>> = { direnv: 1, rustup: 1 };

/** Options of these programs that carry text for a shell. */
const CODE_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  su: ["-c", "--command"],
  runuser: ["-c", "--command"],
  script: ["-c", "--command"],
  npx: ["-c", "--call"],
  sg: ["-c"],
};

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
    runs.length === 0 ? wraps(name, args) : name === "find" || runs.some((run) => run.kind === "command" && run.words.length === 0);
  const reached = runs.map((run): Wrapped => (run.kind === "command" ? { ...run, fed: true } : run));
  return { runs: isOpen ? [...reached, { kind: "unclear" }] : reached, sets };
}

/** Whether `name` with `args` would run what stands behind them. */
function wraps(name: string, args: readonly ShellWord[]): boolean {
  if (/^(?:find|fd|fdfind|watch|flock)$/.test(name) || Object.hasOwn(PREFIXES, name) || Object.hasOwn(CODE_OPTIONS, name)) return true;
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return args.length === 0;
  const verbs = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  return verbs !== undefined && (args.length === 0 || args.some(({ text }) => verbs.includes(text)));
}

function written(name: string, args: readonly ShellWord[]): Unwrapped {
  const code = codeOption(name, args);
  if (code !== undefined) return only({ kind: "code", code, elsewhere: true });
  if (name === "mapfile" || name === "readarray") return calledBack(args);
  if (name === "find" || name === "fd" || name === "fdfind") return { runs: foundRuns(name, args), sets: [] };
  if (name === "eval") return only({ kind: "code", code: joinedCode(args), inside: true });
  if (name === "trap") return trapped(args);
  if (name === "watch") return watched(args);
  if (name === "flock") return locked(args);
  const options = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : /^ld(?:-linux[\w-]*)?\.so[\d.]*$/.test(name) ? LOADER : undefined;
  if (options !== undefined) return prefixed(name, args, options);
  return runner(name, args);
}

function only(wrapped: Wrapped): Unwrapped {
  return { runs: [wrapped], sets: [] };
}

const NOTHING: Unwrapped = { runs: [], sets: [] };
const UNCLEAR: Unwrapped = only({ kind: "unclear" });

function codeOption(name: string, args: readonly ShellWord[]): ShellWord | undefined {
  const names = Object.hasOwn(CODE_OPTIONS, name) ? CODE_OPTIONS[name] : undefined;
  if (names === undefined) return undefined;
  for (const [index, { text }] of args.entries()) {
    if (names.includes(text)) return args[index + 1];
    const long = names.find((option) => option.startsWith("--") && text.startsWith(`${option}=`));
    if (long !== undefined) return args[index]?.known === true ? plainWord(text.slice(long.length + 1)) : args[index];
  }
  return undefined;
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
    return name === "xargs" ? { runs: [{ kind: "command", words: [plainWord("echo")], fed: true }], sets } : { runs: [], sets };
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
function longTaken(text: string, { longFlags = [], longValues = [] }: Options): number | undefined {
  const [name = ""] = text.slice(2).split("=", 1);
  const begins = (known: string) => known.startsWith(name);
  if (text.includes("=")) return [...longFlags, ...longValues].some(begins) ? 1 : undefined;
  if (longValues.some(begins)) return 2;
  return longFlags.some(begins) ? 1 : undefined;
}

/** How many arguments a group of short options takes, itself counted. */
function shortTaken(text: string, { flags = "", values = "", attached = "", asks = "" }: Options): number | "asks" | undefined {
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
  const at = args.findIndex(({ text }, index) => !isOption(text) && !/^-[a-zA-Z]*[WX]$/.test(args[index - 1]?.text ?? ""));
  const module = /^-[bBdEiIOPqRsSuvVx]*m(.*)$/s.exec(args[at]?.text ?? "");
  if (module?.[1] === "") return only({ kind: "command", words: args.slice(at + 1) });
  if (module?.[1] !== undefined) return only({ kind: "command", words: [plainWord(module[1]), ...args.slice(at + 1)] });
  return NOTHING;
}

function foundRuns(name: string, args: readonly ShellWord[]): readonly Wrapped[] {
  const runs: Wrapped[] = args.some((word) => !word.known && mayBeMany(word)) ? [{ kind: "unclear" }] : [];
  const begins = (text: string) => (name === "find" ? FIND_RUNS.has(text) : ["-x", "-X", "--exec", "--exec-batch"].includes(text));
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.text ?? "";
    if (name !== "find" && /^(?:-[a-zA-Z]*[xX]|--exec)./.test(text) && !begins(text)) runs.push({ kind: "unclear" });
    if (!begins(text)) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ text }, index) => text === ";" || (text === "+" && rest[index - 1]?.text === "{}"));
    const words = end === -1 ? rest : rest.slice(0, end);
    const isElsewhere = text.endsWith("dir") || (name !== "find" && args.some((option) => /^(?:-C|--base)/.test(option.text)));
    const command: Wrapped = { kind: "command", words: replaced(words, PLACES), fed: true, ...(isElsewhere && { elsewhere: true }) };
    runs.push(words.length === 0 ? { kind: "unclear" } : command);
    at += words.length;
  }
  return runs;
}

function trapped(args: readonly ShellWord[]): Unwrapped {
  const [code, ...signals] = args[0]?.text === "--" ? args.slice(1) : args;
  if (code === undefined || signals.length === 0 || code.text === "-" || (code.known && code.text.startsWith("-"))) return NOTHING;
  return only({ kind: "code", code, inside: true, repeated: true });
}

/** `watch` joins its arguments and hands them to a shell. */
function watched(args: readonly ShellWord[]): Unwrapped {
  const at = skipOptions(args, {
    flags: "bcCdegprtwx",
    values: "nqs",
    longFlags: ["beep", "color", "differences", "errexit", "chgexit", "precise", "no-title", "exec", "no-wrap"],
    longValues: ["interval", "equexit"],
  });
  if (typeof at !== "number") return UNCLEAR;
  return at === args.length ? NOTHING : only({ kind: "code", code: joinedCode(args.slice(at)) });
}

function locked(args: readonly ShellWord[]): Unwrapped {
  const at = skipOptions(args, {
    flags: "sxeunoFv",
    values: "wE",
    longFlags: ["shared", "exclusive", "unlock", "nonblock", "close", "no-fork", "verbose"],
    longValues: ["timeout", "wait", "conflict-exit-code"],
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
