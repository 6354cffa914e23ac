/** Where a socket may be, and what is never removed to make room for it. */

import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FramedServer, serveFramed } from "../../../src/transports/framed/index.ts";

let directory: string;
let path: string;
const servers: FramedServer[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "framed-"));
  path = join(directory, "s.sock");
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(directory, { recursive: true, force: true });
});

async function serve(socketPath = path): Promise<FramedServer> {
  const server = await serveFramed({ socketPath, execute: async () => new Uint8Array(0), onError: () => undefined });
  servers.push(server);
  return server;
}

test("only its user can open the socket, whatever the umask is", async () => {
  const before = process.umask(0);
  try {
    await serve();
    expect(process.umask()).toBe(0);
  } finally {
    process.umask(before);
  }
  expect(lstatSync(path).mode & 0o777).toBe(0o600);
});

test("a socket that nobody answers is replaced", async () => {
  const code = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", code], { timeout: 120_000 });
  const stale = lstatSync(path);
  expect(stale.isSocket()).toBe(true);
  await serve();
  expect(lstatSync(path).isSocket()).toBe(true);
});

test("a socket that somebody answers is refused and goes on", async () => {
  const living = createServer();
  await new Promise<void>((done) => living.listen(path, done));
  await expect(serve()).rejects.toThrow(
    `\`${path}\` is in use by a running kernel; stop that one or choose another path`,
  );
  expect(lstatSync(path).isSocket()).toBe(true);
  await new Promise((done) => living.close(done));
});

test("a file that is no socket is refused and kept", async () => {
  writeFileSync(path, "precious");
  await expect(serve()).rejects.toThrow("is no socket and is not replaced");
  expect(readFileSync(path, "utf8")).toBe("precious");
});

test.each([0o777, 0o1777, 0o720])("a directory that others can write (%o) is refused", async (mode) => {
  const open = join(directory, "open");
  mkdirSync(open);
  chmodSync(open, mode);
  await expect(serve(join(open, "s.sock"))).rejects.toThrow("is writable by others; run `chmod go-w` on it first");
});

test("a directory that does not exist is refused", async () => {
  await expect(serve(join(directory, "none", "s.sock"))).rejects.toThrow("create it with mode 0700");
});

test("a path that is too long for a socket is refused", async () => {
  await expect(serve(join(directory, "x".repeat(120)))).rejects.toThrow(
    "is longer than 107 bytes; choose a shorter path",
  );
});
