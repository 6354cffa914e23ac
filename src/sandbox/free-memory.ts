/**
 * Memory that the C library freed but keeps for later: compiling WebAssembly alone leaves some ten MiB of it.
 *
 * Decides nothing and touches no memory that is in use. A C library without `malloc_trim` (musl) is left alone: it keeps
 * little.
 */
import koffi from "koffi";

type Trim = (keepBytes: number) => number;

let trim: Trim | undefined | "absent";

/** Gives the free memory of the process back to the machine; takes a few milliseconds. @returns whether it could be asked for */
export function releaseFreeMemory(): boolean {
  trim ??= findTrim() ?? "absent";
  if (trim === "absent") return false;
  trim(0);
  return true;
}

function findTrim(): Trim | undefined {
  try {
    return koffi.load(null).func("int malloc_trim(size_t keep)");
  } catch {
    return undefined; // not glibc
  }
}
