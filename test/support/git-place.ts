/** Repositories for tests, made by plain git with nothing of the machine's settings. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const PERSON = { name: "Ada", email: "ada@example.com" };

/** Git as a person runs it, in a repository of a test. */
export interface PlainGit {
  readonly directory: string;
  /** Runs git, and returns what it prints. Throws when it fails. */
  readonly git: (...args: readonly string[]) => string;
  /** The same with its exit code, whatever that is. */
  readonly tried: (...args: readonly string[]) => {
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  };
  readonly put: (path: string, text: string) => void;
  /** Writes files and commits them. */
  readonly commit: (message: string, files: Readonly<Record<string, string>>) => string;
}

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: PERSON.name,
  GIT_AUTHOR_EMAIL: PERSON.email,
  GIT_COMMITTER_NAME: PERSON.name,
  GIT_COMMITTER_EMAIL: PERSON.email,
};

/** Plain git in `directory`, which it does not make a repository. @param more variables besides its own */
export function plainGit(directory: string, more: Readonly<Record<string, string>> = {}): PlainGit {
  const tried: PlainGit["tried"] = (...args) => {
    const ran = spawnSync("git", [...args], {
      cwd: directory,
      env: { ...ENVIRONMENT, ...more },
      encoding: "utf8",
      timeout: 120_000,
    });
    if (ran.error) throw ran.error;
    return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
  };
  const git: PlainGit["git"] = (...args) => {
    const { code, stdout, stderr } = tried(...args);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  return {
    directory,
    git,
    tried,
    put,
    commit(message, files) {
      for (const [path, text] of Object.entries(files)) put(path, text);
      git("add", "--force", "--", ...Object.keys(files));
      git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message);
      return git("rev-parse", "HEAD").trim();
    },
  };
}

/** A new repository on the branch `main`. */
export function newRepository(directory: string): PlainGit {
  mkdirSync(directory, { recursive: true });
  const plain = plainGit(directory);
  plain.git("init", "--quiet", "--initial-branch=main", "--template=");
  return plain;
}
