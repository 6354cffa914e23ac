/** Bounds what is copied for one command, and says why there is none. */
import { statfsSync } from "node:fs";
import { GIB, MIB } from "../../base/bytes.ts";
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";

/** What one copy may hold. */
export interface CopyLimits {
  /** Files, directories and links. */
  readonly entriesMax: number;
  /** Bytes that are copied; blocks that a file system lets two files share do not count. */
  readonly bytesMax: number;
}

/** Some seconds of the machine for each command, and what a disk mostly has. */
export const COPY_LIMITS: CopyLimits = { entriesMax: 200_000, bytesMax: 2 * GIB };

/** The part of it that commands fill: what people and file tools make has to find room in the next copy, too. */
const FILLED_PART = 7 / 8;
/** What a workspace whose commands work on copies holds before they let it grow no more. */
export const COPY_FILLED: CopyLimits = {
  entriesMax: COPY_LIMITS.entriesMax * FILLED_PART,
  bytesMax: COPY_LIMITS.bytesMax * FILLED_PART,
};

/** Bytes that are left to everybody else on the file system of copies. */
const FREE_BYTES_MIN = 256 * MIB;
/** Bytes that are copied between two looks at how much is free. */
const LOOK_BYTES = 16 * MIB;

/** What one copy took, counted as its limits are. */
export interface Taken {
  readonly entries: number;
  readonly bytes: number;
}

/** Counts what one copy takes. */
export class CopyCount {
  readonly #limits: CopyLimits;
  readonly #place: string;
  #entries = 0;
  #bytes = 0;
  #looksAtBytes = 0;

  /** @param place a path on the file system of the copy */
  constructor(limits: CopyLimits, place: string) {
    this.#limits = limits;
    this.#place = place;
  }

  /** What was taken so far. */
  get taken(): Taken {
    return { entries: this.#entries, bytes: this.#bytes };
  }

  /** One more entry. @throws ToolFailure SANDBOX_UNAVAILABLE */
  entry(): void {
    this.#entries += 1;
    if (this.#entries > this.#limits.entriesMax)
      throw tooLarge(`more than ${this.#limits.entriesMax} files and directories`);
  }

  /** More bytes, before they are copied. @throws ToolFailure SANDBOX_UNAVAILABLE */
  bytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytesMax) throw tooLarge(`more than ${this.#limits.bytesMax / MIB} MiB`);
    if (this.#bytes < this.#looksAtBytes) return;
    const { bavail, bsize } = statfsSync(this.#place);
    if (bavail * bsize - bytes < FREE_BYTES_MIN) throw noRoom();
    this.#looksAtBytes = this.#bytes + LOOK_BYTES;
  }
}

function tooLarge(what: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `the workspace holds ${what}, and commands work on copies of it here; the command did not run`,
    "ask the operator for a smaller workspace, or for a machine on which overlays can be mounted (`handrail doctor` says why they cannot)",
  );
}

/** The failure of a command for whose copy there is no room. */
export function noRoom(): ToolFailure {
  return new FailureWithoutEffect(
    "DISK_FULL",
    "there is too little room for a copy of the workspace; the command did not run",
    "ask the operator for room where the state directory lies",
  );
}

/** The failure of a command for which something of the workspace cannot be copied. */
export function cannotCopy(path: string, why: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `\`${path.slice(0, SHOWN_CHARACTERS).toWellFormed()}\` of the workspace cannot be copied (${why}); the command did not run`,
    "ask the operator to look at that file, or at the disk of the state directory",
  );
}

const SHOWN_CHARACTERS = 200;
