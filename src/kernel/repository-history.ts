/**
 * Which repositories of a workspace commands may see: a command could read out of `.git` what the history holds, so that one whose history holds a file of
 * a secret zone is hidden from them.
 *
 * Git itself names the files, in a sandbox; the answer is kept as long as nothing was added to the repository. INVARIANT: a repository whose history
 * was not looked through is hidden.
 */
import { GIT_HISTORY_BYTES_MAX, GIT_HISTORY_TIMEOUT_MS, GIT_REPOSITORIES_LOOKED_AT_MAX } from "../base/limits.ts";
import type { FoundRepository } from "../model/git.ts";
import type { Workspace } from "../model/workspace.ts";
import { gitEnvironment } from "../sandbox/git/environment.ts";
import { HISTORY_COMMAND, historyMark, holdsOthers, NameReader } from "../sandbox/git/history.ts";
import { repositoryFiles } from "../sandbox/git/repository-files.ts";
import { INSIDE_WORKSPACE, type Sandbox, type SandboxLimits, type ScopeJudge } from "../sandbox/sandbox.ts";
import type { Caller } from "./trail.ts";

/** What was found at a mark of the repository. */
interface Looked {
  readonly mark: string | undefined;
  readonly isHidden: boolean;
}

// By the workspace as it was opened: with other zones it is another one.
const known = new WeakMap<Workspace, Map<string, Looked>>();

/** Sees everything: git runs no code of an agent's, and of what it prints only a yes or no is kept. */
const EVERYTHING: ScopeJudge = { entry: () => "read", below: () => "read", isWhole: () => true };

/** The repositories that one command comes by. */
export class RepositoryHistories {
  readonly #caller: Pick<Caller, "place">;
  readonly #looked: Map<string, Looked>;
  /** Directories with a `.git` that the command's scope came by. */
  readonly #seen = new Set<string>();

  /** Whether git was waited for. */
  hasWaited = false;

  constructor(caller: Pick<Caller, "place">) {
    this.#caller = caller;
    const { workspace } = caller.place;
    this.#looked = known.get(workspace) ?? new Map();
    known.set(workspace, this.#looked);
  }

  /** Whether the directory `path`, which is named `.git`, is hidden, as far as is known; `settle` makes sure of it. */
  hides(path: string): boolean {
    const root = path === ".git" ? "." : path.slice(0, -"/.git".length);
    this.#seen.add(root);
    return this.#looked.get(root)?.isHidden ?? true;
  }

  /** Directories whose repositories are hidden. */
  hidden(): readonly string[] {
    return [...this.#seen].filter((root) => this.#looked.get(root)?.isHidden ?? true).sort();
  }

  /** Looks at what was come by. Resolves with whether the tree is to be looked at again: git took its time, or `hides` says otherwise now. */
  async settle(sandbox: Pick<Sandbox, "run">, limits: Omit<SandboxLimits, "timeoutMs">, signal: AbortSignal): Promise<boolean> {
    let isOther = false;
    for (const root of [...this.#seen].slice(0, GIT_REPOSITORIES_LOOKED_AT_MAX)) {
      const files = repositoryFiles(this.#caller.place.roots.service, root);
      const mark = historyMark(files);
      const before = this.#looked.get(root);
      if (before !== undefined && before.mark === mark) continue;
      const isHidden = mark !== undefined && (holdsOthers(files) || (await this.#holdsSecret(root, sandbox, limits, signal)));
      // Whoever cancelled has learnt nothing of the repository, and it stays hidden from the command, which will not run.
      if (signal.aborted) this.#looked.delete(root);
      else this.#looked.set(root, { mark, isHidden });
      isOther ||= isHidden !== (before?.isHidden ?? true);
    }
    return isOther || this.hasWaited;
  }

  async #holdsSecret(
    root: string,
    sandbox: Pick<Sandbox, "run">,
    limits: Omit<SandboxLimits, "timeoutMs">,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { workspace, roots, repository } = this.#caller.place;
    const found = repository?.(root);
    if (found?.kind !== "found" || found.root !== root) return true;
    this.hasWaited = true;
    const enough = new AbortController();
    const reader = new NameReader((name) => {
      const path = root === "." ? name : `${root}/${name}`;
      if (workspace.zones.classify({ root: "service", path }) === "secret") enough.abort();
    });
    const run = {
      root: roots.service.path === "" ? "/" : roots.service.path,
      judge: EVERYTHING,
      command: HISTORY_COMMAND,
      ...insideOf(found),
      limits: { ...limits, outputBytesMax: GIT_HISTORY_BYTES_MAX, timeoutMs: GIT_HISTORY_TIMEOUT_MS },
    };
    const takers = { stdout: (bytes: Uint8Array) => void (reader.push(bytes) || enough.abort()), stderr: () => undefined };
    const end = await sandbox.run(run, takers, AbortSignal.any([signal, enough.signal]));
    return enough.signal.aborted || end.exitCode !== 0 || end.endedBy !== undefined || !reader.isWhole;
  }
}

function insideOf({ root, settings }: FoundRepository) {
  const directory = root === "." ? INSIDE_WORKSPACE : `${INSIDE_WORKSPACE}/${root}`;
  return {
    workDir: directory,
    environment: gitEnvironment({ directory, readOnly: true }),
    files: [{ target: `${directory}/.git/config`, text: settings }],
  };
}
