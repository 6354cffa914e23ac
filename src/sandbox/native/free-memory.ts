/**
 * Memory that the C library freed but keeps for later: compiling WebAssembly alone leaves some ten MiB of it.
 *
 * Decides nothing and touches no memory that is in use. A C library without `malloc_trim` and `mallopt` (musl) is left
 * alone: it keeps little.
 */
import koffi from "koffi";
import { KIB } from "../../base/bytes.ts";

/** Bytes from which a block of the C library's is a mapping of its own: what glibc begins with. */
const MALLOC_THRESHOLD_BYTES = 128 * KIB;

type Trim = (keepBytes: number) => number;

// Of glibc's `malloc.h`.
const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;

let trim: Trim | undefined | "absent";

/**
 * Gives the free memory of the process back to the machine; takes a few milliseconds. @returns whether it could be
 * asked for
 */
export function releaseFreeMemory(): boolean {
  trim ??= findFunction<Trim>("int malloc_trim(size_t keep)") ?? "absent";
  if (trim === "absent") return false;
  trim(0);
  return true;
}

/**
 * Makes large blocks mappings of their own, which go back when they are freed. By itself glibc does so only at first:
 * each freed one raises the size, up to 32 MiB, and later ones lie between small blocks that stay. @returns whether the
 * C library can be told
 */
export function keepLargeBlocksApart(): boolean {
  const tell = findFunction<(parameter: number, value: number) => number>("int mallopt(int parameter, int value)");
  if (tell === undefined) return false;
  return [M_MMAP_THRESHOLD, M_TRIM_THRESHOLD].every((parameter) => tell(parameter, MALLOC_THRESHOLD_BYTES) === 1);
}

/** A function of the C library; `undefined` where it has none of that name. */
function findFunction<F>(prototype: string): F | undefined {
  try {
    return koffi.load(null).func(prototype) as F;
  } catch {
    return undefined; // not glibc
  }
}
