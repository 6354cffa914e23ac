/** Remembers what was copied for a command, so that it is known afterwards what the command changed. */
import type { BigIntStats } from "node:fs";

/** What a copy holds under one name, as it was before the command began. */
export type CopiedEntry =
  | {
      readonly kind: "file" | "link";
      /** Which one it is. */
      readonly identity: string;
      /** Another stamp, another content, other rights or another time. */
      readonly stamp: string;
      /** Which one it was copied from, where that is asked for. */
      readonly origin?: string;
      /** BLAKE3-256 of a small file's bytes, or of where a link leads, where that is asked for. */
      readonly digest?: string;
      /** Who owned what it was copied from, and its rights, beside its digest. */
      readonly held?: string;
    }
  /** Its rights are those of the directory that it was copied from. */
  | { readonly kind: "directory"; readonly identity: string; readonly mode: number }
  /** It stands for something that the command must not see. */
  | { readonly kind: "hidden" };

/** What a copy holds, by directory and name; the workspace itself is the empty path. */
export class Manifest {
  readonly #directories = new Map<string, Map<string, CopiedEntry>>([["", new Map()]]);

  /** Notes what lies in `directory` under `name`. */
  note(directory: string, name: string, entry: CopiedEntry): void {
    let entries = this.#directories.get(directory);
    if (entries === undefined) {
      entries = new Map();
      this.#directories.set(directory, entries);
    }
    entries.set(name, entry);
  }

  /** Every directory of which anything is noted, with what lies in it. */
  directories(): Iterable<readonly [string, ReadonlyMap<string, CopiedEntry>]> {
    return this.#directories;
  }

  /** What lies in `directory`. */
  in(directory: string): ReadonlyMap<string, CopiedEntry> {
    return this.#directories.get(directory) ?? NOTHING;
  }
}

const NOTHING: ReadonlyMap<string, CopiedEntry> = new Map();

/** Tells a file from itself as it was before. */
export function stampOf({ ctimeNs, mtimeNs, size, mode }: BigIntStats): string {
  return `${ctimeNs} ${mtimeNs} ${size} ${mode}`;
}

/** Who owns a file, its rights and its list of others' rights, as one text. */
export function heldOf({ mode, uid, gid }: BigIntStats, list: Buffer | undefined): string {
  return `${mode} ${uid} ${gid}${list === undefined ? "" : ` ${list.toString("base64")}`}`;
}
