/** `flock(2)`: locks on open files that the operating system frees when their holder dies. */
import koffi from "koffi";
import { storeUnavailable } from "../../../base/errors.ts";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

const flock = koffi.load(null).func("int flock(int fd, int operation)");

/** Takes the lock without waiting; says whether it was free. */
export function tryLock(descriptor: number, kind: "shared" | "exclusive"): boolean {
  if (flock(descriptor, (kind === "shared" ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0) return true;
  const errno = koffi.errno();
  if (errno === koffi.os.errno.EWOULDBLOCK || errno === koffi.os.errno.EAGAIN) return false;
  throw storeUnavailable("a file of the state directory cannot be locked; keep it on a local file system");
}
