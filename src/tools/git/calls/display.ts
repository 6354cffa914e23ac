/**
 * Defines the options for showing git changes, and selects the files that are left out.
 *
 * INVARIANT: a patch, a count or a name of a file is shown only of files that this call may read. Which those are is
 * asked about every file that git itself names for the same question, with renames taken apart.
 */
import type { JsonObject } from "../../../base/json.ts";
import { has, type OptionTable, optionsOf, type Parsed, written } from "./options.ts";
import type { Place } from "./places.ts";
import { fromRoot, literal, workspacePath } from "./places.ts";
import { type Closed, leftOut, type Runner, sorted } from "./runner.ts";

/** Options that say how much of changes is shown. */
const SHAPES: OptionTable = optionsOf("--stat --numstat --shortstat --summary --name-only --name-status --patch|-p|-u");

/** Options that say how changes are found and written. */
const DETAILS: OptionTable = {
  "-U": { takes: "count", same: "--unified" },
  "--unified": { takes: "count" },
  "-w": { same: "--ignore-all-space" },
  "--ignore-all-space": {},
  "-b": { same: "--ignore-space-change" },
  ...optionsOf("--ignore-space-change --ignore-blank-lines --find-renames|-M --no-renames"),
  ...optionsOf("--minimal --patience --histogram --full-index -R"),
  "--diff-filter": { takes: [..."ACDMRTUXB"] },
  ...optionsOf("--no-color --no-ext-diff --no-textconv", { idle: true }),
};

/** Options of everything that shows changes. */
export const DISPLAY_OPTIONS: OptionTable = { ...SHAPES, ...DETAILS };

/** Whatever else is said: no program is run, and no other repository entered. */
const SAFE = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-color"] as const;

/** Whether the call asks to be shown what changed. */
export function showsChanges(parsed: Parsed): boolean {
  return Object.entries(SHAPES).some(([name, { same }]) => has(parsed, same ?? name));
}

/** The display options of a call, for git. */
export function displayArguments(parsed: Parsed): readonly string[] {
  const names = new Set(Object.entries(DISPLAY_OPTIONS).map(([name, { same }]) => same ?? name));
  return [...SAFE, ...written(parsed, [...names])];
}

/** The paths of a call, for git. Those of another repository are refused by whoever asks for the repository. */
export function pathArguments(paths: readonly string[], { cwd, root }: Place): readonly string[] {
  return paths.flatMap((path) => {
    const inside = fromRoot(root, workspacePath(cwd, path));
    return inside === undefined ? [] : [literal(inside)];
  });
}

/** What changed in one file. */
interface ChangedFile {
  readonly path: string;
  readonly status: string;
  additions?: number;
  deletions?: number;
  binary?: true;
}

/** Which files a question is about, and what may be shown of them. */
export interface Listed {
  readonly files: readonly JsonObject[];
  readonly closed: readonly Closed[];
  /** Behind `--`: the paths of the call, and what is left out. */
  readonly paths: readonly string[];
}

/**
 * Asks git which files a question is about.
 * @param question the subcommand with its revisions and filters
 */
export async function listChanges(
  git: Runner,
  question: readonly [string, ...string[]],
  paths: readonly string[],
): Promise<Listed> {
  const [command, ...rest] = question;
  const fields = await git.fields([
    command,
    "--raw",
    "--numstat",
    "-z",
    "--no-renames",
    "--abbrev=40",
    ...SAFE,
    ...rest,
    "--",
    ...paths,
  ]);
  const found = parseChanges(fields);
  const { open, closed } = sorted(git, [...found.keys()], "read");
  return {
    files: open.map((path) => ({ ...(found.get(path) as ChangedFile) })),
    closed,
    paths: closed.length === 0 ? paths : [...paths, ...leftOut(closed)],
  };
}

const STATUS: Readonly<Record<string, string>> = {
  A: "added",
  D: "deleted",
  M: "modified",
  T: "type changed",
  U: "unmerged",
};

/** Fields of `--raw --numstat -z`: first `:… M` and the path, each a field; then counts and the path in one. */
function parseChanges(fields: readonly string[]): ReadonlyMap<string, ChangedFile> {
  const files = new Map<string, ChangedFile>();
  for (let index = 0; index < fields.length; index += 1) {
    const field = (fields[index] ?? "").replace(/^\n+/, "");
    const raw = /^:+[0-7 ]+ .*? ([A-Z]+)[0-9]*$/.exec(field);
    if (raw !== null) {
      index += 1;
      const path = fields[index] ?? "";
      // An unmerged file is named twice; what it is says the first.
      if (!files.has(path)) files.set(path, { path, status: STATUS[raw[1] ?? ""] ?? "modified" });
      continue;
    }
    const counts = /^([0-9]+|-)\t([0-9]+|-)\t([\s\S]+)$/.exec(field);
    if (counts === null) continue;
    const [, added = "", removed = "", path = ""] = counts;
    const file = files.get(path) ?? { path, status: "modified" };
    files.set(path, file);
    if (added === "-") file.binary = true;
    else {
      file.additions = (file.additions ?? 0) + Number(added);
      file.deletions = (file.deletions ?? 0) + Number(removed);
    }
  }
  return files;
}
