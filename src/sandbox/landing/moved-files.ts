/**
 * Tells a file that a command moved from one that it changed in its place.
 *
 * Both are copies of a file of the workspace. A copy at a name where nothing stands any more was removed by somebody
 * meanwhile, or stood elsewhere before. It was moved where another name has gone in the same view, and the file there,
 * which nobody has changed since, has its bytes and its time. Otherwise it counts as removed, and nothing of it lands.
 */
import { lstatSync } from "node:fs";
import type { Change } from "./changes.ts";
import type { Standing } from "./standing.ts";

/** The names that have gone in one view. */
export class MovedFiles {
  readonly #changes: readonly Change[];
  readonly #upper: string;
  #gone: ReadonlySet<string> | undefined;

  /** @param upper the path of what the view wrote */
  constructor(changes: readonly Change[], upper: string) {
    this.#changes = changes;
    this.#upper = upper;
  }

  /**
   * Whether the copy at `path` may have been moved there.
   * @param untouched what stands in the workspace at a path, where nobody has changed it since the view began
   */
  *isMoved(path: string, untouched: (path: string) => Standing | undefined): Generator<void, boolean> {
    this.#gone ??= yield* this.#goneFiles(untouched);
    const { size, mtimeNs } = lstatSync(`${this.#upper}/${path}`, { bigint: true });
    return this.#gone.has(likenessOf(Number(size), mtimeNs));
  }

  *#goneFiles(untouched: (path: string) => Standing | undefined): Generator<void, ReadonlySet<string>> {
    const found = new Set<string>();
    for (const { path, kind, isPassedOn } of this.#changes) {
      if (kind !== "gone" || isPassedOn === true) continue;
      const there = untouched(path);
      if (there !== undefined && there.kind !== "directory") found.add(likenessOf(there.bytes, there.writtenNs));
      yield;
    }
    return found;
  }
}

function likenessOf(bytes: number, writtenNs: bigint): string {
  return `${bytes} ${writtenNs}`;
}
