/**
 * Hides from commands each repository whose history holds a file of a secret zone.
 *
 * A command could read out of `.git` what the history holds. The same goes for a repository under another name, as bare
 * ones have, and for those that a `.git` of another kind leads to.
 *
 * Git itself names the files, in a sandbox. The answer is cached, and what is added to the repository later is searched
 * by itself: objects are named by what they hold, so a commit without a secret file stays one, whatever leads to it.
 * Where anything was taken away, all of it is searched anew.
 *
 * INVARIANT: a repository whose history was not searched is hidden.
 */

import { MIB } from "../../base/bytes.ts";
import type { Workspace } from "../../model/place/workspace.ts";
import { rootPath } from "../../sandbox/files/places/roots.ts";
import { gitEnvironment } from "../../sandbox/git/environment.ts";
import {
  type AddedObjects,
  addedObjects,
  type HeldObjects,
  heldObjects,
  holdsOthers,
  isUnchanged,
} from "../../sandbox/git/held-objects.ts";
import { historyCommand, NameReader } from "../../sandbox/git/history.ts";
import { settingsOf } from "../../sandbox/git/repository.ts";
import { filesOfRepository } from "../../sandbox/git/repository-files.ts";
import { insideWorkspace, type Sandbox, type SandboxLimits, type ScopeJudge } from "../../sandbox/sandbox.ts";
import type { Caller } from "../call/stages.ts";

/** Bytes of the names of a history's files that are looked through; a repository with more is hidden from commands. */
const GIT_HISTORY_BYTES_MAX = 256 * MIB;
/** Milliseconds that looking through a history may take; a repository that takes longer is hidden from commands. */
const GIT_HISTORY_TIMEOUT_MS = 60_000;
/** Objects that git is told one by one to look through; where more are new, it looks through the whole history. */
const GIT_NEW_OBJECTS_MAX = 15_000;
/**
 * Times that a history is looked through in a row because it has grown meanwhile; one that does not stand still is
 * hidden.
 */
const GIT_HISTORY_TURNS_MAX = 3;
/** Repositories of a workspace whose histories are looked through for a command; further ones are hidden. */
const GIT_REPOSITORIES_LOOKED_AT_MAX = 64;

/**
 * What the names of a history come to: `in_commits` stays as long as nothing is taken away, `unknown` as long as
 * nothing changes.
 */
type Finding = "clear" | "in_commits" | "unknown";

/** What was found when a repository held what it held. */
interface Looked {
  /** Nothing where it is to be looked at anew each time. */
  readonly held: HeldObjects | undefined;
  readonly finding: Finding;
}

/** How git is run. */
interface Running {
  readonly sandbox: Pick<Sandbox, "run">;
  readonly limits: Omit<SandboxLimits, "timeoutMs">;
  readonly signal: AbortSignal;
}

// By the workspace as it was opened: with other zones it is another one.
const known = new WeakMap<Workspace, Map<string, Looked>>();

/** Sees everything: git runs no code of an agent's, and of what it prints only a yes or no is kept. */
const EVERYTHING: ScopeJudge = { entry: () => "read", below: () => "read", isWhole: () => true };

/** The repositories that one command comes by. */
export class RepositoryHistories {
  readonly #caller: Pick<Caller, "place">;
  readonly #sinceMs: number;
  readonly #looked: Map<string, Looked>;
  /** Repositories that the command's scope came by, by their own directories. */
  readonly #seen = new Set<string>();

  /** Those that were looked at for this command. */
  readonly #current = new Set<string>();

  /** Whether git was waited for when it was settled last. */
  hasWaited = false;

