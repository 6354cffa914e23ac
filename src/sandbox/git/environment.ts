/**
 * Builds the environment in which git runs.
 *
 * Everything is off that could make git run another program, read another configuration or reach what it was not asked
 * for. The list is long because git has many ways to be told what to run. A closed list elsewhere decides what a
 * repository's own settings may say.
 *
 * INVARIANT: these values stand above those of every configuration file, and no caller can add to them.
 */

/** Seconds that a remote may say nothing before git gives up. */
const GIT_REMOTE_SILENCE_SECONDS = 60;

/** Who commits where the repository does not say. */
export interface Committer {
  readonly name: string;
  readonly email: string;
}

/** What one run needs besides. */
export interface GitSurroundings {
  /** Absolute, inside: the directory that holds `.git`. */
  readonly directory: string;
  /** Absolute, inside: the repository's own directory, where it is not that. */
  readonly repository?: string;
  /** There is no repository yet. */
  readonly isNew?: boolean;
  /** Nothing may be changed, not even the index. */
  readonly readOnly: boolean;
  readonly committer?: Committer;
  /** The remote that is reached, and how git names it to the proxy, which speaks TLS in its place. */
  readonly remote?: { readonly address: string; readonly plainAddress: string };
}

const SETTINGS: Readonly<Record<string, string>> = {
  "advice.detachedHead": "false",
  "branch.autoSetupMerge": "false",
  "branch.autoSetupRebase": "never",
  "color.ui": "false",
  "commit.gpgSign": "false",
  "core.askPass": "/bin/false",
  // Files belong to another user inside, for which everything would be read again each time.
  "core.checkStat": "minimal",
  "core.attributesFile": "/dev/null",
  "core.editor": ":",
  "core.excludesFile": "/dev/null",
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.pager": "cat",
  "core.protectHFS": "true",
  "core.protectNTFS": "true",
  "core.quotePath": "true",
  "core.sshCommand": "/bin/false",
  // An empty value forgets helpers that were named before.
  "credential.helper": "",
  "diff.ignoreSubmodules": "dirty",
  "fetch.fsckObjects": "true",
  "fetch.recurseSubmodules": "false",
  "gc.auto": "0",
  "gpg.program": "/bin/false",
  "gpg.ssh.program": "/bin/false",
  "gpg.x509.program": "/bin/false",
  "http.followRedirects": "false",
  "init.templateDir": "",
  "log.mailmap": "false",
  "log.showSignature": "false",
  "maintenance.auto": "false",
  // A file would be written to a directory that nobody named.
  "merge.directoryRenames": "false",
  "merge.verifySignatures": "false",
  "protocol.allow": "never",
  "pull.rebase": "false",
  "push.gpgSign": "false",
  "push.recurseSubmodules": "no",
  "rebase.updateRefs": "false",
  "rerere.enabled": "false",
  "safe.bareRepository": "explicit",
  "status.submoduleSummary": "false",
  "submodule.recurse": "false",
  "tag.gpgSign": "false",
  "transfer.fsckObjects": "true",
  "user.useConfigOnly": "true",
};

/** What holds besides where a remote is reached. */
const REACHING: Readonly<Record<string, string>> = {
  "http.cookieFile": "",
  "http.emptyAuth": "false",
  "http.lowSpeedLimit": "1",
  "http.lowSpeedTime": String(GIT_REMOTE_SILENCE_SECONDS),
  "http.saveCookies": "false",
  "http.userAgent": "git",
  "transfer.bundleURI": "false",
  "fetch.uriProtocols": "",
  // Packs are kept as they come: taken apart, each object would have to fit into memory, and what is left of it lies
  // anywhere.
  "fetch.unpackLimit": "1",
  "submodule.fetchJobs": "1",
};

/** The variables of one run. */
export function gitEnvironment({
  directory,
  repository = `${directory}/.git`,
  isNew = false,
  readOnly,
  committer,
  remote,
}: GitSurroundings): Readonly<Record<string, string>> {
  const settings = [
    ...Object.entries(SETTINGS),
    ...(remote ? [...Object.entries(REACHING), [`url.${remote.plainAddress}.insteadOf`, remote.address] as const] : []),
  ];
  return {
    ...(!isNew && { GIT_DIR: repository, GIT_WORK_TREE: directory, GIT_COMMON_DIR: repository }),
    GIT_CEILING_DIRECTORIES: "/",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    XDG_CONFIG_HOME: "/nonexistent",
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    // Nothing at all without a remote; with one, what was rewritten for the proxy.
    GIT_ALLOW_PROTOCOL: remote ? "http" : "none",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_SSH_COMMAND: "/bin/false",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_MERGE_AUTOEDIT: "no",
    GIT_PAGER: "cat",
    // Commits are what they say, with the parents that they name.
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
    ...(readOnly && { GIT_OPTIONAL_LOCKS: "0" }),
    ...(committer && {
      GIT_AUTHOR_NAME: committer.name,
      GIT_AUTHOR_EMAIL: committer.email,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
    }),
  };
}
