/**
 * Notices that files below some directories may have changed.
 *
 * INVARIANT: where directories cannot be watched, or are too many, everything counts as changed after a while.
 */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";

/** Directories that are watched: the machine has a limited number of watches for all. */
const WATCHED_MAX = 4096;
/** Milliseconds after which files count as changed where nobody watches. */
const UNWATCHED_MS = 2000;

/** Watches the directories of one workspace. */
export class FileWatch {
  readonly #root: string;
  readonly #watchers = new Map<string, FSWatcher>();
  #isComplete = false;
  #isChanged = true;
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** @param root absolute path of the workspace */
  constructor(root: string) {
    this.#root = root;
  }

  /** Whether something may have changed since the last `begin`. */
  get isChanged(): boolean {
    return this.#isChanged || (!this.#isComplete && performance.now() - this.#lookedMs > UNWATCHED_MS);
  }

  /** Something has changed. */
  touch(): void {
    this.#isChanged = true;
  }

  /** Whoever calls looks at everything now. */
  begin(): void {
    this.#isChanged = false;
    this.#lookedMs = performance.now();
  }

  /** Watches these directories, paths from the root, and no others. */
  follow(directories: ReadonlySet<string>): void {
    for (const [directory, watcher] of this.#watchers) if (!directories.has(directory)) this.#drop(directory, watcher);
    this.#isComplete = directories.size <= WATCHED_MAX;
    for (const directory of directories) {
      if (this.#watchers.has(directory)) continue;
      if (this.#watchers.size >= WATCHED_MAX) return;
      this.#isComplete = this.#watch(directory) && this.#isComplete;
    }
  }

  /** Stops watching. */
  close(): void {
    for (const [directory, watcher] of this.#watchers) this.#drop(directory, watcher);
  }

  #watch(directory: string): boolean {
    try {
      const watcher = watch(join(this.#root, directory), { persistent: false }, () => {
        this.#isChanged = true;
      });
      watcher.on("error", () => {
        this.#isChanged = true;
        this.#drop(directory, watcher);
      });
      this.#watchers.set(directory, watcher);
      return true;
    } catch {
      return false; // gone already, or no watches left: then everything counts as changed after a while
    }
  }

  #drop(directory: string, watcher: FSWatcher): void {
    watcher.close();
    this.#watchers.delete(directory);
  }
}
