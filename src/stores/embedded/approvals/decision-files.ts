/**
 * Requests and decisions as files, `approvals/<hash>.json` and `approvals/<hash>.approved.json` in the state directory.
 *
 * INVARIANTS: the directory and its files are the owner's alone, or nothing in it counts; a decision is a regular file
 * with one name, opened without following a link and looked at through that very descriptor. The operating system tells
 * of new files (inotify), so that waiting costs no time; the watch begins with the first who waits and ends with the
 * last.
 */

import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { DecisionStore, FoundDecision } from "../../../approval/decisions/decision-store.ts";
import { KIB } from "../../../base/bytes.ts";
import { errorCode, KernelError, storeUnavailable } from "../../../base/errors.ts";
import type { StopListening } from "../../../model/outcome/bell.ts";
import { requireOwnDirectory } from "../state/state-directory.ts";
import { type DirectoryWatch, watchDirectory } from "../state/watched-directory.ts";

/** Bytes of a decision file. */
const DECISION_FILE_BYTES_MAX = 16 * KIB;

const DIRECTORY = "approvals";
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
/** Milliseconds after the last change from which on a file counts as written. */
const SETTLED_MS = 2_000;
const DECISION_NAME = /^([0-9a-f]{64})\.approved\.json$/;

/** The files of a prepared state directory. Touches nothing until it is used. `onLost` is told when a watch broke. */
export function openDecisionFiles(stateDirectory: string, onLost: (error: unknown) => void): DecisionStore {
  return new DecisionFiles(join(stateDirectory, DIRECTORY), onLost);
}

class DecisionFiles implements DecisionStore {
  readonly #directory: string;
  readonly #onLost: (error: unknown) => void;
  readonly #listeners = new Set<(hash: string) => void>();
  #watcher: DirectoryWatch | undefined;

  constructor(directory: string, onLost: (error: unknown) => void) {
    this.#directory = directory;
    this.#onLost = onLost;
  }

  async announce(hash: string, text: string): Promise<void> {
    await this.#prepare();
    // Under its name it is whole from the first moment on.
    const unnamed = join(this.#directory, `${hash}.new`);
    try {
      const file = await open(
        unnamed,
        constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
        OWNER_ONLY,
      );
      await file.writeFile(text).finally(() => file.close());
      await rename(unnamed, this.#requestPath(hash));
    } catch (cause) {
      if (errorCode(cause) === "EEXIST") return; // named by its content: somebody else announces the same request
      throw unusable(this.#directory, cause);
    }
  }

  async withdraw(hash: string): Promise<void> {
    for (const path of [this.#requestPath(hash), this.#decisionPath(hash)]) await removed(path, this.#directory);
  }

  async look(hash: string): Promise<FoundDecision> {
    let file: FileHandle;
    try {
      const found = await lstat(this.#directory).catch((error: unknown) => {
        if (errorCode(error) === "ENOENT") return undefined;
        throw error;
      });
      if (found === undefined) return { kind: "none" };
      requireOwnDirectory(this.#directory, found);
      // Not blocking: a pipe in its place is opened, found to be none of ours, and closed.
      file = await open(this.#decisionPath(hash), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (error instanceof KernelError) throw error;
      const code = errorCode(error);
      if (code === "ENOENT") return { kind: "none" };
      return {
        kind: "unusable",
        problem: code === "ELOOP" ? "it is a symbolic link" : `it cannot be opened (${code})`,
      };
    }
    try {
      return await read(file);
    } finally {
      await file.close();
    }
  }

  async setAside(hash: string): Promise<void> {
    try {
      await rename(this.#decisionPath(hash), join(this.#directory, `${hash}.rejected.json`));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw unusable(this.#directory, error);
    }
  }

  async watch(listener: (hash: string) => void): Promise<StopListening> {
    await this.#prepare();
    this.#watcher ??= this.#startWatching();
    const own = (hash: string) => listener(hash);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#stopWatching();
    };
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopWatching();
  }

  #startWatching(): DirectoryWatch {
    return watchDirectory(this.#directory, {
      onChange: (name = "") => {
        const hash = DECISION_NAME.exec(name)?.[1];
        if (hash !== undefined) for (const listener of [...this.#listeners]) listener(hash);
      },
      onBroken: (error) => {
        this.#stopWatching();
        this.#onLost(error);
      },
    });
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  async #prepare(): Promise<void> {
    try {
      await mkdir(this.#directory, { mode: 0o700, recursive: true });
      requireOwnDirectory(this.#directory, await lstat(this.#directory));
    } catch (cause) {
      throw cause instanceof KernelError ? cause : unusable(this.#directory, cause);
    }
  }

  #requestPath(hash: string): string {
    return join(this.#directory, `${hash}.json`);
  }

  #decisionPath(hash: string): string {
    return join(this.#directory, `${hash}.approved.json`);
  }
}

async function read(file: FileHandle): Promise<FoundDecision> {
  const found = await file.stat();
  const { uid, mode, nlink, size } = found;
  if (!found.isFile()) return { kind: "unusable", problem: "it is no regular file" };
  if (uid !== process.geteuid?.()) return { kind: "unusable", problem: "it belongs to another user" };
  if ((mode & OTHERS) !== 0) return { kind: "unusable", problem: "other users can open it" };
  if (nlink !== 1) return { kind: "unusable", problem: "it has more than one name" };
  if (size > DECISION_FILE_BYTES_MAX)
    return { kind: "unusable", problem: `it has more than ${DECISION_FILE_BYTES_MAX} bytes` };
  const bytes = Buffer.alloc(DECISION_FILE_BYTES_MAX + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  if (bytesRead > DECISION_FILE_BYTES_MAX)
    return { kind: "unusable", problem: `it has more than ${DECISION_FILE_BYTES_MAX} bytes` };
  return {
    kind: "found",
    text: bytes.toString("utf8", 0, bytesRead),
    settled: Math.abs(Date.now() - found.mtimeMs) > SETTLED_MS,
  };
}

async function removed(path: string, directory: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw unusable(directory, error);
  });
}

function unusable(directory: string, cause: unknown): KernelError {
  return storeUnavailable(`\`${directory}\` cannot be used (${errorCode(cause)}); make it the kernel's own`, cause);
}
