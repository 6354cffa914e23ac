/** Says what ended a command, in one line that says what to do next. */
import { type Command, CommanderError } from "commander";
import { errorCode, FileError, KernelError, usageError } from "../base/errors.ts";
import { EXIT_OK, exitOfError } from "./terminal/exit-codes.ts";
import { printProblem, say, visible } from "./terminal/output.ts";

/**
 * Tells the user what `error` was, and returns the exit code.
 * @param words what was typed after `handrail`
 */
export async function endOf(error: unknown, program: Command, words: readonly string[]): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === EXIT_OK) return EXIT_OK; // help or version was shown
  const failure = error instanceof CommanderError ? await misused(error, program, words) : (ofMachine(error) ?? error);
  if (wantsJson(words)) printProblem(problemOf(failure));
  await tell(failure);
  return exitOfError(failure);
}

function problemOf(failure: unknown): { readonly code: string; readonly message: string } {
  if (failure instanceof KernelError && failure.code !== "INTERNAL")
    return { code: failure.code, message: failure.message };
  return { code: "INTERNAL", message: "an internal error; standard error says more" };
}

/** Says it, unless the kernel's log has just said the same. */
async function tell(failure: unknown): Promise<void> {
  if (!(failure instanceof KernelError) || failure.code === "INTERNAL") {
    say(`handrail: ${failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)}`);
    return;
  }
  const { wasTold } = await import("../server/report.ts");
  if (wasTold(failure.message)) return;
  say(`handrail: ${failure.message.split("\n").map(visible).join("\n")}`);
  if (failure instanceof FileError) for (const line of await placesOf(failure)) say(`  ${visible(line)}`);
}

/** Where the mistakes of a file stand, and what stands there, as far as that can be found. */
async function placesOf({ problems }: FileError): Promise<readonly string[]> {
  const { placedMistakes } = await import("../server/doctor/mistakes.ts");
  const mistakes = await placedMistakes(problems, process.cwd());
  return mistakes.flatMap(({ place: { file, line, column, snippet } }) =>
    line === undefined ? [] : [`${file}:${line}:${column}: ${snippet}`],
  );
}

/** Whether JSON was asked for: what cannot be parsed has no options yet. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end === -1 ? words : words.slice(0, end)).some((word) => word === "--json" || word.startsWith("--json="));
}

/** What a person calls a system's answer, and what to do about it. */
const MACHINE: Readonly<Record<string, string>> = {
  EACCES: "permission denied; give this user the right to it, or name another place",
  EPERM: "the operation is not permitted; run as its owner, or name another place",
  EROFS: "the file system is read only; name another place, for the state with `--state DIRECTORY`",
  ENOSPC: "the disk is full; make room, then try again",
  EDQUOT: "the quota of this user is used up; make room, then try again",
  ENOENT: "it does not exist; look whether the name is right",
  ENOTDIR: "a part of the path is no directory; look whether the name is right",
  EISDIR: "it is a directory; name a file",
  EEXIST: "something else stands there; remove it, or name another place",
  ELOOP: "too many links; name the place itself",
  ENAMETOOLONG: "the path is too long; name a shorter one",
  EMFILE: "too many files are open; raise `ulimit -n`, then try again",
  EADDRINUSE: "the address is in use; end the other program, or name another address",
  EADDRNOTAVAIL: "this machine has no such address; name another one",
};

/** What the machine refused to a command, in words; `undefined` for everything else. */
function ofMachine(error: unknown): KernelError | undefined {
  if (error instanceof KernelError || !(error instanceof Error)) return undefined;
  const words = MACHINE[errorCode(error)];
  if (words === undefined) return undefined;
  const { path, syscall } = error as NodeJS.ErrnoException;
  const what = path === undefined ? (syscall ?? "the system") : `\`${visible(path)}\``;
  return new KernelError("STORE_UNAVAILABLE", `${what}: ${words} (${errorCode(error)})`, error);
}

/** What was typed wrongly, with what was probably meant. */
async function misused(
  { code, message }: CommanderError,
  program: Command,
  words: readonly string[],
): Promise<KernelError> {
  const { command, rest, path } = commandOf(program, words);
  const help = `\`${path} --help\``;
  if (code === "commander.help") return usageError(`say what to do with ${path}; ${help} lists its commands`);
  if (code === "commander.unknownCommand") {
    const named = rest.find((word) => !word.startsWith("-")) ?? "";
    const meant = command === program ? await meantAtRoot(program, named) : await nearestCommand(command, named, path);
    const hint = meant === undefined ? `${help} lists the commands` : `did you mean \`${meant}\`?`;
    return usageError(`unknown command \`${named}\`; ${hint}`);
  }
  const [said = "", suggested] = message.replace(/^error: /, "").split("\n");
  const meant = suggested?.match(/^\(Did you mean (?:one of )?(.+?)\?\)$/)?.[1];
  const plain = said.replace(/\.$/, "").replaceAll(/'([^']*)'/g, "`$1`");
  return usageError(`${plain}; ${meant === undefined ? `${help} shows its use` : `did you mean \`${meant}\`?`}`);
}

/** The innermost command that the words name, what is left of them, and how it is called. */
function commandOf(program: Command, words: readonly string[]) {
  let command = program;
  let taken = 0;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    command = next;
    taken += 1;
  }
  return { command, rest: words.slice(taken), path: ["handrail", ...words.slice(0, taken)].join(" ") };
}

async function nearestCommand(command: Command, name: string, path: string): Promise<string | undefined> {
  const { nearestName } = await import("../text/near-miss.ts");
  const meant = nearestName(
    name,
    command.commands.map((one) => one.name()),
  );
  return meant === undefined ? undefined : `${path} ${meant}`;
}

/** Words that other programs have for what is an option here. */
const OPTIONS: Readonly<Record<string, string>> = { version: "--version" };

/** A name that is no command may be that of a tool, or an option's. */
async function meantAtRoot(program: Command, name: string): Promise<string | undefined> {
  const option = OPTIONS[name];
  if (option !== undefined) return `handrail ${option}`;
  const { BUILT_IN_TOOLS } = await import("../server/operator/built-in-tools.ts");
  const tools = BUILT_IN_TOOLS.map((tool) => tool.name);
  if (tools.includes(name)) return `handrail call ${name}`;
  const command = await nearestCommand(program, name, "handrail");
  if (command !== undefined) return command;
  const { nearestName } = await import("../text/near-miss.ts");
  const tool = nearestName(name, tools);
  return tool === undefined ? undefined : `handrail call ${tool}`;
}
