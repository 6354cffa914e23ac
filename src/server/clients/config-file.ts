/**
 * Reads a client's file and replaces it whole, with a copy of what it was.
 *
 * INVARIANTS: a link to the file stays one, and what it names keeps its mode. A file that changes between being read
 * and being replaced stays as it is.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { chmod, lchown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { configInvalid, errorCode } from "../../base/errors.ts";
import { writeNewFile } from "../../stores/embedded/state/own-file.ts";

/** Bytes of a file that is read. */
const BYTES_MAX = 16 * MIB;
/** The administrator can write everything: what the owner has closed stays closed. */
const OWNER_WRITES = 0o200;

/** A file as it was read; no text where there is none. */
export interface ReadFile {
  /** Where it really lies. */
  readonly path: string;
  readonly text: string | undefined;
}

/** Another program has changed the file meanwhile. */
export class ChangedMeanwhile extends Error {}

/** Reads it. @throws KernelError CONFIG_INVALID where it is no regular file of text, or is not to be written */
export function readConfigFile(named: string, { isToBeWritten = true } = {}): ReadFile {
  if (lstatSync(named, { throwIfNoEntry: false }) === undefined) return { path: named, text: undefined };
  const path = realPathOf(named);
  const bytes = bytesAt(path, isToBeWritten);
  try {
    return { path, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw configInvalid(`\`${path}\` is not UTF-8; save it as UTF-8`);
  }
}

function realPathOf(named: string): string {
  try {
    return realpathSync(named);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw configInvalid(`\`${named}\` is a link to nothing; make what it names, or remove it`);
  }
}

/** Whatever has come there meanwhile is opened without a wait. */
function bytesAt(path: string, isToBeWritten: boolean): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > BYTES_MAX)
      throw configInvalid(`\`${path}\` must be a regular file of at most 16 MiB`);
    if (isToBeWritten && (status.mode & OWNER_WRITES) === 0)
      throw configInvalid(`\`${path}\` is read only; make it writable, or change it by hand`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Puts `text` in its place, or removes it where there is none.
 * @param backup where what it was is kept
 * @throws ChangedMeanwhile where it is not what was read
 */
export async function replaceConfigFile(read: ReadFile, text: string | undefined, backup: string): Promise<void> {
  const { path } = read;
  if (read.text !== undefined) {
    await mkdir(dirname(backup), { recursive: true, mode: 0o700 });
    await writeNewFile(backup, read.text);
  }
  if (text === undefined) {
    if (readConfigFile(path).text !== read.text) throw new ChangedMeanwhile(path);
    await rm(path, { force: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  const beside = `${path}.handrail-new`;
  await rm(beside, { force: true });
  try {
    if (read.text === undefined) await writeFile(beside, text, { flag: "wx" });
    else {
      await writeNewFile(beside, text);
      await likeThat(beside, path);
    }
    if (readConfigFile(path).text !== read.text) throw new ChangedMeanwhile(path);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    if (errorCode(error) === "EROFS" || errorCode(error) === "EACCES")
      throw configInvalid(`\`${path}\` cannot be written (${errorCode(error)}); make its directory writable`);
    throw error;
  }
}

/** Gives the new file the owner and the mode of the one that it replaces. */
async function likeThat(beside: string, path: string): Promise<void> {
  const [{ uid, gid, mode }, made] = [statSync(path), statSync(beside)];
  try {
    if (uid !== made.uid || gid !== made.gid) await lchown(beside, uid, gid);
  } catch (error) {
    if (errorCode(error) !== "EPERM") throw error;
    throw configInvalid(`\`${path}\` belongs to another user or group (${uid}:${gid}); run this as that user`, error);
  }
  await chmod(beside, mode & 0o777);
}
