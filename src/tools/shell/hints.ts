/** Suggests the next step when a command failed because of the sandbox. */
import type { CommandResource } from "../../model/place/command.ts";

/** What does what commands cannot do to a repository. */
const GIT_TOOLS = "commands cannot write `.git`; use the tool `git`, or `git_add`, `git_commit` and `git_checkout`";

/** What a failing program prints, and what helps. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/\.git\b[^\n]*: Read-only file system/, GIT_TOOLS],
  [
    /fatal: (?:unable to access|Could not read from remote repository)/,
    "commands reach no remote by themselves; use the tool `git` with PULL, FETCH or PUSH, or, to look something up, send it again with `network_access: true` and the whole address",
  ],
  [
    /npm (?:ERR!|error)[^\n]*(?:EAI_AGAIN|ENOTFOUND|network)|Could not find a version that satisfies|error sending request for url \(https:\/\/(?:pypi|index\.crates)/,
    "the command has no network; `install_dependencies` installs what the lock file names, without scripts of packages (as `npm ci` does)",
  ],
  [
    /Could not resolve host|Temporary failure in name resolution|Name or service not known|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|Network is unreachable/,
    "the command has no network; send it again with `network_access: true` and the address of the host written out in it, or use `web_fetch`",
  ],
  [
    /Cannot connect to the Docker daemon|docker\.sock/,
    "no service of the machine can be reached from the sandbox; ask the operator to do what needs it",
  ],
  [
    /Unable to locate package|Unable to read \/etc\/apt|Could not open lock file|are you root\?|requires superuser/,
    "programs of the machine are the operator's to install; ask the user, or do without",
  ],
  [
    /\.env\b[^\n]*: No such file or directory/,
    "files with secrets do not exist for commands; let the operator bind what the command needs with `handrail secrets add`, and read `.env.example`",
  ],
  [
    /(?:sudo|doas|pkexec): command not found|no new privileges|must be setuid root|effective uid is not 0|Authentication failure|must be run from a terminal/,
    "nothing in the sandbox becomes another user; do it as you are, or ask the operator",
  ],
  [
    /: Read-only file system/,
    "it is read only for commands; write elsewhere in the workspace, below `/scratch` for your own files, or below `/tmp` for files of this command alone",
  ],
  [
    /\/tmp\/[^\n]*: No such file or directory|No such file or directory:? '?\/tmp\//,
    "each command has a `/tmp` of its own; keep files that a later one needs below `/scratch`",
  ],
];
/** Sub-commands of git that write `.git`; some fail there without a word. */
const GIT_WRITES: ReadonlySet<string> = new Set(
  "add am branch checkout cherry-pick clean commit config fetch gc merge mv pull push rebase reset restore revert rm stash switch tag worktree".split(
    " ",
  ),
);
/** Characters of the end of the errors that are looked at. */
const LOOKED_AT_CHARACTERS_MAX = 4096;

/**
 * What helps after errors such as `stderr`, or after commands that failed without any; `undefined` where nothing is
 * known that would.
 */
export function hintFor(stderr: string, commandsOf: () => readonly CommandResource[]): string | undefined {
  const end = stderr.slice(-LOOKED_AT_CHARACTERS_MAX);
  const hint = HINTS.find(([pattern]) => pattern.test(end))?.[1];
  if (hint !== undefined || end.trim() !== "") return hint;
  const writes = commandsOf().some(({ binary, arguments: [sub = ""] }) => binary === "git" && GIT_WRITES.has(sub));
  return writes ? GIT_TOOLS : undefined;
}
