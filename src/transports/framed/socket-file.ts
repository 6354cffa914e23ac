/**
 * Prepares the path of a Unix socket: checks its directory and removes a dead socket.
 *
 * The directory must belong to this user (or root) and be writable by nobody else, so that nobody can put another
 * socket in its place.
 *
 * INVARIANT: only a socket that nobody answers is removed. Any other file, and a living socket, stays.
 */
import { lstatSync, rmSync, type Stats, statSync } from "node:fs";
import { connect, type Server } from "node:net";
import { dirname, resolve } from "node:path";
import { configInvalid, type KernelError } from "../../base/errors.ts";
import { SOCKET_PATH_BYTES_MAX } from "../../base/limits.ts";
import { FRAMED_CONNECTIONS_MAX } from "./limits.ts";

const WRITABLE_BY_OTHERS = 0o022;
const OWNER_ONLY_UMASK = 0o177;

/** Makes room for a socket at `path`. @throws KernelError CONFIG_INVALID saying why no socket can be there */
export async function clearSocketPath(path: string): Promise<void> {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    throw refusal(path, `is longer than ${SOCKET_PATH_BYTES_MAX} bytes; choose a shorter path`);
  }
  checkDirectory(dirname(resolve(path)));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw refusal(path, "is no socket and is not replaced; remove it or choose another path");
  const living = await isAnswered(path);
  // Another kernel may have started meanwhile; what is removed is the file that nobody answered.
  const now = lstatSync(path, { throwIfNoEntry: false });
  if (now === undefined) return;
  if (living || now.ino !== found.ino || now.ctimeMs !== found.ctimeMs) {
    throw refusal(path, "is in use by a running kernel; stop that one or choose another path");
  }
  rmSync(path);
}

/**
 * Listens at `path` with a socket that only this user can open, from its first moment.
 * @param backlog connections that may wait to be accepted; a client beyond it fails at once
 */
export async function listenOwnerOnly(
  server: Server,
  path: string,
  backlog = 2 * FRAMED_CONNECTIONS_MAX,
): Promise<void> {
  const listening = new Promise<void>((done, failed) => {
    server.once("listening", done);
    server.once("error", (cause) => failed(configInvalid(`cannot listen at \`${path}\``, cause)));
  });
  // The socket file is made within `listen`, before it returns, with the modes that the mask leaves.
  const before = process.umask(OWNER_ONLY_UMASK);
  try {
    server.listen({ path, backlog });
  } finally {
    process.umask(before);
  }
  await listening;
}

function checkDirectory(directory: string): void {
  let found: Stats;
  try {
    found = statSync(directory);
  } catch (cause) {
    throw configInvalid(`the directory \`${directory}\` of the socket cannot be read; create it with mode 0700`, cause);
  }
  const user = process.geteuid?.() ?? 0;
  if (found.uid !== user && found.uid !== 0)
    throw refusal(directory, "belongs to another user; use a directory of your own");
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0)
    throw refusal(directory, "is writable by others; run `chmod go-w` on it first");
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((done, failed) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      done(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") done(false);
      // EAGAIN: its queue of connections is full, so somebody listens.
      else if (error.code === "EAGAIN") done(true);
      else failed(configInvalid(`cannot tell whether the socket \`${path}\` is in use`, error));
    });
  });
}

function refusal(path: string, why: string): KernelError {
  return configInvalid(`\`${path}\` ${why}`);
}
