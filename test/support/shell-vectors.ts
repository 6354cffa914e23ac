/** Shell commands with what is expected of their parsed form, as text files that people can read. */
import { parseCommand } from "../../src/tools/shell/reading/parse-command.ts";

/** A command, and a line for everything that it does. */
export interface ShellVector {
  readonly text: string;
  readonly expected: readonly string[];
}

/** Lines that begin with `>` are the command, those that begin with `=` what it does; an empty line ends the vector. */
export function readVectors(text: string): readonly ShellVector[] {
  return text
    .trimEnd()
    .split(/\n\n(?=>)/)
    .map((block) => {
      const lines = block.split("\n");
      const after = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
      return { text: after(">").join("\n"), expected: after("=") };
    });
}

/**
 * A line for everything that `text` does: each command with what feeds it (`<`), what starts it (`via`), whether it is
 * known only at run time (`~`) and its dangers (`!`), then files and hosts.
 */
export function summaryOf(text: string): readonly string[] {
  const { commands, files, hosts } = parseCommand(text);
  return [
    ...commands.map(({ binary, line, inputFrom, via, dynamic, dangers }) =>
      [
        binary === "?" ? "?" : line.replaceAll("\n", "␤"),
        ...(inputFrom.length > 0 ? [`< ${inputFrom.join(",")}`] : []),
        ...(via.length > 0 ? [`via ${via.join(",")}`] : []),
        ...(dynamic ? ["~"] : []),
        ...dangers.map((danger) => `!${danger}`),
      ].join("  "),
    ),
    ...files.map(({ path, effect }) => `${effect}s ${path}`),
    ...hosts.map(({ host, port }) => `reaches ${host}:${port}`),
  ];
}
