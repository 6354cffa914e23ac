/**
 * Makes the empty root directories of containers.
 *
 * Such a directory holds places for what is mounted, links, and the few files of `/etc`. Nothing is ever written there
 * from inside, so that runs with the same places share one.
 *
 * INVARIANT: nothing of the machine lies in it.
 */
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { INSIDE_PROXY_SOCKET, INSIDE_WORKSPACE, type SandboxMount, type SandboxPlan } from "../plan/plan.ts";
import { settingFiles } from "../plan/setting-files.ts";

/** Directories that the runtime mounts upon by itself; what lies in them it makes. */
const OWN = ["proc", "dev", "tmp", "sys"];

/** The directories of one kernel. */
export class OutermostDirectories {
  readonly #base: string;
  readonly #made = new Map<string, string>();

  /** @param base holds them; absolute, and passable for everybody */
  constructor(base: string) {
    this.#base = base;
  }

  /** The one for `plan`. */
  of({ mounts, proxySocket, files = [] }: Pick<SandboxPlan, "mounts" | "proxySocket" | "files">): string {
    const outside = mounts.filter(
      ({ target }) => !isWithin(target, INSIDE_WORKSPACE) && !OWN.some((own) => isWithin(target, `/${own}`)),
    );
    const own = files
      .map(({ target }) => target)
      .filter((target) => !mounts.some((mount) => isWithin(target, mount.target)));
    const key = JSON.stringify([outside, own, proxySocket !== undefined]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const directory = join(this.#base, `outermost-${this.#made.size}`);
    const places = own.map((target): SandboxMount => ({ kind: "hide_file", target }));
    make(directory, [...outside, ...places], proxySocket !== undefined);
    this.#made.set(key, directory);
    return directory;
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function make(directory: string, mounts: readonly SandboxMount[], hasProxy: boolean): void {
  for (const name of [...OWN, "etc", INSIDE_WORKSPACE.slice(1)]) mkdirSync(join(directory, name), { recursive: true });
  // the runtime gives what is private the mode of what it is mounted upon
  chmodSync(join(directory, "tmp"), 0o1777);
  chmodSync(join(directory, INSIDE_WORKSPACE), 0o777);
  for (const [name, text] of Object.entries(settingFiles())) writeFileSync(join(directory, "etc", name), text);
  if (hasProxy) place(directory, { kind: "hide_file", target: INSIDE_PROXY_SOCKET });
  for (const mount of mounts) place(directory, mount);
}

/** A later mount may lie within an earlier one, where its place already is. */
function place(directory: string, mount: SandboxMount): void {
  const at = join(directory, mount.target);
  mkdirSync(dirname(at), { recursive: true });
  if (mount.kind === "link") symlinkSync(mount.points, at);
  else if (isDirectory(mount)) mkdirSync(at, { recursive: true });
  else writeFileSync(at, "");
}

/** What is seen under its own path may be mounted from a view of the machine that this process does not see. */
function isDirectory(mount: Exclude<SandboxMount, { readonly kind: "link" }>): boolean {
  if (!("source" in mount)) return mount.kind === "hide_directory";
  const found = statSync(mount.target, { throwIfNoEntry: false }) ?? statSync(mount.source, { throwIfNoEntry: false });
  return found?.isDirectory() ?? true;
}
