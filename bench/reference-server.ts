/**
 * The peer of the MCP figures: the reference file system server, in the version of `bench/package.json`. Peers are
 * installed on first use, without install scripts and with the hashes of the lock file, into `bench/node_modules`.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BENCH = dirname(fileURLToPath(import.meta.url));
const ENTRY = join(BENCH, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const INSTALL_MS_MAX = 10 * 60_000;

/** Installs the peer unless it is there. @throws Error with npm's output when that fails */
export function ensureReferenceServer(): void {
  ensureInstalled(ENTRY);
}

/**
 * Installs all of `bench/package.json` unless `entry`, a file of one of its packages, is there. @throws Error with
 * npm's output
 */
export function ensureInstalled(entry: string): void {
  if (existsSync(entry)) return;
  process.stderr.write("bench: installing the peers into bench/node_modules\n");
  const { status, stdout, stderr, error } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: BENCH,
    encoding: "utf8",
    timeout: INSTALL_MS_MAX,
  });
  if (status !== 0 || !existsSync(entry))
    throw new Error(`the peers were not installed: ${error?.message ?? `${stdout}${stderr}`}`);
}

/** How its users start it. */
export function referenceServerArguments(workspace: string): readonly string[] {
  return [ENTRY, workspace];
}
