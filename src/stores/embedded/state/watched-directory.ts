/**
 * Watches a directory of the state, by the operating system (inotify). Keeps no process alive.
 *
 * A user's commands can use up all the watchers that the system gives that user. Then whoever waits is told to look
 * once a second, so that no call fails for it.
 */
import { watch } from "node:fs";
import { errorCode, storeUnavailable } from "../../../base/errors.ts";

/** Milliseconds between two looks where the system has no watcher left. */
const LOOK_MS = 1000;

/** Who is told: of a name that changed, which the system may leave out, and that the watch is broken. */
export interface DirectoryListener {
  readonly onChange: (name: string | undefined) => void;
  readonly onBroken: (error: Error) => void;
}

/** A watch that goes on until it is closed. */
export interface DirectoryWatch {
  readonly close: () => void;
}

/** Begins to watch. @throws KernelError STORE_UNAVAILABLE when the directory cannot be watched */
export function watchDirectory(path: string, { onChange, onBroken }: DirectoryListener): DirectoryWatch {
  try {
    const watcher = watch(path, { persistent: false });
    watcher.on("change", (_event, name) => onChange(name?.toString()));
    return watcher.on("error", onBroken);
  } catch (cause) {
    if (!["EMFILE", "ENOSPC"].includes(errorCode(cause)))
      throw storeUnavailable(`\`${path}\` cannot be watched`, cause);
    const looking = setInterval(() => onChange(undefined), LOOK_MS).unref();
    return { close: () => clearInterval(looking) };
  }
}
