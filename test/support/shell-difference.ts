/** What bash would run for a text, and the analysis of the text does not name. */
import type { CommandResource } from "../../src/model/place/command.ts";
import { parseCommand } from "../../src/tools/shell/reading/parse-command.ts";
import type { Wanted } from "./watched-bash.ts";
import { type BatchOptions, wantedByEach } from "./watched-bash-batch.ts";

/** A text of which more runs than its analysis says. */
export interface Difference {
  readonly text: string;
  readonly unnamed: readonly Wanted[];
}

/** How much was compared. */
export interface Compared {
  /** Texts whose analysis claims to be complete. */
  clear: number;
  /** Programs that bash wanted to run for those. */
  wanted: number;
}

/** The differences among `texts`; a text that may run anything, as its analysis says, has none. */
export async function differences(
  texts: readonly string[],
  options: BatchOptions,
  seen: Compared,
): Promise<readonly Difference[]> {
  const parsed = texts.map((text) => ({ text, commands: parseCommand(text).commands }));
  const clear = parsed.filter(({ commands }) => !commands.some(({ binary }) => binary === "?"));
  const wanted = await wantedByEach(
    clear.map(({ text }) => text),
    options,
  );
  seen.clear += clear.length;
  seen.wanted += wanted.flat().length;
  return clear.flatMap(({ text, commands }, index) => {
    const unnamed = (wanted[index] ?? []).filter((one) => !isNamed(commands, one));
    return unnamed.length === 0 ? [] : [{ text, unnamed }];
  });
}

/** Whether `commands` name the program, with these arguments where they say that they know them. */
export function isNamed(commands: readonly CommandResource[], [name, ...args]: Wanted): boolean {
  return commands.some(
    ({ binary, arguments: named, dynamic, line }) =>
      binary === "?" ||
      (binary === name &&
        (dynamic ||
          (named.length === args.length && named.every((word, at) => word === args[at] || isHome(word, line))))),
  );
}

/** Whether the word stands in the line with a `~` that is not quoted, so that a directory takes its place. */
function isHome(word: string, line: string): boolean {
  if (!/(?:^|[=:])~/.test(word)) return false;
  return `${line} `.includes(` ${word} `) || !line.includes(`'${word.replaceAll("'", "'\\''")}'`);
}
