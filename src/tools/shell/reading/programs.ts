/**
 * Knows dangers of programs beyond their names: shells, interpreters and builtins.
 *
 * These are shells that run text, interpreters that take a program as an argument, and builtins that change what names
 * stand for. Which options of other programs start or load something stands in `gadgets/`.
 *
 * It can only add dangers. A program that is not listed here, or there, is one whose arguments are data.
 */

import { type CommandDanger, REASON_WORDS } from "../../../model/place/command.ts";
import { isRefusedEnvironmentName } from "../../../names/environment-names.ts";
import { gadgetsOf, mayBecomeGadget, mayBeOption } from "../gadgets/find-gadgets.ts";
import { gitGadgets } from "../gadgets/git.ts";
import { scriptGadgets } from "../gadgets/scripts.ts";
import type { Input } from "../words/input.ts";
import { isFixed, mayBeMany, plainWord, type ShellWord } from "../words/words.ts";

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
  if (OTHER_SHELLS.has(name))
    return shellCode(args) === undefined && namesScript(args) ? { kind: "script" } : { kind: "unknown" };
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
  [/^(?:node|nodejs|bun|tsx|ts-node)$/, /^-[a-zA-Z]*[ep]|^--(?:eval|print)/],
  [/^perl[\d.]*$/, /^-[a-zA-Z0-9]*[eEM]/],
  [/^(?:ruby|jruby)[\d.]*$/, /^-[a-zA-Z]*[er]/],
  [/^php[\d.]*$/, /^-[a-zA-Z]*[rBREd]|^--(?:run|process)/],
  [/^(?:lua|luajit)[\d.]*$/, /^-[el]/],
  [
    /^(?:R|Rscript|julia|elixir|erl|ghc|scala|groovy|clojure|clj|raku|guile|osascript|sbcl)$/,
    /^-{1,2}(?:e|E|eval|c)\b/,
  ],
];

/** Interpreters that run what they read when they are given no file. */
const READERS = /^(?:(?:python|pypy|perl|ruby|php|lua|luajit)[\d.]*|node|nodejs|bun|deno|tclsh|R|Rscript|make)$/;

/** Builtins that change what names, or the text that follows, stand for. */
const STATE = new Set(["alias", "enable", "bind", "complete", "compopt", "fc", "history"]);

/** Builtins all of whose words are names. */
const NAMES_ALONE = new Set("export declare typeset local readonly unset read mapfile readarray".split(" "));
/** Builtins that set variables by name. */
const SETTERS = new Set([...NAMES_ALONE, "printf", "getopts", "let"]);

/** A danger of a command, and which part of the command it comes from where that can be said. */
export interface FoundDanger {
  readonly danger: CommandDanger;
  readonly reason?: string;
}

/**
 * The dangers of running `name` with `args`, by itself.
 * @param fed when it gets more of them at run time
 */
export function dangersOf(
  name: string,
  args: readonly ShellWord[],
  { input, fed }: { readonly input: Input; readonly fed: boolean },
): readonly FoundDanger[] {
  const dangers: FoundDanger[] = [
    ...gadgetsOf(name, args, input),
    ...scriptGadgets(name, args),
    ...gitGadgets(name, args),
  ];
  if (takesCode(name, args) || readsCode(name, args, input))
    dangers.push({ danger: "inline_code", reason: `\`${shownName(name)}\` ${REASON_WORDS.inline_code[1]}` });
  if (mayBecomeGadget(name, args, fed) || mayTakeCode(name, args, fed)) dangers.push({ danger: "dynamic_options" });
  if (STATE.has(name) || changesShell(name, args)) dangers.push({ danger: "shell_state" });
  if (name === "." || name === "source")
    if (!isScriptFile(args[0]?.text === "--" ? args[1] : args[0])) dangers.push({ danger: "dynamic_code" });
  if (SETTERS.has(name) && (args.some(setsRefused) || namesAnything(name, args)))
    dangers.push({ danger: "environment" });
  return dangers;
}

/** A name that a pattern matched in part is shown by its letters alone. */
function shownName(name: string): string {
  return /^[\w.+-]{1,32}$/.test(name) ? name : "interpreter";
}

/** Whether words that are only known at run time may be an interpreter's option that carries a program. */
function mayTakeCode(name: string, args: readonly ShellWord[], fed: boolean): boolean {
  return CODE_OPTIONS.some(([programs]) => programs.test(name)) && (fed || args.some(mayBeOption));
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

/**
 * Options of the shell that change how it reads what follows: `keyword` takes assignments out of arguments, `physical`
 * follows links on the way up.
 */
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

/**
 * Whether the name of a variable that is set is only known at run time: by the word, or because it refers to another.
 */
function namesAnything(name: string, args: readonly ShellWord[]): boolean {
  const isOpen = ({ known, text }: ShellWord) => !known && !/^[A-Za-z_][A-Za-z0-9_]*(?:\+?=|\[)/.test(text);
  if (name === "printf") return args[0]?.text.startsWith("-v") === true && args.slice(0, 2).some(isOpen);
  if (!NAMES_ALONE.has(name)) return false;
  const refers = ["declare", "typeset", "local"].includes(name) && args.some(({ text }) => /^-[a-zA-Z]*n/.test(text));
  return refers || args.some(isOpen);
}
