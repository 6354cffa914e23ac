/**
 * Finds the references of git that a merge would let name something else.
 *
 * A reference is what its own file says, or what the list of packed ones says where there is no such file: packing
 * moves none, and a changed list moves some.
 */

import { bytesAt, standingBeneath } from "./beneath.ts";
import type { BranchChange } from "./branch-changes.ts";

/** A reference that would name something else. */
export interface MovedReference {
  /** Such as `refs/heads/main` or `HEAD`. */
  readonly name: string;
  /** What it says on either side; absent where there is none. */
  readonly before?: string;
  readonly after?: string;
}

/** Those of one merge. */
export interface MovedReferences {
  readonly moved: readonly MovedReference[];
  /** Whether the list of packed references could be read; any may move otherwise. */
  readonly isKnown: boolean;
}

/** Open descriptors: of the branch's tree, and of its parent. */
interface Sides {
  readonly tree: number;
  readonly parent: number;
}

const LOOSE = /^\.git\/(HEAD|refs\/.+)$/;
const PACKED = ".git/packed-refs";

/** The reference whose own file lies at `path`. */
export function looseReference(path: string): string | undefined {
  return LOOSE.exec(path)?.[1];
}

/** Finds them, sorted by their names. */
export function movedReferences({ tree, parent }: Sides, changes: readonly BranchChange[]): MovedReferences {
  const loose = new Map(
    changes.flatMap((change) => {
      const name = looseReference(change.path);
      return name === undefined ? [] : [[name, change] as const];
    }),
  );
  const list = changes.find(({ path }) => path === PACKED);
  if (loose.size === 0 && list === undefined) return { moved: [], isKnown: true };
  const before = packedIn(parent);
  const after = list === undefined ? before : packedIn(tree);
  const names = new Set([...loose.keys(), ...(list === undefined ? [] : [...before.all.keys(), ...after.all.keys()])]);
  const moved = [...names].sort().flatMap((name): readonly MovedReference[] => {
    const change = loose.get(name);
    const there = textAt(parent, name);
    const here = change === undefined ? there : change.is === "file" ? textAt(tree, name) : undefined;
    const [was, is] = [there ?? before.all.get(name), here ?? after.all.get(name)];
    if (was === is) return [];
    return [{ name, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }];
  });
  return { moved, isKnown: before.isKnown && after.isKnown };
}

function textAt(root: number, name: string): string | undefined {
  return bytesAt(root, `.git/${name}`, "file")?.toString("utf8").trim();
}

interface Packed {
  readonly all: ReadonlyMap<string, string>;
  readonly isKnown: boolean;
}

function packedIn(root: number): Packed {
  const text = bytesAt(root, PACKED, "file")?.toString("utf8");
  const rows = (text ?? "").split("\n").flatMap((line) => {
    const [, object, name] = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/.exec(line) ?? [];
    return object === undefined || name === undefined ? [] : [[name, object] as const];
  });
  return { all: new Map(rows), isKnown: text !== undefined || standingBeneath(root, PACKED) === undefined };
}
