/**
 * A process outside of every sandbox that holds write leases on files, as the owner of files may: whoever opens one of
 * them and waits, waits for `/proc/sys/fs/lease-break-time`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

const HOLD = `
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
for path in sys.argv[1:]:
    fcntl.fcntl(os.open(path, os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
signal.pause()
`;

/** Takes leases on `paths`, and holds them until the test ends or until it is told to let go. */
export async function holdLeases(paths: readonly string[]): Promise<() => Promise<void>> {
  const holder: ChildProcess = spawn("python3", ["-c", HOLD, ...paths], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(holder, "exit");
  const letGo = async (): Promise<void> => {
    holder.kill("SIGKILL");
    await ended;
  };
  onTestFinished(letGo);
  if (holder.stdout === null) throw new Error("the leaseholder has no output");
  const held = await Promise.race([once(holder.stdout, "data"), ended.then(() => undefined)]);
  if (held === undefined) throw new Error("no lease can be taken here");
  return letGo;
}
