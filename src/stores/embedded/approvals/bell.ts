/**
 * The bell of a state directory: a file for each topic, rewritten by whoever rings, watched by whoever waits.
 *
 * The operating system tells of the change (inotify), so that waiting costs no time. The watch begins with the first
 * listener of a process and ends with its last, and keeps no process alive. INVARIANT: when the system cannot watch,
 * listening fails; nobody waits for a ring that cannot come.
 */

import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { storeUnavailable } from "../../../base/errors.ts";
import { BELL_TOPICS, type Bell, type BellTopic, type StopListening } from "../../../model/outcome/bell.ts";
import { type DirectoryWatch, watchDirectory } from "../state/watched-directory.ts";

const DIRECTORY = "bells";
const OWNER_ONLY = 0o600;

/** Opens the bell of a prepared state directory. `onLost` is told when a watch broke after it had begun. */
export async function openBell(stateDirectory: string, onLost: (error: unknown) => void): Promise<Bell> {
  const directory = join(stateDirectory, DIRECTORY);
  try {
    await mkdir(directory, { mode: 0o700, recursive: true });
  } catch (cause) {
    throw storeUnavailable(`\`${directory}\` cannot be made; make the state directory writable`, cause);
  }
  return new EmbeddedBell(directory, onLost);
}

class EmbeddedBell implements Bell {
  readonly #directory: string;
  readonly #onLost: (error: unknown) => void;
  readonly #listeners = new Map<BellTopic, Set<() => void>>(BELL_TOPICS.map((topic) => [topic, new Set()]));
  #watcher: DirectoryWatch | undefined;

  constructor(directory: string, onLost: (error: unknown) => void) {
    this.#directory = directory;
    this.#onLost = onLost;
  }

  async ring(topic: BellTopic): Promise<void> {
    try {
      const file = await open(
        join(this.#directory, topic),
        constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
        OWNER_ONLY,
      );
      try {
        await file.write("!", 0);
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw storeUnavailable(`\`${this.#directory}\` cannot be written; make the state directory writable`, cause);
    }
  }

  async listen(topic: BellTopic, listener: () => void): Promise<StopListening> {
    this.#watcher ??= this.#startWatching();
    const listeners = this.#listenersOf(topic);
    // Each listening is one of its own, also of the same function.
    const own = () => listener();
    listeners.add(own);
    return () => {
      listeners.delete(own);
      if (BELL_TOPICS.every((each) => this.#listenersOf(each).size === 0)) this.#stopWatching();
    };
  }

  async close(): Promise<void> {
    for (const topic of BELL_TOPICS) this.#listenersOf(topic).clear();
    this.#stopWatching();
  }

  #listenersOf(topic: BellTopic): Set<() => void> {
    return this.#listeners.get(topic) as Set<() => void>;
  }

  #startWatching(): DirectoryWatch {
    return watchDirectory(this.#directory, {
      onChange: (name) => {
        // The system may leave the name out; then every topic may have changed.
        const rung = BELL_TOPICS.filter((topic) => name === undefined || name === topic);
        for (const topic of rung) for (const listener of [...this.#listenersOf(topic)]) listener();
      },
      onBroken: (error) => {
        this.#stopWatching();
        this.#onLost(error);
        // Whoever waited looks once more, and learns by that whether waiting still makes sense.
        for (const topic of BELL_TOPICS) for (const listener of [...this.#listenersOf(topic)]) listener();
      },
    });
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
