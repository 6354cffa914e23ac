/** The directory that a run works in: workspaces full of 4 KB files, state and configuration; removed at the end. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Bytes of every file that is read. */
export const FILE_BYTES = 4096;
/** Files that the figures with repeated paths cycle through. */
export const REPEATED_FILES = 200;
/** Files in one directory. */
const DIRECTORY_FILES = 500;

/** A run's directory. */
export interface Playground extends Disposable {
  readonly root: string;
  /**
   * Environment in which both sides are started: nothing of the user's own configuration, a compile cache of this run.
   */
  readonly environment: NodeJS.ProcessEnv;
  /** An empty directory. */
  readonly directory: (name: string) => string;
  /** A workspace of `count` files; their paths from its root. */
  readonly workspace: (name: string, count: number) => { readonly path: string; readonly files: readonly string[] };
}

/** Makes the directory. */
export function createPlayground(): Playground {
  const root = mkdtempSync(join(tmpdir(), "handrail-bench-"));
  const directory = (name: string): string => {
    const path = join(root, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  return {
    root,
    directory,
    environment: {
      PATH: process.env["PATH"],
      HOME: directory("home"),
      HANDRAIL_CONFIG_HOME: join(root, "no-config"),
      NODE_COMPILE_CACHE: directory("compile-cache"),
    },
    workspace: (name, count) => fill(directory(name), count),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function fill(path: string, count: number): { path: string; files: readonly string[] } {
  const files: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const folder = `part${Math.floor(index / DIRECTORY_FILES)}`;
    if (index % DIRECTORY_FILES === 0) mkdirSync(join(path, folder));
    const file = `${folder}/file${index}.ts`;
    writeFileSync(
      join(path, file),
      `export const value${index} = compute(input, options);\n`.repeat(100).slice(0, FILE_BYTES),
    );
    files.push(file);
  }
  return { path, files };
}
