/**
 * What is known of programs beyond their names: shells that run text, interpreters that take a program as an argument, options
 * that name a program to run, and builtins that change what names stand for.
 *
 * It can only add dangers. A program that is not listed here is one whose arguments are data.
 */

import type { CommandDanger } from "../../model/command.ts";
import { isRefusedEnvironmentName } from "../../model/environment-names.ts";
import type { Input } from "./input.ts";
import { isFixed, mayBeMany, plainWord, type ShellWord } from "./words.ts";

/** Shells that read the same language as far as it matters here. */
const SHELLS = new Set(["sh", "bash", "dash", "ash", "ksh", "mksh", "rbash", "bash.exe"]);
/** Shells of other languages. */
const OTHER_SHELLS = new Set(["zsh", "fish", "csh", "tcsh", "pwsh", "powershell", "nu", "elvish", "xonsh"]);

/** What a shell is told to run. */
export type ShellRun =
  | { readonly kind: "code"; readonly code: ShellWord }
  /** Text that is only known at run time, or of another language. */
  | { readonly kind: "unknown" }
  /** A script by its name, or nothing. */
  | { readonly kind: "script" };

/** What the shell `name` runs when it is given `args`; `undefined` for what is no shell. */
export function shellRun(name: string, args: readonly ShellWord[], input: Input): ShellRun | undefined {
  if (OTHER_SHELLS.has(name)) return shellCode(args) === undefined && namesScript(args) ? { kind: "script" } : { kind: "unknown" };
  if (!SHELLS.has(name)) return undefined;
  const code = shellCode(args);
  if (code === "unknown") return { kind: "unknown" };
  if (code !== undefined) return { kind: "code", code };
  if (namesScript(args)) return { kind: "script" };
  if (input.kind === "text") return { kind: "code", code: plainWord(input.text) };
  const asksOnly = args.length > 0 && args.every(({ text }) => text === "--version" || text === "--help");
  return asksOnly ? { kind: "script" } : { kind: "unknown" };
}

/** Options of a shell that take a value. */
const SHELL_VALUES = new Set(["-o", "+o", "-O", "+O", "--rcfile", "--init-file"]);

