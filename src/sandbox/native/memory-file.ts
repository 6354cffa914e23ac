/**
 * Makes an unnamed file in memory, to be handed to a child by its descriptor.
 *
 * It carries what is too much for a pipe.
 */
import { writeSync } from "node:fs";
import koffi from "koffi";
import { ToolFailure } from "../../model/outcome/failure.ts";

const MFD_CLOEXEC = 1;
/** Not to be run; machines may demand to be told so, and those before Linux 6.3 do not know it. */
const MFD_NOEXEC_SEAL = 8;

let memfdCreate: ((name: string, flags: number) => number) | undefined;

/**
 * A descriptor from which `bytes` can be read from their beginning, once. It does not outlive an exec unless it is
 * handed on.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the machine gives no such file
 */
export function memoryFileOf(bytes: Uint8Array): number {
  memfdCreate ??= koffi.load(null).func("int memfd_create(const char *name, unsigned int flags)");
  let descriptor = memfdCreate("sandbox", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  if (descriptor < 0) descriptor = memfdCreate("sandbox", MFD_CLOEXEC);
  if (descriptor < 0) {
    throw new ToolFailure(
      "SANDBOX_UNAVAILABLE",
      "no file in memory can be opened for the command",
      "ask the operator to raise the limit of open files",
    );
  }
  // at a place, so that whoever reads begins at the beginning
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, written);
  return descriptor;
}
