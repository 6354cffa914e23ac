/**
 * A command that runs while others change its workspace. Before it goes on it looks for the name of a signal in a
 * listing, which is current always: a name that it asked for before would be remembered as absent.
 */
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { passOn } from "../../src/sandbox/mirror/running-views.ts";
import { type Differences, own, type Ran, type SandboxPlace } from "./sandbox-place.ts";

/** Waits for the signal `name`. */
export function awaiting(name: string): string {
  return `echo "at ${name}"; until ls -A | grep -qx ${name}; do sleep 0.02; done`;
}

/** Runs `command`; at each `awaiting` of it does what `acts` has under that name, and gives the signal. */
export async function runMeanwhile(
  { root, run }: Pick<SandboxPlace, "root" | "run">,
  command: string,
  acts: Readonly<Record<string, () => unknown>>,
  differences: Omit<Differences, "onOutput"> = {},
): Promise<Ran> {
  let said = "";
  let failure: unknown;
  const done = new Set<string>();
  const onOutput = (piece: Uint8Array) => {
    said += Buffer.from(piece).toString("latin1");
    for (const [name, act] of Object.entries(acts)) {
      if (done.has(name) || !said.includes(`at ${name}\n`)) continue;
      done.add(name);
      const signal = () => writeFileSync(join(root, name), "");
      Promise.resolve()
        .then(act)
        .catch((error: unknown) => (failure ??= error))
        .finally(signal);
    }
  };
  const ran = await run(command, { ...differences, onOutput });
  if (failure !== undefined) throw failure;
  return ran;
}

/** Saves a file as file tools do: beside it, then in its place; missing directories are made. @returns what changed */
export function save(root: string, path: string, text: string): readonly string[] {
  const made: string[] = [];
  for (let above = dirname(path); above !== "."; above = dirname(above)) made.unshift(above);
  const isNew = made.filter((directory) => mkdirSync(join(root, directory), { recursive: true }) !== undefined);
  for (const directory of isNew) own(join(root, directory));
  writeFileSync(join(root, `${path}.new`), text);
  own(join(root, `${path}.new`));
  renameSync(join(root, `${path}.new`), join(root, path));
  return [...isNew, path];
}

/** Removes a file, or an empty directory. @returns what changed */
export function remove(root: string, path: string, isDirectory = false): readonly string[] {
  if (isDirectory) rmdirSync(join(root, path));
  else rmSync(join(root, path));
  return [path];
}

/** Passes on what has become of `paths`, as file tools and landings do. */
export function told(root: string, paths: readonly string[]): Promise<void> {
  return passOn(root, paths);
}
