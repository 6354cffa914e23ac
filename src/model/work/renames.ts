/**
 * Finds which of a command's effects are two sides of one renaming. Pure.
 *
 * A file that went and one that came with the same content and rights are one file that was renamed, and a directory is
 * where all of it is. That is for people who read it: each side is still judged by itself.
 */

/** One effect, as far as a renaming shows in it. */
export interface SidedEffect {
  readonly path: string;
  readonly kind: "create" | "modify" | "delete" | "mode";
  readonly isDirectory: boolean;
  /** Of a file or link: the same for the same content, kind and rights; absent where that is not known. */
  readonly likeness?: string | undefined;
  /** Many empty files are alike: one is taken for another only where the name is the same, too. */
  readonly isEmpty?: boolean;
}

/** Something that has another name. */
export interface Rename {
  readonly from: string;
  readonly to: string;
  readonly isDirectory: boolean;
}

/** Places where a directory may have come to that are compared with it. */
const PLACES_MAX = 8;
/** Effects beyond which no renaming is looked for: that would take too long at once. */
const EFFECTS_MAX = 10_000;

/** The renamings among `effects`, if those are not too many; what lies in a renamed directory is not named again. */
export function renamesIn(effects: readonly SidedEffect[]): readonly Rename[] {
  if (effects.length > EFFECTS_MAX) return [];
  const gone = new Side(effects.filter(({ kind }) => kind === "delete"));
  const made = new Side(effects.filter(({ kind }) => kind === "create"));
  const renames: Rename[] = [];
  for (const one of gone.inOrder) {
    if (gone.taken.has(one.path)) continue;
    const to = one.isDirectory ? directoryOf(one, gone, made) : fileOf(one, made);
    if (to === undefined) continue;
    renames.push({ from: one.path, to, isDirectory: one.isDirectory });
    gone.take(one.path);
    made.take(to);
  }
  return renames;
}

/** Tells whether a path is one of `paths`, or lies below one. */
export function coveredBy(paths: ReadonlySet<string>): (path: string) => boolean {
  return (path) => {
    if (paths.size === 0) return false;
    for (let above = path; above !== ""; above = above.slice(0, Math.max(0, above.lastIndexOf("/"))))
      if (paths.has(above)) return true;
    return false;
  };
}

/** All that went, or all that came. */
class Side {
  /** Directories before what lies in them. */
  readonly inOrder: readonly SidedEffect[];
  readonly byPath: ReadonlyMap<string, SidedEffect>;
  readonly #alike = new Map<string, SidedEffect[]>();
  readonly taken = new Set<string>();

  constructor(effects: readonly SidedEffect[]) {
    this.inOrder = effects.toSorted((one, other) => compared(one.path, other.path));
    this.byPath = new Map(effects.map((one) => [one.path, one]));
    for (const one of this.inOrder) {
      if (one.likeness === undefined) continue;
      for (const key of [one.likeness, sameName(one)]) {
        const alike = this.#alike.get(key);
        if (alike === undefined) this.#alike.set(key, [one]);
        else alike.push(one);
      }
    }
    for (const alike of this.#alike.values()) alike.reverse();
  }

  /** Some that are alike, by `likeness` or `sameName`, and not taken yet. */
  free(key: string): readonly SidedEffect[] {
    const alike = this.#alike.get(key) ?? [];
    for (let next = alike.at(-1); next !== undefined && this.taken.has(next.path); next = alike.at(-1)) alike.pop();
    return alike.slice(-PLACES_MAX).reverse();
  }

  /** What lies below a directory. */
  below(directory: string): readonly SidedEffect[] {
    const start = this.#firstFrom(`${directory}/`);
    return this.inOrder.slice(start, this.#firstFrom(`${directory}0`)); // the sign after the slash
  }

  take(path: string): void {
    this.taken.add(path);
    for (const one of this.byPath.get(path)?.isDirectory === true ? this.below(path) : []) this.taken.add(one.path);
  }

  #firstFrom(path: string): number {
    let [low, high] = [0, this.inOrder.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compared(this.inOrder[middle]?.path ?? "", path) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function sameName({ path, likeness }: SidedEffect): string {
  return `${nameOf(path)}/${likeness}`;
}

/** Where a file is now. One with the same name counts more than others. */
function fileOf(gone: SidedEffect, made: Side): string | undefined {
  const { likeness, isEmpty = false } = gone;
  if (likeness === undefined) return undefined;
  const [same] = made.free(sameName(gone));
  return (same ?? (isEmpty ? undefined : made.free(likeness)[0]))?.path;
}

/** Where a directory with all that lay in it is now, and nothing else beside it. */
function directoryOf({ path }: SidedEffect, gone: Side, made: Side): string | undefined {
  const inside = gone.below(path);
  const sample = inside.find(({ likeness, isEmpty }) => likeness !== undefined && isEmpty !== true);
  if (sample === undefined) return undefined;
  const rest = sample.path.slice(path.length);
  const places = made
    .free(sameName(sample))
    .filter((one) => one.path.endsWith(rest))
    .map((one) => one.path.slice(0, -rest.length))
    .filter((place) => made.byPath.get(place)?.isDirectory === true && !made.taken.has(place));
  return places.find((place) => isSame(path, inside, { place, made }));
}

function isSame(
  path: string,
  inside: readonly SidedEffect[],
  { place, made }: { readonly place: string; readonly made: Side },
): boolean {
  if (made.below(place).length !== inside.length) return false;
  return inside.every((one) => {
    const other = made.byPath.get(place + one.path.slice(path.length));
    if (other === undefined || other.isDirectory !== one.isDirectory) return false;
    return one.isDirectory || (one.likeness !== undefined && one.likeness === other.likeness);
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