/** The text after `-c`, `unknown` where the options are. */
function shellCode(args: readonly ShellWord[]): ShellWord | "unknown" | undefined {
  let takesCode = false;
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] as ShellWord;
    if (!argument.known && !takesCode) return /^[-+$`]/.test(argument.text) ? "unknown" : undefined;
    const { text } = argument;
    if (text === "--" || text === "-") return takesCode ? (args[at + 1] ?? "unknown") : undefined;
    if (!/^[-+]./.test(text) || !argument.known) return takesCode ? argument : undefined;
    if (!text.startsWith("--") && /^-[a-zA-Z]*c/.test(text)) takesCode = true;
    if (!SHELL_VALUES.has(text) && !/^[-+][a-zA-Z]+[oO]$/.test(text)) continue;
    at += 1;
    const value = args[at];
    if (value !== undefined && mayBeMany(value)) return "unknown";
  }
  return takesCode ? "unknown" : undefined;
}

/** Whether a script is named that is a file of its own, and not what comes in. */
function namesScript(args: readonly ShellWord[]): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const { text } = args[at] as ShellWord;
    if (SHELL_VALUES.has(text)) at += 1;
    else if (/^-[a-zA-Z]*s/.test(text) && !text.startsWith("--")) return false;
    else if (!/^[-+]./.test(text)) return isScriptFile(args[at]);
  }
  return false;
}

function isScriptFile(word: ShellWord | undefined): boolean {
  return isFixed(word) && word.text !== "-" && !/^\/(?:dev|proc)\//.test(word.text);
}

/** By interpreter: the letters and names of options that carry a program. */
const CODE_OPTIONS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:python|pypy)[\d.]*$/, /^-[a-zA-Z]*c/],
  [/^(?:node|nodejs|bun|tsx|ts-node)$/, /^-[a-zA-Z]*[ep]|^--(?:eval|print|import|require|loader|experimental-loader)/],
  [/^perl[\d.]*$/, /^-[a-zA-Z0-9]*[eEM]/],
  [/^(?:ruby|jruby)[\d.]*$/, /^-[a-zA-Z]*[er]/],
  [/^php[\d.]*$/, /^-[a-zA-Z]*[rBREd]|^--(?:run|process)/],
  [/^(?:lua|luajit)[\d.]*$/, /^-[el]/],
  [/^(?:R|Rscript|julia|elixir|erl|ghc|scala|groovy|clojure|clj|raku|guile|osascript|sbcl)$/, /^-{1,2}(?:e|E|eval|c)\b/],
  [/^(?:vi|vim|nvim|ex|view|emacs|gdb|lldb|sqlite3|psql|mysql|tclsh|expect|ed)$/, /^(?:-c$|--cmd|-ex$|--eval|-batch|-S$|\+)/],
];

/** Interpreters that run what they read when they are given no file. */
const READERS =
  /^(?:(?:python|pypy|perl|ruby|php|lua|luajit)[\d.]*|node|nodejs|bun|deno|tclsh|R|Rscript|sqlite3|psql|mysql|gdb|ed|ex|make|at|batch|bc)$/;

/** By program: options that name a program, or a text, that is run. */
const PROGRAM_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  tar: [
    "--to-command",
    "--checkpoint-action",
    "--use-compress-program",
    "--info-script",
    "--new-volume-script",
    "--rsh-command",
    "--rmt-command",
  ],
  bsdtar: ["--use-compress-program"],
  cpio: ["--rsh-command"],
  rg: ["--pre", "--hostname-bin"],
  git: [
    "--config-env",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--open-files-in-pager",
    "--extcmd",
    "--template",
  ],
  sort: ["--compress-program"],
  split: ["--filter"],
  ssh: ["-o", "-F", "-S"],
  scp: ["-o", "-F", "-S"],
  sftp: ["-o", "-F", "-S", "-D"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  man: ["-P", "--pager", "-H", "--html"],
  zip: ["-TT", "--unzip-command"],
  wget: ["--use-askpass"],
  gcc: ["-wrapper", "-fplugin", "-B"],
  "g++": ["-wrapper", "-fplugin", "-B"],
  cc: ["-wrapper", "-fplugin", "-B"],
  make: ["--eval"],
  ld: ["-plugin", "--plugin"],
  tcpdump: ["-z"],
  openssl: ["-engine", "-provider"],
  less: ["-k", "--lesskey-src"],
  pip: ["--global-option", "--config-settings"],
  npm: ["--script-shell", "--node-options"],
  cargo: ["--config"],
  go: ["-exec", "-toolexec", "-vettool", "-overlay"],
  docker: ["--entrypoint"],
  systemd: ["--property"],
  dpkg: ["--pre-invoke", "--post-invoke"],
  apt: ["-o"],
  "apt-get": ["-o"],
  nmap: ["--script"],
  ctags: ["--options"],
  ffmpeg: ["-filter_script"],
  crontab: ["-"],
  parallel: ["-"],
  entr: ["-"],
};

/** Programs that run another whatever their options are, in ways that are not followed. */
const OTHER_RUNNERS = new Set([
  "parallel",
  "entr",
  "nsenter",
  "unshare",
  "systemd-run",
  "setpriv",
  "capsh",
  "firejail",
  "bwrap",
  "pkexec",
  "rlwrap",
  "screen",
  "tmux",
]);

/** Verbs of git that run programs. */
const GIT_RUNS = new Set(["bisect", "submodule", "filter-branch", "difftool", "mergetool"]);

/** By verb of git: short options that name a program, or set one. */
const GIT_LETTERS: Readonly<Record<string, RegExp>> = {
  clone: /^(?:-c|-u|--config)/,
  rebase: /^-x/,
  grep: /^-[a-zA-Z]*O/,
  "ls-remote": /^--exec/,
};

/** Builtins that change what names, or the text that follows, stand for. */
const STATE = new Set(["alias", "enable", "bind", "complete", "compopt", "fc", "history"]);

/** Builtins that set variables by name. */
const SETTERS = new Set([
  "export",
  "declare",
  "typeset",
  "local",
  "readonly",
  "unset",
  "read",
  "mapfile",
  "readarray",
  "printf",
  "getopts",
  "let",
]);

/** The dangers of running `name` with `args`, by itself. */
export function dangersOf(name: string, args: readonly ShellWord[], input: Input): readonly CommandDanger[] {
  const dangers = new Set<CommandDanger>();
  if (takesCode(name, args) || readsCode(name, args, input) || hasScript(name, args)) dangers.add("inline_code");
  if (namesProgram(name, args)) dangers.add("argument_program");
  if (OTHER_RUNNERS.has(name)) dangers.add("unclear_wrapper");
  if (STATE.has(name) || changesShell(name, args)) dangers.add("shell_state");
  if (name === "." || name === "source") if (!isScriptFile(args[0]?.text === "--" ? args[1] : args[0])) dangers.add("dynamic_code");
  if (SETTERS.has(name) && (args.some(setsRefused) || namesAnything(name, args))) dangers.add("environment");
  return [...dangers];
}

function takesCode(name: string, args: readonly ShellWord[]): boolean {
  const option = CODE_OPTIONS.find(([programs]) => programs.test(name))?.[1];
  if (option === undefined) return name === "deno" && args[0]?.text === "eval";
  for (const [at, { text }] of args.entries()) {
    if (option.test(text) && text !== "--") return true;
    if (text === "--" || (!/^[-+]/.test(text) && !VALUE_FOLLOWS.test(args[at - 1]?.text ?? ""))) return false;
  }
  return false;
}

/** Options of interpreters whose value is the next word. */
const VALUE_FOLLOWS = /^-(?:[a-zA-Z]*[WXCI]|[dcz]|-(?:conditions|env-file|title))$/;

function readsCode(name: string, args: readonly ShellWord[], input: Input): boolean {
  if (input.kind === "none" || !READERS.test(name)) return false;
  if (name === "make") return args.some(({ text }) => /^(?:-f-?|--file=-|--makefile=-|-)$/.test(text));
  return args.every(({ text }) => text.startsWith("-"));
}

/** Programs in the languages of `awk` and `sed` may start others. */
function hasScript(name: string, args: readonly ShellWord[]): boolean {
  if (/^[gmn]?awk$/.test(name)) {
    return args.some(({ text, known }) =>
      text.startsWith("-") || !known ? /^-[eEil]|^--(?:source|include|load|exec)/.test(text) : /system|getline|[|>@]/.test(text),
    );
  }
  if (name !== "sed" && name !== "gsed") return false;
  return args.some(
    ({ text }) => !text.startsWith("-") && /(?:^|[\d$;{},/!\s])e(?:\s|$|;|\})|\/[gpiIMm\d]*e[gpiIMm\d]*(?:$|[\s;}])/.test(text),
  );
}

function namesProgram(name: string, args: readonly ShellWord[]): boolean {
  const plain = (name === "git" && gitRuns(args)) || (name === "tar" && args.some(({ text }, at) => tarRuns(text, at)));
  const options = Object.hasOwn(PROGRAM_OPTIONS, name) ? (PROGRAM_OPTIONS[name] ?? []) : [];
  return plain || args.some(({ text }) => options.some((option) => isOption(text, option)));
}

/** `-c` sets a program before the verb; after it other letters do, by verb. */
function gitRuns(args: readonly ShellWord[]): boolean {
  let at = 0;
  for (; args[at]?.text.startsWith("-") === true; at += 1) {
    const { text } = args[at] as ShellWord;
    if (text.startsWith("-c")) return true;
    if (["-C", "--git-dir", "--work-tree", "--namespace"].includes(text)) at += 1;
  }
  const verb = args[at]?.text ?? "";
  if (GIT_RUNS.has(verb)) return true;
  const letters = Object.hasOwn(GIT_LETTERS, verb) ? GIT_LETTERS[verb] : undefined;
  return letters !== undefined && args.slice(at + 1).some(({ text }) => letters.test(text));
}

/** Its options may stand in a group, and the first group without a dash. */
function tarRuns(text: string, at: number): boolean {
  return /^-[a-zA-Z]*[IF]/.test(text) || (at === 0 && /^[a-zA-Z]*[IF][a-zA-Z]*$/.test(text));
}

/** Long options may be cut short, short ones grouped or joined with their value. */
function isOption(text: string, option: string): boolean {
  if (!option.startsWith("--")) return option.length === 2 ? text.startsWith(option) : text === option || text.startsWith(`${option}=`);
  const [name = ""] = text.split("=", 1);
  return name.length > 4 && option.startsWith(name);
}

/** Options of the shell that change how it reads what follows: `keyword` takes assignments out of arguments, `physical` follows links on the way up. */
const SHELL_OPTIONS = new Set(["posix", "history", "histexpand", "keyword", "physical"]);

function changesShell(name: string, args: readonly ShellWord[]): boolean {
  if (name === "hash") return args.some(({ text }) => text.startsWith("-p"));
  if (name === "shopt") return args.some(({ text }) => /^-[qo]*s/.test(text)) || args.some(({ known }) => !known);
  if (name !== "set") return false;
  for (const [at, { text }] of args.entries()) {
    if (/^[-+][a-zA-Z]*o$/.test(args[at - 1]?.text ?? "") && SHELL_OPTIONS.has(text)) return true;
    if (text === "--" || !/^[-+]/.test(text)) {
      if (!/^[-+][a-zA-Z]*o$/.test(args[at - 1]?.text ?? "")) return false;
    } else if (/^[-+][a-zA-Z]*[kP]/.test(text)) return true;
  }
  return false;
}

/** The name may be joined to the option that takes it, and stand behind that of a reference. */
function setsRefused({ text }: ShellWord): boolean {
  const name = /^(?:-[a-zA-Z]*?[va])?([A-Za-z_][A-Za-z0-9_]*)(?:$|[+=[])/.exec(text)?.[1];
  return name !== undefined && isRefusedEnvironmentName(name);
}

/** Builtins all of whose words are names. */
const NAMES_ALONE = new Set(["export", "declare", "typeset", "local", "readonly", "unset", "read", "mapfile", "readarray"]);

/** Whether the name of a variable that is set is only known at run time: by the word, or because it refers to another. */
function namesAnything(name: string, args: readonly ShellWord[]): boolean {
  const isOpen = ({ known, text }: ShellWord) => !known && !/^[A-Za-z_][A-Za-z0-9_]*(?:\+?=|\[)/.test(text);
  if (name === "printf") return args[0]?.text.startsWith("-v") === true && args.slice(0, 2).some(isOpen);
  if (!NAMES_ALONE.has(name)) return false;
  const refers = ["declare", "typeset", "local"].includes(name) && args.some(({ text }) => /^-[a-zA-Z]*n/.test(text));
  return refers || args.some(isOpen);
}
