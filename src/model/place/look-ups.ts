/**
 * Look-ups: commands that ask a server something and change nothing there, such as `gh pr view` or `npm view`.
 *
 * What they ask can still carry something out, so they are judged by host and by what was seen, like any other
 * request. The table says which commands are of one kind, so that a person can answer for the kind. INVARIANT: a
 * command is of a kind only where every word that could change what it does was read; all else is of none.
 */
import { type CommandResource, UNKNOWN_BINARY } from "./command.ts";

/** Hosts that a program asks where its words name none. */
interface LookUpProgram {
  readonly hosts: readonly string[];
  /** First words of commands that only ask. */
  readonly kinds: readonly string[];
  /** Options that name another server, or write to one. */
  readonly never: readonly string[];
}

const PACKAGES: Omit<LookUpProgram, "kinds"> = {
  hosts: ["registry.npmjs.org"],
  never: ["--registry", "--userconfig", "--globalconfig", "--prefix", "-C"],
};

const PROGRAMS: ReadonlyMap<string, LookUpProgram> = new Map([
  [
    "gh",
    {
      hosts: ["api.github.com"],
      kinds: [
        ...["pr view", "pr list", "pr diff", "pr checks", "pr status", "issue view", "issue list", "issue status"],
        ...["run view", "run list", "workflow view", "workflow list", "release view", "release list", "repo view"],
      ],
      never: ["--web", "-w", "--hostname"],
    },
  ],
  ["npm", { ...PACKAGES, kinds: ["view", "info", "outdated", "ping"] }],
  ["pnpm", { ...PACKAGES, kinds: ["view", "info", "outdated"] }],
  ["yarn", { ...PACKAGES, hosts: ["registry.yarnpkg.com"], kinds: ["info", "outdated"] }],
  [
    "pip",
    { hosts: ["pypi.org"], kinds: ["index versions"], never: ["-i", "--index-url", "--extra-index-url", "--proxy"] },
  ],
  [
    "cargo",
    {
      hosts: ["index.crates.io", "crates.io"],
      kinds: ["search", "info"],
      never: ["--config", "--index", "--registry", "-C"],
    },
  ],
]);

/** Options of `curl` and `wget` that send nothing but the address, and what each takes. */
const FETCH_OPTIONS: Readonly<Record<string, { readonly plain: RegExp; readonly valued: ReadonlySet<string> }>> = {
  curl: {
    plain: /^(?:-[sSfLIgi]+|--silent|--show-error|--fail|--location|--head|--include|--compressed|-O|--remote-name)$/,
    valued: new Set(["-o", "--output", "-m", "--max-time", "--connect-timeout", "--retry"]),
  },
  wget: {
    plain: /^(?:-[qS]+|-qO-|-O-|--quiet|--spider|--no-verbose|-nv)$/,
    valued: new Set(["-O", "--output-document", "-T", "--timeout", "-t", "--tries"]),
  },
};

/** Programs that only work on what they are fed or on files of the view. */
const FILTERS: ReadonlySet<string> = new Set(
  "cat cd column cut echo egrep false fgrep grep head jq nl printf pwd rev sort tac tail test tr true uniq wc".split(
    " ",
  ),
);

/** The kind of a look-up, such as `gh pr view`; `undefined` for every other command. */
export function lookUpOf(command: CommandResource): string | undefined {
  const { binary, arguments: words, dynamic, via, dangers } = command;
  if (binary === UNKNOWN_BINARY || dynamic || via.length > 0 || dangers.length > 0) return undefined;
  if (Object.hasOwn(FETCH_OPTIONS, binary)) return isFetch(binary, words) ? binary : undefined;
  const program = PROGRAMS.get(binary);
  const kind = program?.kinds.find((one) => one.split(" ").every((word, index) => words[index] === word));
  if (program === undefined || kind === undefined) return undefined;
  const others = words.some((word) => program.never.some((option) => isOption(word, option)));
  return others ? undefined : `${binary} ${kind}`;
}

/**
 * The kinds of look-ups that commands together are, each once, sorted; `undefined` where one of them is neither a
 * look-up nor a filter of what others print.
 */
export function lookUpsOf(commands: readonly CommandResource[]): readonly string[] | undefined {
  const kinds = new Set<string>();
  for (const command of commands) {
    const kind = lookUpOf(command);
    if (kind !== undefined) kinds.add(kind);
    else if (!isFilter(command)) return undefined;
  }
  return kinds.size === 0 ? undefined : [...kinds].sort();
}

/** Hosts that a look-up asks by itself. */
export function hostsOfLookUp(command: CommandResource): readonly string[] {
  return lookUpOf(command) === undefined ? [] : (PROGRAMS.get(command.binary)?.hosts ?? []);
}

function isFilter({ binary, via, dangers }: CommandResource): boolean {
  return FILTERS.has(binary) && via.length === 0 && dangers.length === 0;
}

function isOption(word: string, option: string): boolean {
  if (word === option || word.startsWith(`${option}=`)) return true;
  return option.length === 2 && !word.startsWith("--") && word.startsWith(option);
}

/** An address that holds a user or a password sends more than it says. */
const ADDRESS = /^https?:\/\/[^@\s]+$/;

function isFetch(program: string, words: readonly string[]): boolean {
  const options = FETCH_OPTIONS[program];
  if (options === undefined) return false;
  let addresses = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (options.valued.has(word)) index += 1;
    else if (ADDRESS.test(word)) addresses += 1;
    else if (!options.plain.test(word)) return false;
  }
  return addresses > 0;
}
