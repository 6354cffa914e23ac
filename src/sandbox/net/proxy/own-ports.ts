/**
 * Finds the ports at which this process itself listens.
 *
 * No server that an operator opens for git may lead there. The ports are found out from what the machine says of this
 * process' sockets, so that no listener has to be announced.
 *
 * INVARIANT: where that cannot be read, every port of this machine counts as one of them.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** `TCP_LISTEN`, as the tables write it. */
const LISTEN = "0A";
/** The second is there where the machine has IPv6. */
const TABLES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/** Whether `address` is one of this machine, and this process listens at `port` of any of them. */
export function listensAt(address: string, port: number): boolean {
  if (!isOfThisMachine(address)) return false;
  try {
    const own = ownSockets();
    if (!existsSync(TABLES[0] ?? "")) return true;
    return TABLES.filter((table) => existsSync(table)).some((table) =>
      listeners(table, port).some((inode) => own.has(inode)),
    );
  } catch {
    return true; // fails closed; the refusal says which port it is about
  }
}

function isOfThisMachine(address: string): boolean {
  if (address.startsWith("127.") || address === "::1") return true;
  return Object.values(networkInterfaces()).some((interfaces) => interfaces?.some((one) => one.address === address));
}

/** Numbers of the sockets that wait for connections at `port`. */
function listeners(table: string, port: number): readonly string[] {
  const [, ...rows] = readFileSync(table, "latin1").split("\n");
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    return state === LISTEN && Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16) === port ? [inode] : [];
  });
}

function ownSockets(): ReadonlySet<string> {
  const links = readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return []; // closed meanwhile
      throw error;
    }
  });
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}
