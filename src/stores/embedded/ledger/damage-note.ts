/**
 * The note that a ledger was found damaged: the file `ledger.damaged` of the state directory, with the reason in it.
 *
 * It stays when the kernel that found the damage ends or is killed, so that no other kernel goes on with that ledger
 * before all of it was verified. Only whether it is there counts, not what stands in it.
 */
import { closeSync, constants, existsSync, fdatasyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "../state/state-directory.ts";

const OWNER_ONLY_FILE = 0o600;

/** The files that say what a ledger is. */
const LEDGER_FILES = ["ledger.db", "ledger.db-wal", "anchor"];

/** The note of one state directory. */
export class FileDamageNote {
  readonly #directory: string;
  readonly #path: string;

  constructor(stateDirectory: string) {
    this.#directory = stateDirectory;
    this.#path = join(stateDirectory, "ledger.damaged");
  }

  stands(): boolean {
    return existsSync(this.#path);
  }

  /** Writes it durably. */
  write(reason: string): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const file = openSync(this.#path, flags, OWNER_ONLY_FILE);
    try {
      writeSync(file, `${reason}\n`);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    syncDirectory(this.#directory);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }

  /** Differs once anybody has changed, replaced or removed a file of the ledger. */
  stamp(): string {
    return LEDGER_FILES.map((name) => stampOf(join(this.#directory, name))).join(" ");
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "none" : `${found.dev}:${found.ino}:${found.size}:${found.ctimeNs}`;
}
