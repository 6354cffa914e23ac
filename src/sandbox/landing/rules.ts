/** Tells what of a view a call may land: by its judge of paths, and by what they are together. */
import { shapesRepository } from "../../model/place/repository-shape.ts";
import type { NotKeptReason } from "../../model/work/exec.ts";
import type { CommandEffect, ScopeJudge } from "../plan/workspace-mounts.ts";
import type { Change, ChangeKind } from "./changes.ts";
import { nameOf, parentOf, type Standing } from "./standing.ts";

/** The rules of one landing. */
export class LandingRules {
  readonly #judge: ScopeJudge;
  /** What of the view stands and is not dropped. */
  readonly #standing: Set<string>;
  readonly #whole = new Map<string, boolean | undefined>();
  readonly #isRefused: boolean;
  /** Effects about which a person has to be asked. */
  readonly asked: CommandEffect[] = [];

  /** @param isRefused whether a person was asked and did not agree */
  constructor(judge: ScopeJudge, changes: readonly Change[], isRefused: boolean) {
    this.#judge = judge;
    this.#isRefused = isRefused;
    this.#standing = new Set(
      changes.flatMap(({ path, kind }) => (kind === "gone" || kind === "special" ? [] : [path])),
    );
  }

  /** Takes note of what does not land. */
  drop(path: string): void {
    this.#standing.delete(path);
  }

  /** Whether the call may make it, where nothing of that kind stands. */
  lets(path: string, kind: ChangeKind): boolean {
    if (kind === "directory") return this.allows(path, true) && !this.#costsMount(path);
    return this.allows(path, false) && (kind !== "link" || this.#allowsLink(path));
  }

  /**
   * Whether the call may make, change or remove what is named: all that lies in a directory that is one thing goes by
   * that.
   */
  allows(path: string, isDirectory: boolean): boolean {
    return this.wholeAbove(parentOf(path)) ?? (this.#judge.entry(path, isDirectory) === "write" && !this.#shapes(path));
  }

  /** Whether a directory, once it stands there, needs a mount for every later command: machines take so many only. */
  #costsMount(path: string): boolean {
    const judge = this.#judge;
    if (this.wholeAbove(parentOf(path)) !== undefined || judge.isWhole(path)) return false;
    return judge.below(path) !== "write" && judge.below(parentOf(path) || ".") === "write";
  }

  /** Within a directory that is one thing links are as good as files, as in `node_modules`. */
  #allowsLink(path: string): boolean {
    return this.wholeAbove(parentOf(path)) ?? this.#judge.allowsLink?.(path) ?? true;
  }

  /**
   * Whether it makes a look-alike repository with what else of the view lands; the judge knows what stands in the
   * workspace.
   */
  #shapes(path: string): boolean {
    if (this.#judge.isOfRepository?.(path) === true) return false;
    const directory = parentOf(path);
    return shapesRepository(nameOf(path), (name) =>
      this.#standing.has(directory === "" ? name : `${directory}/${name}`),
    );
  }

  /** Why an effect on what may be written does not land all the same, if it does not. */
  commits(effect: CommandEffect): NotKeptReason | undefined {
    if (this.wholeAbove(effect.path) !== undefined) return undefined;
    switch (this.#judge.commit?.(effect) ?? "lands") {
      case "lands":
        return undefined;
      case "drops":
        return "not_allowed";
      case "asks":
        if (this.#isRefused) return "not_approved";
        this.asked.push(effect);
        return undefined;
    }
  }

  /** Whether it may complete a repository with what others make beside it. */
  mayShape(path: string): boolean {
    if (this.#judge.isOfRepository?.(path) === true) return false;
    return this.wholeAbove(parentOf(path)) === undefined && shapesRepository(nameOf(path), () => true);
  }

  /** Whether all below the directory may be written, or nothing, where that is one thing. */
  wholeAbove(directory: string): boolean | undefined {
    if (directory === "") return undefined;
    if (!this.#whole.has(directory)) {
      const judge = this.#judge;
      const own = judge.isWhole(directory) ? judge.entry(directory, true) === "write" : undefined;
      this.#whole.set(directory, this.wholeAbove(parentOf(directory)) ?? own);
    }
    return this.#whole.get(directory);
  }
}

const RUNNABLE = 0o111;
const OPEN = 0o002;

/** Whether everybody can write what stands there once it has `mode`, and could not before. */
function opens(mode: number, there: Pick<Standing, "mode"> | undefined): { readonly opens?: boolean } {
  return (mode & OPEN) !== 0 && ((there?.mode ?? 0) & OPEN) === 0 ? { opens: true } : {};
}

/** What a change does to the workspace, in which `there` stands at its path. */
export function effectOf({ path, kind, bytes = 0, mode = 0 }: Change, there: Standing | undefined): CommandEffect {
  const isDirectory = kind === "directory";
  const isExecutable = !isDirectory && (mode & RUNNABLE) !== 0;
  const opened = kind === "link" ? {} : opens(mode, there);
  return { path, kind: there === undefined ? "create" : "modify", isDirectory, bytes, isExecutable, ...opened };
}

/** What it does to give a directory other rights. */
export function rightsEffect(path: string, mode: number, there: Standing): CommandEffect {
  return { path, kind: "mode", isDirectory: true, bytes: 0, isExecutable: false, ...opens(mode, there) };
}
