/** The C library of this process, whose functions are looked up with the first call of one. */
import koffi, { type LibraryHandle } from "koffi";

/** Finds the functions of a module with the first call. */
export function fromLibrary<Functions>(find: (libc: LibraryHandle) => Functions): () => Functions {
  let found: Functions | undefined;
  return () => {
    found ??= find(koffi.load(null));
    return found;
  };
}
