// The stamp that says "everything is installed": .toolchain/ready, beside .toolchain/node, the path of the Node to use.
// The launcher reads both without starting Node, so their form is fixed: `ready` is compared by age and by hash, `node`
// is one line.
//
// INVARIANT: `ready` is removed before anything is installed and written, by rename, after everything was checked;
// an interrupted set-up therefore leaves none.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSupported } from "./choose-node.mjs";

/**
 * @param {string} root
 * @returns {string | undefined} path of the Node to use when everything is in place, otherwise nothing
 */
export function readStamp(root) {
  try {
    const node = readFileSync(join(root, ".toolchain/node"), "utf8").trim();
    const stamp = JSON.parse(readFileSync(join(root, ".toolchain/ready"), "utf8"));
    const changed = stamp.lock !== lockHash(root) || stamp.node !== node || !existsSync(node);
    const replaced = node === process.execPath && stamp.version !== process.version;
    const emptied = !existsSync(join(root, "node_modules/.package-lock.json"));
    return changed || replaced || emptied || !isSupported(stamp.version) ? undefined : node;
  } catch {
    return undefined; // no stamp, or one that cannot be read: set up again
  }
}

/** @param {string} root */
export function removeStamp(root) {
  rmSync(join(root, ".toolchain/ready"), { force: true });
}

/**
 * @param {string} root
 * @param {string} node path of the Node that was checked
 * @param {string} version its version
 */
export function writeStamp(root, node, version) {
  mkdirSync(join(root, ".toolchain"), { recursive: true });
  replace(join(root, ".toolchain/node"), `${node}\n`);
  replace(join(root, ".toolchain/ready"), `${JSON.stringify({ lock: lockHash(root), node, version })}\n`);
}

/**
 * Makes the stamp younger than the files that it was compared with, so that the launcher's quick check holds next time.
 *
 * @param {string} root
 */
export function refreshStamp(root) {
  try {
    const now = new Date();
    utimesSync(join(root, ".toolchain/ready"), now, now);
  } catch {
    return; // a read-only installation: the launcher takes the longer way, which works too
  }
}

/** @param {string} root */
function lockHash(root) {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/**
 * @param {string} path
 * @param {string} text
 */
function replace(path, text) {
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, text);
  renameSync(partial, path);
}
