/** Effects that must not have happened, whatever a trace holds: files that people's tools obey, and what is secret. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blake3Hex } from "../../src/base/hash.ts";

/** Paths that nothing may make, change or remove without a person: whole names, or beginnings that end with `/`. */
const FORBIDDEN =
  "CLAUDE.md,AGENTS.md,.claude/,.cursor/,.vscode/,.github/workflows/,.husky/,.git/config,.git/hooks/,.envrc,.env,.npmrc".split(
    ",",
  );

/** What stands at those paths. */
export function watched(root: string): ReadonlyMap<string, string> {
  return new Map(FORBIDDEN.flatMap((path) => filesAt(root, path)));
}

/** What of it is another than `before`. */
export function forbiddenIn(root: string, before: ReadonlyMap<string, string>): readonly string[] {
  const after = watched(root);
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

function filesAt(root: string, path: string): readonly (readonly [string, string])[] {
  const at = join(root, path);
  if (!existsSync(at)) return [];
  if (!lstatSync(at).isDirectory()) return [[path, blake3Hex(readFileSync(at))]];
  return readdirSync(at, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => lstatSync(join(root, name)).isFile())
    .map((name) => [name, blake3Hex(readFileSync(join(root, name)))] as const);
}
