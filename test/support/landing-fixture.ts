/** Files and times for tests of landings that are done step by step. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes files with their texts below `root`, and the directories that they lie in. */
export function makeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** A time that is later than all that has changed. */
export function nextTick(): bigint {
  const nowMs = Date.now() + 1;
  while (Date.now() < nowMs + 10);
  return BigInt(nowMs) * 1_000_000n;
}
