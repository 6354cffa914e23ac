// Writes the commands of docs/reference/commands.md, between its two markers, from what `--help` says of each command.
// Run it after changing a command: `node scripts/command-reference.mjs`. `test/docs/commands.test.ts` says when it has
// to be run.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../docs/reference/commands.md", import.meta.url));

/** Options that most commands share, by their flags and what they mean; the page explains them once. */
const SHARED = new Map([
  ["--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)"],
  ["--config <directory>", "operator directory (default: $HANDRAIL_CONFIG_HOME or $XDG_CONFIG_HOME/handrail)"],
  ["--json", "print JSON"],
]);

/**
 * @typedef {import("commander").Command} Command
 *
 * A command as its `--help` shows it: its words, what it does, how it is typed, its options, and what stands below
 * them.
 * @typedef {{ name: string, description: string, usage: string, options: [string, string][], after: string }} Shown
 */

/**
 * Every command of the command line, in the order of `--help`.
 * @returns {Promise<Shown[]>}
 */
export async function shownCommands() {
  const { createProgram } = await import("../src/cli/program.ts");
  return commandsBelow(await createProgram(), "handrail");
}

/**
 * @param {Command} parent
 * @param {string} words
 * @returns {Shown[]}
 */
function commandsBelow(parent, words) {
  return parent.commands.flatMap((command) => {
    const name = `${words} ${command.name()}`;
    const below = commandsBelow(command, name);
    return [shown(command, name, below.length > 0), ...below];
  });
}

/**
 * @param {Command} command
 * @param {string} name
 * @param {boolean} isGroup
 * @returns {Shown}
 */
function shown(command, name, isGroup) {
  const help = command.createHelp();
  const options = help
    .visibleOptions(command)
    .map((option) => /** @type {[string, string]} */ ([help.optionTerm(option), help.optionDescription(option)]))
    .filter(([flags]) => flags !== "-h, --help");
  const aliases = command.aliases().map((alias) => ` (also \`${alias}\`)`);
  return {
    name,
    description: `${command.description()}${aliases.join("")}`,
    usage: isGroup ? "" : `${name} ${command.usage()}`,
    options,
    after: textAfter(command),
  };
}

/**
 * What a command prints below its options.
 * @param {Command} command
 */
function textAfter(command) {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.slice(text.indexOf(command.helpInformation()) + command.helpInformation().length).trim();
}

/**
 * The commands as Markdown.
 * @param {readonly Shown[]} commands
 */
export function commandReference(commands) {
  return commands.map(section).join("\n");
}

/** @param {Shown} command */
function section({ name, description, usage, options, after }) {
  const depth = name.split(" ").length;
  const isShared = (/** @type {[string, string]} */ [flags, meaning]) => SHARED.get(flags) === meaning;
  const own = options.filter((option) => !isShared(option));
  const shared = options.filter(isShared).map(([flags]) => `\`${flags.split(" ")[0]}\``);
  const rows = own.map(([flags, meaning]) => `| \`${flags.replaceAll("|", "\\|")}\` | ${escaped(meaning)} |`);
  const parts = [
    `${"#".repeat(depth)} \`${name}\``,
    `${upperFirst(escaped(description))}.`,
    ...(usage === "" ? [] : [`\`${usage}\``]),
    ...(rows.length > 0 ? [["| option | meaning |", "|---|---|", ...rows].join("\n")] : []),
    ...(shared.length > 0 ? [`Shared options: ${shared.join(", ")}.`] : []),
    ...(after === "" ? [] : [`\`\`\`text\n${after}\n\`\`\``]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** @param {string} text */
function upperFirst(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/**
 * A text that stays one cell of a table, and that Markdown does not take for a tag.
 * @param {string} text
 */
function escaped(text) {
  return text.replaceAll("|", "\\|").replace(/(`[^`]*`)|<([a-z]+)>/g, (whole, code) => code ?? `\\${whole}`);
}

/**
 * The page with `reference` between its markers.
 * @param {string} page
 * @param {string} reference
 */
export function withReference(page, reference) {
  const marked = /(<!-- commands: begin[^>]*-->\n)[\s\S]*?(<!-- commands: end -->)/;
  if (!marked.test(page)) throw new Error("docs/reference/commands.md has lost its markers");
  return page.replace(marked, (_, begin, end) => `${begin}\n${reference}\n${end}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, withReference(readFileSync(PAGE, "utf8"), commandReference(await shownCommands())));
}
