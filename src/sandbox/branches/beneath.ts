/** Reads what stands at a path below an open directory, no link followed. */
import { closeSync, constants, fstatSync, readFileSync, readlinkSync } from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { OPEN_DIRECTORY } from "../landing/moves.ts";
import { nameOf, parentOf, pathIn, type Standing, standingAt } from "../landing/standing.ts";
import { openBeneath } from "../native/syscalls.ts";

/** Bytes of a file that is compared, shown or merged line by line. */
const READ_BYTES_MAX = MIB;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What stands at a path below an open directory. */
export function standingBeneath(root: number, path: string): Standing | undefined {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return undefined;
  try {
    return standingAt(parent, nameOf(path));
  } finally {
    closeSync(parent);
  }
}

/** A file's bytes, or where a link leads; `undefined` for one that is too large or cannot be read. */
export function bytesAt(root: number, path: string, kind: "file" | "link"): Buffer | undefined {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return undefined;
  try {
    if (kind === "link")
      return standingAt(parent, nameOf(path))?.kind === "link"
        ? readlinkSync(pathIn(parent, nameOf(path)), { encoding: "buffer" })
        : undefined;
    const file = openBeneath(parent, nameOf(path), READ, "plain");
    if (file < 0) return undefined;
    try {
      const found = fstatSync(file);
      return found.isFile() && found.size <= READ_BYTES_MAX ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  } finally {
    closeSync(parent);
  }
}
