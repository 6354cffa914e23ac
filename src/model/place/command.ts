/**
 * A command as what a call touches: which program runs, with what arguments, fed by what, started through what.
 *
 * It is the parsed form that leases, policy, prompts and evidence see, never the text that an agent wrote. INVARIANT:
 * what was not understood has a danger to its name; `UNKNOWN_BINARY` stands for a program that is only known at run
 * time.
 */

/** Why a command may do more than its parsed form says. */
export const COMMAND_DANGERS = [
  /** The text is no whole command, or the grammar and the shell may read it differently. */
  "unparsed",
  /** Too long, too deep or too many commands to look through. */
  "too_much",
  /** Control characters, or characters that are not seen. */
  "hidden_characters",
  /** A program's name holds letters that look like others. */
  "lookalike",
  /** Which program runs is only known at run time. */
  "dynamic_binary",
  /** Which text a shell runs is only known at run time: `eval "$x"`, `curl … | sh`. */
  "dynamic_code",
  /** Where output goes, or input comes from, is only known at run time. */
  "dynamic_redirection",
  /** An interpreter gets a program as text: `python -c`, `node -e`. */
  "inline_code",
  /** An option, or what it is told, makes a program start another: `tar --to-command`, `rg --pre`, `sqlite3 .shell`. */
  "argument_program",
  /** An argument names a library or a plug-in that a program loads: `curl --engine`, `gcc -fplugin`. */
  "loaded_code",
  /** A program acts outside of the sandbox, by another machine or a service of this one: `ssh`, `docker run`, `at`. */
  "leaves_machine",
  /** A program takes commands while it runs, which can start others: `ed`, `vim`, `telnet`. */
  "interactive",
  /** A word that is only known at run time may be an option, or a text, that starts or loads something: `tar $x`. */
  "dynamic_options",
  /** Variables that change what programs are or load: `PATH`, `LD_PRELOAD`. */
  "environment",
  /** What names stand for is changed: `alias`, `enable`, `hash -p`. */
  "shell_state",
  /** A program that runs another was given options that are not understood. */
  "unclear_wrapper",
] as const;
/** One of them. */
export type CommandDanger = (typeof COMMAND_DANGERS)[number];

/** How reasons put a danger, where they name the part of the command that it comes from. */
export const REASON_WORDS = {
  argument_program: ["starts another program"],
  inline_code: ["runs code", "gets a program as text"],
  loaded_code: ["loads a library or plug-in"],
  leaves_machine: ["acts outside of this sandbox"],
  interactive: ["takes commands while it runs, which can start programs"],
} as const satisfies Partial<Readonly<Record<CommandDanger, readonly [string, ...string[]]>>>;

/** The binary of a command that is only known at run time. */
export const UNKNOWN_BINARY = "?";

/** A command as a resource. */
export interface CommandResource {
  readonly kind: "command";
  /** The program as it is looked up; of programs in the system's directories the bare name. */
  readonly binary: string;
  /** The command written out: words decoded, quotes only where they are needed, without what it is connected with. */
  readonly line: string;
  /** In order; those that are only known at run time as they are written. */
  readonly arguments: readonly string[];
  /** Some arguments are only known at run time. */
  readonly dynamic: boolean;
  /** Names of the programs whose output it gets, by pipe or by substitution. */
  readonly inputFrom: readonly string[];
  /** Names of the programs that start it, the outermost first: `sudo`, `xargs`, `sh`. */
  readonly via: readonly string[];
  readonly dangers: readonly CommandDanger[];
  /**
   * Which part of the command each danger comes from, in the kernel's own words; absent where there is nothing to say.
   */
  readonly reasons?: readonly string[];
  /** Each character once that stands in the whole text and means something to a shell, quoted or not. */
  readonly characters: readonly string[];
}

/** What is not said of a command is that there is none of it. */
type Beside = Partial<Pick<CommandResource, "dynamic" | "inputFrom" | "via" | "dangers" | "reasons" | "characters">>;

/** The resource of a program that is started with `argv`, without a shell. */
export function commandOf(argv: readonly [string, ...string[]], beside: Beside = {}): CommandResource {
  const [program, ...rest] = argv;
  const binary = plainBinary(program);
  const line = [binary, ...rest].map(quoted).join(" ");
  return {
    kind: "command",
    binary,
    line,
    arguments: rest,
    dynamic: false,
    inputFrom: [],
    via: [],
    dangers: [],
    characters: [],
    ...beside,
  };
}

/** Program and arguments one by one; the whole line where the program is only known at run time. */
export function wordsOfCommand({ binary, arguments: rest, line }: CommandResource): readonly string[] {
  return binary === UNKNOWN_BINARY ? [line] : [binary, ...rest];
}

/** Directories of the system, whose programs are read only in a sandbox: a path there is as good as the name. */
const SYSTEM_DIRECTORIES = new Set(["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"]);

/** `program` as leases and policies name it. */
function plainBinary(program: string): string {
  if (!program.startsWith("/") || program.split("/").includes("..")) return program;
  const parts = program.split("/").filter((part) => part !== "" && part !== ".");
  const name = parts.pop() ?? "";
  return name !== "" && SYSTEM_DIRECTORIES.has(`/${parts.join("/")}`) ? name : program;
}

/** The last part of a program's path: what denials go by, because a path must not hide a program. */
export function programName(binary: string): string {
  return binary.slice(binary.lastIndexOf("/") + 1);
}

const SHELL_CHARACTERS = "|;&$`<>(){}[]*?~!#=%\\\"'\n";

/** Each character that means something to a shell and stands in `text`, once. */
export function shellCharacters(text: string): readonly string[] {
  return [...SHELL_CHARACTERS].filter((character) => text.includes(character));
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** `word` so that a shell reads it back as the same. */
export function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * The options of `args`, each by its name: `-rf` as `rf`, `r` and `f`, `--force=yes` as `force`. What follows `--` is
 * none.
 */
export function optionNames(args: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const argument of args) {
    if (argument === "--") break;
    if (argument.length < 2 || !argument.startsWith("-")) continue;
    const name = argument.replace(/^--?/, "").split("=", 1)[0] ?? "";
    if (name !== "") names.add(name);
    if (!argument.startsWith("--")) for (const letter of name) names.add(letter);
  }
  return [...names].sort();
}

/**
 * The first argument, if it is no option: what `npm`, `git` and their like are told to do. Empty where an option stands
 * before it, whose value it could be.
 */
export function subcommandOf(args: readonly string[]): string {
  const [first = ""] = args;
  return first.startsWith("-") ? "" : first;
}