  /** @param sinceMs when the call came, by the machine's clock */
  constructor(caller: Pick<Caller, "place">, sinceMs: number) {
    this.#caller = caller;
    this.#sinceMs = sinceMs;
    const { workspace } = caller.place;
    this.#looked = known.get(workspace) ?? new Map();
    known.set(workspace, this.#looked);
  }

  /** Whether the repository whose own directory `path` is, is hidden, as far as is known; `settle` makes sure of it. */
  hides(path: string): boolean {
    this.#seen.add(path);
    return this.#isHidden(path);
  }

  /** Directories whose repositories are hidden. */
  hidden(): readonly string[] {
    return [...this.#seen]
      .filter((path) => this.#isHidden(path))
      .map(treeOf)
      .sort();
  }

  #isHidden(path: string): boolean {
    return this.#looked.get(path)?.finding !== "clear";
  }

  /**
   * Looks at what was come by. Resolves with whether the tree is to be looked at again: git took its time, or `hides`
   * says otherwise now.
   */
  async settle(
    sandbox: Pick<Sandbox, "run">,
    limits: Omit<SandboxLimits, "timeoutMs">,
    signal: AbortSignal,
  ): Promise<boolean> {
    let isOther = false;
    this.hasWaited = false;
    for (const path of [...this.#seen].slice(0, GIT_REPOSITORIES_LOOKED_AT_MAX)) {
      const wasHidden = this.#isHidden(path);
      const looked = await this.#look(path, { sandbox, limits, signal });
      this.#current.add(path);
      // Whoever cancelled has learnt nothing of the repository, and it stays hidden from the command, which will not
      // run.
      if (signal.aborted) this.#looked.delete(path);
      else this.#looked.set(path, looked);
      isOther ||= this.#isHidden(path) !== wasHidden;
    }
    return isOther || this.hasWaited;
  }

  async #look(path: string, running: Running): Promise<Looked> {
    const files = filesOfRepository(this.#caller.place.roots.service, path);
    let before = this.#looked.get(path);
    for (let turn = 0; turn < GIT_HISTORY_TURNS_MAX; turn += 1) {
      if (holdsOthers(files)) return { held: undefined, finding: "unknown" };
      if (files.kindOf(".git/objects") === "nothing") return { held: undefined, finding: "clear" };
      const held = heldObjects(files, before?.held, this.#sinceMs);
      const isFirst = turn === 0 && !this.#current.has(path);
      if (before?.held !== undefined && isUnchanged(before.held, held, isFirst)) return before;
      before = { held, finding: await this.#find(path, { held, before }, running) };
      if (before.finding !== "clear") return before;
      // What came while git looked was perhaps not looked at.
    }
    return { held: undefined, finding: "unknown" };
  }

  async #find(
    path: string,
    { held, before }: { readonly held: HeldObjects; readonly before: Looked | undefined },
    running: Running,
  ): Promise<Finding> {
    const added = before?.held && addedObjects(before.held, held);
    if (added === undefined || before?.finding === "unknown") return await this.#lookThrough(path, running);
    if (before?.finding === "in_commits") return "in_commits";
    if (added.loose.length > GIT_NEW_OBJECTS_MAX) return await this.#lookThrough(path, running);
    const isNothingNew = added.loose.length === 0 && added.packs.length === 0 && !added.isStagedOther;
    return isNothingNew ? "clear" : await this.#lookThrough(path, running, added);
  }

  /** Has git name what the history holds, or what those objects bring to it. */
  async #lookThrough(path: string, { sandbox, limits, signal }: Running, added?: AddedObjects): Promise<Finding> {
    const { workspace, roots } = this.#caller.place;
    const settings = settingsOf(filesOfRepository(roots.service, path));
    if (typeof settings === "string") return "unknown";
    const tree = treeOf(path);
    this.hasWaited = true;
    const enough = new AbortController();
    let finding: Finding = "unknown";
    let isInCommits = false;
    const reader = new NameReader((name) => {
      if (name === "") isInCommits = true;
      const place = tree === "." ? name : `${tree}/${name}`;
      if (name === "" || workspace.zones.classify({ root: "service", path: place }) !== "secret") return;
      if (isInCommits) finding = "in_commits";
      enough.abort();
    });
    const run = {
      root: rootPath(roots.service),
      judge: EVERYTHING,
      command: historyCommand(added),
      ...insideOf(path, settings.text),
      limits: { ...limits, outputBytesMax: GIT_HISTORY_BYTES_MAX, timeoutMs: GIT_HISTORY_TIMEOUT_MS },
    };
    const takers = {
      stdout: (bytes: Uint8Array) => void (reader.push(bytes) || enough.abort()),
      stderr: () => undefined,
    };
    const end = await sandbox.run(run, takers, AbortSignal.any([signal, enough.signal]));
    if (enough.signal.aborted || end.exitCode !== 0 || end.endedBy !== undefined || !reader.isWhole) return finding;
    return isInCommits ? "clear" : "unknown";
  }
}

/**
 * The directory in which the files of a repository lie: that which holds its `.git`, and of one under another name its
 * own.
 */
function treeOf(path: string): string {
  if (path === ".git") return ".";
  return path.endsWith("/.git") ? path.slice(0, -"/.git".length) : path;
}

function insideOf(path: string, settings: string) {
  const tree = treeOf(path);
  const directory = insideWorkspace(tree);
  const repository = insideWorkspace(path);
  return {
    workDir: directory,
    environment: gitEnvironment({ directory, repository, readOnly: true }),
    files: [{ target: `${repository}/config`, text: settings }],
  };
}
