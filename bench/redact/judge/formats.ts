/**
 * Formats of secrets as their vendors document them: the tables `*.txt` beside this file. They were written from the
 * documentation and not from any rules, and judge the rules for that reason: do not tune one to the other.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const TABLES = ["clouds.txt", "code.txt", "services.txt"];

/** How one kind of secret is written. */
export interface Format {
  /** Whether it is known by its looks, or only by the name beside it. */
  readonly cue: "alone" | "named";
  readonly title: string;
  readonly template: string;
  readonly names: readonly string[];
  readonly source: string;
}

/** All of them. @throws Error for a line that is no format */
export function readFormats(): readonly Format[] {
  return TABLES.flatMap((table) =>
    readFileSync(join(import.meta.dirname, table), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => formatOf(line, table)),
  );
}

function formatOf(line: string, table: string): Format {
  const [cue, vendor, what, template, names, source, ...more] = line.split("|");
  if ((cue !== "alone" && cue !== "named") || !vendor || !template || !names || !source || more.length > 0)
    throw new Error(`\`${table}\` has a line that is no format: \`${line.slice(0, 60)}\`; six columns are needed`);
  return { cue, title: `${vendor} ${what}`, template, names: names.split(","), source };
}
