/**
 * Directories with files in the making, as text files `new-files/<instance>`: one line of JSON for each directory.
 *
 * Not fsynced: a killed kernel's lines stay, and what a failure of the machine's power leaves is found by `handrail
 * doctor --workspace`. INVARIANT: a line is written before the file is made that it is about; lines that cannot be read
 * are passed over, the last may be cut.
 */
import { closeSync, constants, openSync, renameSync, writeSync } from "node:fs";
import { mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, type KernelError, storeCorrupt, storeUnavailable } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import type { NewFilePlace, NewFileStore } from "../../sandbox/ports/new-file-store.ts";
import { checkStateDirectory } from "./state/state-directory.ts";

/** Directories with files in the making that one kernel has noted at a time: one of its calls writes into one. */
export const NEW_FILE_PLACES_MAX = 4096;

const ID_PATTERN = /^ins_[A-Za-z0-9_-]{22}$/;
const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;

/** Opens them in a prepared state directory, for the instance `instanceId`. */
export async function openNewFileStore(stateDirectory: string, instanceId: string): Promise<NewFileStore> {
  const directory = join(stateDirectory, "new-files");
  await mkdir(directory, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  await checkStateDirectory(directory);
  return new EmbeddedNewFileStore(directory, instanceId);
}

class EmbeddedNewFileStore implements NewFileStore {
  readonly #directory: string;
  readonly #own: string;
  /** Its lines, the directory that was used last at the end. */
  readonly #noted = new Set<string>();
  #descriptor: number | undefined;

  constructor(directory: string, instanceId: string) {
    this.#directory = directory;
    this.#own = join(directory, instanceId);
  }

  readonly note: NewFileStore["note"] = ({ path, dev, ino, isMade }) => {
    const line = `${JSON.stringify({ path, dev, ino, isMade })}\n`;
    if (!this.#noted.delete(line)) {
      guarded(() => {
        if (this.#noted.size >= NEW_FILE_PLACES_MAX) this.#shorten();
        this.#descriptor ??= openOwn(this.#own);
        writeSync(this.#descriptor, line);
      });
    }
    this.#noted.add(line);
  };

  /** Forgets the half that was not used for longest: no file is in the making for that long. */
  #shorten(): void {
    for (const line of [...this.#noted].slice(0, NEW_FILE_PLACES_MAX / 2)) this.#noted.delete(line);
    const unnamed = `${this.#own}.new`;
    const descriptor = openOwn(unnamed);
    writeSync(descriptor, [...this.#noted].join(""));
    renameSync(unnamed, this.#own);
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = descriptor;
  }

  async instances(): Promise<readonly string[]> {
    return (await readdir(this.#directory)).filter((name) => ID_PATTERN.test(name)).sort();
  }

  async placesOf(instanceId: string): Promise<readonly NewFilePlace[]> {
    const text = await readFile(this.#pathOf(instanceId), "utf8").catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return ""; // another kernel was faster
      throw unusable(error);
    });
    return text.split("\n").flatMap(placeOf);
  }

  async forget(instanceId: string): Promise<void> {
    for (const path of [this.#pathOf(instanceId), `${this.#pathOf(instanceId)}.new`])
      await unlink(path).catch((error: unknown) => {
        if (errorCode(error) !== "ENOENT") throw unusable(error);
      });
  }

  #pathOf(instanceId: string): string {
    if (ID_PATTERN.test(instanceId)) return join(this.#directory, instanceId);
    throw storeCorrupt("directories were noted by an instance with an id that no kernel gives");
  }

  /** What it noted stays: calls that were broken off may have left something. */
  async close(): Promise<void> {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function openOwn(path: string): number {
  const { O_CREAT, O_APPEND, O_WRONLY, O_NOFOLLOW } = constants;
  return openSync(path, O_CREAT | O_APPEND | O_WRONLY | O_NOFOLLOW, OWNER_ONLY_FILE);
}

function placeOf(line: string): readonly NewFilePlace[] {
  const parsed = line === "" ? undefined : parseJson(line);
  if (parsed?.ok !== true || !isJsonObject(parsed.value)) return [];
  const { path, dev, ino, isMade } = parsed.value;
  if (typeof path !== "string" || typeof dev !== "string" || typeof ino !== "string") return [];
  return [{ path, dev, ino, ...(isMade === true && { isMade }) }];
}

function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw unusable(error);
  }
}

function unusable(error: unknown): KernelError {
  const message =
    "the directories of files in the making cannot be noted; check the disk and the permissions of the state directory";
  return storeUnavailable(message, error);
}
