#!/usr/bin/env node
/**
 * Starts the command line of an installed package: refuses an old Node and gives compiled code a cache.
 *
 * It has to be read by old versions of Node too, which knew fewer functions and less syntax.
 *
 * INVARIANT: Node runs what lies in the cache in place of the sources, so that the cache is used only where nobody but
 * its user and root can change it or any directory above it.
 */
import { mkdirSync, statSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";

/** The first Node that Handrail is tested on, as in the manifest. */
const NODE_MIN = [22, 18] as const;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  process.stderr.write(
    `handrail: Node ${process.version} is too old; install Node ${NODE_MIN.join(".")} or newer, then try again\n`,
  );
  process.exit(1);
}
cacheCompiledCode();
await import("./main.ts");

/** A start does not compile anew with it. Where it cannot be, everything works without. */
function cacheCompiledCode(): void {
  const { NODE_COMPILE_CACHE: own, XDG_CACHE_HOME: caches } = process.env;
  if (own !== undefined) return;
  const directory = resolve(caches || join(homedir(), ".cache"), "handrail", "compiled");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (!isOwn(directory)) return;
  } catch {
    return; // a home that cannot be written, or none
  }
  module.enableCompileCache(directory);
  process.env["NODE_COMPILE_CACHE"] = directory; // for the threads
}

function isOwn(directory: string): boolean {
  const user = process.geteuid?.();
  for (let path = directory; ; path = dirname(path)) {
    const { uid, mode } = statSync(path);
    const mayChange = (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0;
    if ((uid !== user && uid !== 0) || mayChange) return false;
    if (path === dirname(path)) return true;
  }
}
