/**
 * Caches a call's look at the toolchain and the repositories of its workspace.
 *
 * What was seen first is seen again, because an approval is for what was analysed.
 */
import { type FoundRepository, type GitRepository, NO_REPOSITORY, type RepositoryView } from "../../model/work/git.ts";
import { type Toolchain, type ToolchainView, UNKNOWN_TOOLCHAIN } from "../../model/work/toolchain.ts";
import { JudgedRepository } from "../../sandbox/git/judged-repository.ts";
import type { OpenWorkspace } from "./parts.ts";

type Place = Pick<OpenWorkspace, "toolchain" | "installFile" | "repository">;

/** The look of one call. */
export class WorkspaceLook {
  /** The toolchain, with each of `paths` that says what is installed. */
  readonly toolchain: ToolchainView;
  /** The repository in which a directory lies. */
  readonly repository: RepositoryView;
  readonly #place: Place;
  readonly #repositories = new Map<string, GitRepository>();
  /** By the directory that a repository lies in. */
  readonly #judged = new Map<string, JudgedRepository>();
  #toolchain: Toolchain | undefined;

  constructor(place: Place) {
    this.#place = place;
    this.toolchain = (paths = []) => this.#seeToolchain(paths);
    this.repository = (directory) => this.#seeRepository(directory);
  }

  /** The toolchain, once somebody looked. */
  get seenToolchain(): Toolchain | undefined {
    return this.#toolchain;
  }

  /** Directories in whose repositories somebody looked. */
  get seenRepositories(): Iterable<string> {
    return this.#repositories.keys();
  }

  /** What the call was judged by of the repository in `root`. */
  judged(root: string): JudgedRepository | undefined {
    return this.#judged.get(root);
  }

  #seeToolchain(paths: readonly string[]): Toolchain {
    const { toolchain: look, installFile } = this.#place;
    if (look === undefined) return UNKNOWN_TOOLCHAIN;
    const seen = this.#toolchain ?? look();
    const { further = {} } = seen;
    const unseen = paths.filter((path) => !Object.hasOwn(further, path));
    const found = unseen.map((path) => [path, installFile?.(path) ?? null] as const);
    this.#toolchain = found.length === 0 ? seen : { ...seen, further: { ...further, ...Object.fromEntries(found) } };
    return this.#toolchain;
  }

  #seeRepository(directory: string): GitRepository {
    const known = this.#repositories.get(directory);
    if (known !== undefined) return known;
    const found = this.#place.repository?.(directory) ?? NO_REPOSITORY;
    const seen = found.kind === "found" ? this.#judge(found).repository : found;
    this.#repositories.set(directory, seen);
    return seen;
  }

  /** Two directories of one repository are one look. */
  #judge(found: FoundRepository): JudgedRepository {
    const judged = this.#judged.get(found.root) ?? new JudgedRepository(found);
    this.#judged.set(found.root, judged);
    return judged;
  }
}
