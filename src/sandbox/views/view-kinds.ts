/**
 * Chooses for each workspace what commands write into: an overlay where one can be mounted, else a copy.
 *
 * It is found out once for each workspace, by mounting an overlay as a run would, and again after a run that could not
 * be made. INVARIANT: what the operator chose is never replaced.
 */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Identity } from "../identity/identity.ts";
import { neverBegan, requireRoom } from "../landing/machine/failures.ts";
import { SANDBOX_VIEW_MS } from "../layers/held-overlay.ts";
import { overlayPrefix } from "../layers/overlay.ts";
import type { ViewDirectories, ViewDirectory } from "../layers/view-directories.ts";

/** What commands write into. */
export type ViewKind = "overlay" | "copy";

/** What the operator chose; `auto` is an overlay where one can be mounted. */
export type ViewChoice = "auto" | ViewKind;

/** What was chosen for a workspace, and of a copy why no overlay can be mounted, where that was tried. */
export interface ChosenView {
  readonly kind: ViewKind;
  readonly problem?: string;
}

/** Workspaces whose choice is remembered. */
const REMEMBERED_MAX = 256;

/** The choices of one kernel. */
export class ViewKinds {
  readonly #choice: ViewChoice;
  readonly #directories: ViewDirectories;
  readonly #tell: (message: string) => void;
  readonly #tried = new Map<string, Promise<string | undefined>>();
  /** The choice that was made last. */
  last: ChosenView | undefined;

  /** @param tell told once of each workspace whose commands work on copies because no overlay can be mounted */
  constructor(choice: ViewChoice, directories: ViewDirectories, tell: (message: string) => void) {
    this.#choice = choice;
    this.#directories = directories;
    this.#tell = tell;
  }

  /**
   * What commands in the workspace at `root` write into.
   * @throws ToolFailure SANDBOX_UNAVAILABLE when the operator wants overlays and none can be mounted, DISK_FULL
   */
  async of(root: string, identity: Identity): Promise<ViewKind> {
    this.last = await this.#chosen(root, identity);
    return this.last.kind;
  }

  /** Says that a view could not be made: the next command looks again. @returns whether that may help */
  forget(root: string): boolean {
    return this.#choice === "auto" && this.#tried.delete(keyOf(root));
  }

  async #chosen(root: string, identity: Identity): Promise<ChosenView> {
    if (this.#choice === "copy") return { kind: "copy" };
    const problem = await this.#problem(root, identity);
    if (problem === undefined) return { kind: "overlay" };
    if (this.#choice === "overlay") throw noOverlay(problem);
    return { kind: "copy", problem };
  }

  #problem(root: string, identity: Identity): Promise<string | undefined> {
    const key = keyOf(root);
    const known = this.#tried.get(key);
    if (known !== undefined) return known;
    const oldest = this.#tried.size >= REMEMBERED_MAX ? this.#tried.keys().next().value : undefined;
    if (oldest !== undefined) this.#tried.delete(oldest);
    const trying = this.#try(identity).then((problem) => {
      if (problem !== undefined && this.#choice === "auto")
        this.#tell(`commands in \`${root}\` work on copies of it, because no overlay can be mounted: ${problem}`);
      return problem;
    });
    this.#tried.set(key, trying);
    trying.catch(() => this.#tried.delete(key)); // whoever asked is told, and the next one tries again
    return trying;
  }

  /** Mounts an overlay and writes into it. @returns why that cannot be done */
  async #try({ prefix, source, views }: Identity): Promise<string | undefined> {
    let view: ViewDirectory | undefined;
    try {
      view = this.#directories.make(views?.owner);
      const layers = { directory: `${views?.path ?? ""}/${view.name}`, workspace: source };
      const problem = await problemOf([...prefix, ...overlayPrefix(layers), "/bin/sh", "-c", WRITE]);
      if (problem !== undefined) requireRoom(view.path); // a full disk says nothing about overlays
      return problem;
    } catch (error) {
      throw neverBegan(error);
    } finally {
      view?.dispose();
    }
  }
}

/** A mount that came about can still be read only. */
const WRITE = 'file=merged/.handrail-look-$$; : >"$file" && rm "$file"';

/** Characters of what a program says that are shown. */
const SHOWN_CHARACTERS = 200;

function problemOf([program = "", ...rest]: readonly string[]): Promise<string | undefined> {
  const child = spawn(program, rest, {
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true, // what a terminal sends says nothing of the machine
  });
  return new Promise((resolve) => {
    let said = "";
    const late = setTimeout(() => child.kill("SIGKILL"), SANDBOX_VIEW_MS);
    child.stderr.on("data", (data: Buffer) => {
      said = (said + data.toString("latin1")).slice(0, SHOWN_CHARACTERS);
    });
    child.once("error", (error) => {
      clearTimeout(late);
      resolve(error.message);
    });
    child.once("close", (code) => {
      clearTimeout(late);
      const shown = said.replace(/[^\x20-\x7e]+/g, " ").trim();
      resolve(code === 0 ? undefined : shown || "it did not come about");
    });
  });
}

/** A workspace that was made anew in its place may lie elsewhere. */
function keyOf(root: string): string {
  const found = statSync(root, { throwIfNoEntry: false });
  return `${found?.dev}:${found?.ino} ${root}`;
}

function noOverlay(problem: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `no overlay of the workspace can be mounted (${problem}), and \`sandbox.views\` is \`overlay\`; the command did not run`,
    "ask the operator for `sandbox.views: auto` or `copy` in handrail.yaml, or to look at `handrail doctor`",
  );
}
