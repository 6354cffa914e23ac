/** Defines a usage in its file, and leaves out locals that only have the same name. Pure. */
import type { CodeUsage } from "../../../model/place/code.ts";

/** A usage, where it stands, and the file that defines what it is of, as far as is known. */
export interface NamedUsage extends CodeUsage {
  readonly path: string;
  readonly definedIn?: string;
  /** Who knows: a language server, or the syntax alone. */
  readonly by?: "language-server" | "syntax";
}

/** Definitions first, then by place; without locals where something else has the name, if `mayDrop`. */
export function withoutLocals(
  usages: readonly NamedUsage[],
  mayDrop: boolean,
): { readonly usages: readonly NamedUsage[]; readonly locals: number } {
  const others = usages.filter(({ binding }) => binding !== "local");
  const kept = mayDrop && others.some(({ kind }) => kind === "definition") ? others : usages;
  return { usages: kept.toSorted(byPlace), locals: usages.length - kept.length };
}

function byPlace(one: NamedUsage, two: NamedUsage): number {
  const [first, second] = [one, two].map(({ kind }) => (kind === "definition" ? 0 : 1));
  if (first !== second) return (first ?? 0) - (second ?? 0);
  if (one.path !== two.path) return one.path < two.path ? -1 : 1;
  return one.line - two.line || one.column - two.column;
}
