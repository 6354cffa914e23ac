/**
 * Points a person whose call was refused or failed to the page that explains each code.
 *
 * The page lies in the installation, be that a checkout or a package: it is looked for upwards from this file.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const PAGE = join("docs", "guide", "troubleshooting.md");
/** Directories that are looked at above this file: sources, compiled files and a bundle lie at most so deep. */
const LEVELS_MAX = 5;

/** One line that names the page; its path where it is there. */
export function explainedAt(code: string): string {
  let directory = import.meta.dirname;
  for (let level = 0; level < LEVELS_MAX; level += 1) {
    directory = dirname(directory);
    if (existsSync(join(directory, PAGE))) return `\`${code}\` is explained in ${join(directory, PAGE)}`;
  }
  return `\`${code}\` is explained on the page Troubleshooting of Handrail's guide`;
}
