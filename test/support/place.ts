/**
 * A workspace with its state and its operator directory, all below one temporary directory that goes away afterwards.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Directories of one test. `base` holds all of them and is nobody else's. */
export interface Place {
  readonly base: string;
  readonly workspace: string;
  /** Beside the workspace: what no call may reach. */
  readonly outside: string;
  readonly state: string;
  readonly config: string;
  readonly home: string;
  /** Who owns it and runs commands in it, where that is not the user who runs the tests. */
  readonly user?: number;
  /** Writes a file below `base`, with its directories. */
  readonly put: (path: string, content: string | Uint8Array) => string;
  readonly remove: () => void;
}

/** Makes a place that its caller removes. */
export function makePlace(): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-e2e-")));
  const at = (name: string) => join(base, name);
  for (const name of ["workspace", "outside", "config", "home"]) mkdirSync(at(name), { mode: 0o700 });
  return {
    base,
    workspace: at("workspace"),
    outside: at("outside"),
    state: at("state"),
    config: at("config"),
    home: at("home"),
    put(path, content) {
      const file = join(base, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, content, { mode: 0o600 });
      return file;
    },
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}

/** Makes a place that goes away with the running test. */
export function freshPlace(): Place {
  const place = makePlace();
  onTestFinished(place.remove);
  return place;
}
