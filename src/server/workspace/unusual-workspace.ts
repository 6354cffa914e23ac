/**
 * Refuses directories that are hardly meant as a workspace: the machine, its system directories, homes and their keys.
 *
 * An agent that works there reaches what everything else runs by. INVARIANT: asked of every workspace and project root
 * for which a session is made, through whatever door, and answered by real paths.
 */
import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { configInvalid, errorCode, KernelError, usageError } from "../../base/errors.ts";
import { obeyedBy } from "../../model/place/obeyed-files/obeyed-files.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { isWithin, realPath } from "../operator/real-path.ts";

/** Directories of the system: they and all below them. */
const SYSTEM_TREES = [
  ...["/etc", "/usr", "/boot", "/dev", "/proc", "/sys", "/run", "/bin", "/sbin", "/snap"],
  ...["/var/spool/cron", "/var/spool/at"],
];
const LIBRARY_TREE = /^\/lib(?:32|64|x32|o32)?(?:\/|$)/;

/** Directories that hold others' things: they themselves, and not what lies in them. */
const SHARED_DIRECTORIES = [
  ...["/home", "/root", "/var", "/opt", "/srv", "/tmp", "/mnt", "/media", "/lost+found"],
  ...["/var/lib", "/var/log", "/var/cache", "/var/spool", "/var/mail", "/var/tmp", "/var/backups", "/var/opt"],
];

/** What a program of the system keeps there is one directory each; a project may lie further below. */
const PROGRAMS_OWN = /^\/var\/(?:lib|cache|log|spool|backups)\/[^/]+$|^\/var\/lib\/(?:dpkg|apt|systemd|pam|snapd)\//;

/**
 * Directories of a home, they and all below them: what opens other machines and services by the files in it, and what
 * is run or obeyed whenever somebody logs in. `.local` and `.cache` hold worktrees, too.
 */
const HOME_TREES = [
  ...[".ssh", ".gnupg", ".pki", ".password-store", ".local/share/keyrings", ".mozilla", ".thunderbird"],
  ...[".aws", ".azure", ".gcloud", ".oci", ".kube", ".docker", ".terraform.d", ".minikube", ".ansible"],
  ...[".config", ".local/bin", ".local/lib", ".local/share/systemd", ".cargo", ".rustup", ".gem", ".m2", ".subversion"],
  ...[".local/share/nvim", ".local/share/bash-completion", ".local/share/applications", ".local/share/pnpm"],
  ...["bin", "go/bin", ".deno", ".bun", ".volta", ".nvm", ".nodenv", ".npm", ".pnpm", ".pyenv", ".rbenv", ".rvm"],
  ...[".asdf", ".sdkman", ".jenv", ".goenv", ".gradle", ".ivy2", ".sbt", ".nix-profile", ".ghcup", ".cabal", ".opam"],
  ...[".vim", ".emacs.d", ".vscode-server", ".ipython", ".oh-my-zsh", ".bash_it", ".zsh", ".zfunc", ".zinit"],
  ...[".fzf", ".tmux"],
];

/** Directories of a home that hold others' things: they themselves, and not what lies in them. */
const HOME_DIRECTORIES = [".local", ".local/share", ".local/state", ".cache", "go"];

/** Fields of a line of `/etc/passwd`; the sixth is the home. */
const PASSWD_HOME = 5;

/**
 * Why `directory`, a real path, is an unusual workspace; `undefined` for any other.
 * @param isRepository whether a working tree of git begins there: agents keep some in directories of their own
 */
export function unusualWorkspace(
  directory: string,
  homes: readonly string[],
  isRepository = false,
): string | undefined {
  if (directory === "/") return "it is the root of the whole machine";
  if (LIBRARY_TREE.test(directory) || SYSTEM_TREES.some((tree) => isWithin(tree, directory)))
    return "it belongs to the system";
  if (SHARED_DIRECTORIES.includes(directory) || PROGRAMS_OWN.test(directory))
    return "it is a directory of the system that holds what belongs to others";
  const home = homes.find((one) => isWithin(directory, one));
  if (home === undefined) return homeTree(directory, homes) ?? toolsDirectory(directory, isRepository);
  return home === directory ? "it is a home directory" : `it holds the home directory \`${home}\``;
}

/** A home that is the root of the machine, as system users have it, is one for whom nothing lies in it. */
function homeTree(directory: string, homes: readonly string[]): string | undefined {
  const own = homes.filter((home) => home !== "/");
  if (own.some((home) => HOME_DIRECTORIES.some((name) => directory === `${home}/${name}`)))
    return "it is a directory of a home in which programs keep what they run and know";
  const tree = own
    .flatMap((home) => HOME_TREES.map((name) => `${home}/${name}`))
    .find((one) => isWithin(one, directory));
  return tree && `it lies in \`${tree}\`, whose files open other services or are obeyed by whoever logs in`;
}

/**
 * A directory of somebody's tools in a project, or in one of git's: below it nothing has the names by which such files
 * are known.
 */
function toolsDirectory(directory: string, isRepository: boolean): string | undefined {
  if (directory.split("/").includes(".git")) return "it lies in a repository of git, whose files decide what git runs";
  if (isRepository) return undefined;
  const obeyed = obeyedBy(`${directory.slice(1)}/any`);
  return obeyed && `it lies in \`${obeyed.pattern}\`: ${obeyed.reason}`;
}

/** Real paths of the homes of this machine's users, and of whoever runs this. */
export function homeDirectories(environment: Environment, passwd = "/etc/passwd"): readonly string[] {
  const listed = readPasswd(passwd)
    .split("\n")
    .map((line) => line.split(":")[PASSWD_HOME] ?? "");
  const named = [...listed, environment["HOME"] ?? "", homedir(), "/root"].filter((home) => home.startsWith("/"));
  return [...new Set(named.map(realPathOrItself))];
}

/**
 * Refuses an unusual workspace or project root. A project root may hold a home: of it nothing is reached but the
 * directories that it shares.
 * @throws KernelError USAGE naming the flag that allows it
 */
export function requireUsualWorkspace(directory: string, environment: Environment, isProjectRoot = false): void {
  const homes = homeDirectories(environment);
  const counted = isProjectRoot ? homes.filter((home) => home === directory) : homes;
  const why = unusualWorkspace(directory, counted, beginsRepository(directory));
  if (why === undefined) return;
  throw usageError(
    `\`${directory}\` is refused as a workspace, because ${why}; name the directory of one project, or start with --allow-unusual-workspace ` +
      "(in the operator's handrail.yaml: `allow_unusual: true` under workspaces[])",
  );
}

/** Whether a working tree of git begins at `directory`. */
export function beginsRepository(directory: string): boolean {
  return lstatSync(join(directory, ".git"), { throwIfNoEntry: false }) !== undefined;
}

/** A machine without the file has no users but whoever runs this. */
function readPasswd(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw configInvalid(`\`${path}\` cannot be read, so it cannot be told which directories are homes`, error);
  }
}

/** A home that cannot be reached, such as one on a server that is down, is compared as it is written. */
function realPathOrItself(path: string): string {
  try {
    return realPath(path);
  } catch (error) {
    if (error instanceof KernelError) return path;
    throw error;
  }
}
