/** Watches a directory of the state, by the operating system (inotify). Keeps no process alive. */
import { type FSWatcher, watch } from "node:fs";
import { storeUnavailable } from "../../../base/errors.ts";

/** Who is told: of a name that changed, which the system may leave out, and that the watch is broken. */
export interface DirectoryListener {
  readonly onChange: (name: string | undefined) => void;
  readonly onBroken: (error: Error) => void;
}

/** Begins to watch. @throws KernelError STORE_UNAVAILABLE when the system cannot watch */
export function watchDirectory(path: string, { onChange, onBroken }: DirectoryListener): FSWatcher {
  let watcher: FSWatcher;
  try {
    watcher = watch(path, { persistent: false });
  } catch (cause) {
    throw storeUnavailable(`\`${path}\` cannot be watched; raise fs.inotify.max_user_watches`, cause);
  }
  watcher.on("change", (_event, name) => onChange(name?.toString()));
  return watcher.on("error", onBroken);
}
