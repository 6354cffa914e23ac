/** `handrail completion`: the script with which a shell completes commands, options and names of tools. */
import { Argument, type Command, type Option } from "commander";
import { type CompletedCommand, type CompletedOption, completionScript, SHELLS } from "../terminal/completion.ts";
import { print } from "../terminal/output.ts";

/** Commands whose first argument is the name of a tool. */
const TAKES_TOOL: ReadonlySet<string> = new Set(["handrail call", "handrail tools", "handrail policy explain"]);

/** Adds `handrail completion`. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the completion script of a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText(
      "after",
      `
Examples:
  source <(handrail completion bash)                                     in ~/.bashrc
  handrail completion zsh > "\${fpath[1]}/_handrail"                      once
  handrail completion fish > ~/.config/fish/completions/handrail.fish    once`,
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { BUILT_IN_TOOLS } = await import("../../server/operator/built-in-tools.ts");
      const tools = BUILT_IN_TOOLS.map(({ name }) => name).sort();
      print(completionScript(shell, completed(program, program.name(), tools)).trimEnd());
    });
}

/** The tree of commands as completion needs it. */
function completed(command: Command, path: string, tools: readonly string[]): CompletedCommand {
  const help = command.createHelp();
  return {
    path,
    description: command.description(),
    commands: command.commands.map((below) => completed(below, `${path} ${below.name()}`, tools)),
    options: help.visibleOptions(command).map(optionOf),
    words: TAKES_TOOL.has(path)
      ? tools
      : command.registeredArguments.flatMap(({ argChoices }, index) => (index === 0 ? (argChoices ?? []) : [])),
  };
}

function optionOf(option: Option): CompletedOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  return { flags, description: option.description, takes: takenBy(option) };
}

function takenBy({ flags, argChoices, required, optional }: Option): CompletedOption["takes"] {
  if (!required && !optional) return "nothing";
  if (argChoices !== undefined) return argChoices;
  if (flags.includes("directory>")) return "directory";
  return /[<[](?:file|path|token)\b/.test(flags) ? "file" : "other";
}
