/**
 * Changes the operator's `handrail.yaml` in place of a person: whole or not at all, and one change at a time.
 */
import { constants, readFileSync, realpathSync, statSync } from "node:fs";
import { chmod, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, usageError } from "../../base/errors.ts";
import { writeNewFile } from "../../stores/embedded/state/own-file.ts";
import { requireOwnerOnly } from "./operator-directory.ts";

/**
 * Makes sure that there is an operator directory.
 * @throws KernelError USAGE where there is none, CONFIG_INVALID where it is not the operator's alone
 */
export function requireOperatorDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usageError(`there is no operator directory \`${path}\`; \`handrail init\` makes it`);
  requireOwnerOnly(path);
}

/** The file in the making, and the mode that it is to have. */
interface NextFile {
  readonly path: string;
  readonly mode: number;
}

/**
 * The settings file while it is changed: the new text is written beside it, under a name that nobody else can take
 * meanwhile.
 */
export class SettingsFile {
  /** Where the file really lies; a link to it stays a link. */
  readonly path: string;
  readonly text: string;
  readonly #next: NextFile;
  #isReplaced = false;

  private constructor(path: string, text: string, next: NextFile) {
    this.path = path;
    this.text = text;
    this.#next = next;
  }

  static async lock(directory: string): Promise<SettingsFile> {
    const named = join(directory, "handrail.yaml");
    const exists = statSync(named, { throwIfNoEntry: false }) !== undefined;
    const path = exists ? realpathSync(named) : named;
    if (exists) requireOwnerOnly(path);
    const beside = `${path}.new`;
    await createNew(beside);
    try {
      const text = exists ? readFileSync(path, "utf8") : "";
      return new SettingsFile(path, text, { path: beside, mode: exists ? statSync(path).mode & 0o777 : 0o600 });
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
  }

  async replace(text: string): Promise<void> {
    const file = await open(this.#next.path, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(this.#next.path, this.#next.mode);
    await rename(this.#next.path, this.path);
    this.#isReplaced = true;
  }

  async unlock(): Promise<void> {
    // after a change the name is free, and may be somebody else's already
    if (!this.#isReplaced) await rm(this.#next.path, { force: true });
  }
}

async function createNew(path: string): Promise<void> {
  try {
    await writeNewFile(path, "");
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw usageError(
      `\`${path}\` exists: somebody changes the settings right now; try again, or remove it if nobody does`,
    );
  }
}
