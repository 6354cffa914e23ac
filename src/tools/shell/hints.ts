/** Suggests the next step when a command failed because of the sandbox. */

/** What a failing program prints, and what helps. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /\.git\b[^\n]*: Read-only file system/,
    "commands cannot write `.git`; use the tool `git`, or `git_add`, `git_commit` and `git_checkout`",
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
    /no new privileges|must be setuid root|effective uid is not 0/,
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
/** Characters of the end of the errors that are looked at. */
const LOOKED_AT_CHARACTERS_MAX = 4096;

/** What helps after errors such as `stderr`; `undefined` where nothing is known that would. */
export function hintFor(stderr: string): string | undefined {
  const end = stderr.slice(-LOOKED_AT_CHARACTERS_MAX);
  return HINTS.find(([pattern]) => pattern.test(end))?.[1];
}
