/** Joins what manifests, compose files and imports say into edges between parts. Pure. */

import { joined } from "../imports/import-resolver.ts";
import { directoryOf } from "../imports/source-kinds.ts";
import type { ImportEdge } from "../imports/workspace-imports.ts";
import type { ComposeService } from "./infrastructure.ts";
import { ownerOf, type Part } from "./parts.ts";

/** That one part needs another. */
export interface PartEdge {
  readonly from: string;
  readonly to: string;
  /** A manifest or a compose file says so. */
  declared: boolean;
  /** Files of the one that import files of the other, each pair once. */
  imports: number;
}

/** A compose file and its services. */
export interface ComposeFile {
  readonly path: string;
  readonly services: readonly ComposeService[];
}

/** All edges, by the order of paths. */
export function edgesBetween(
  parts: readonly Part[],
  imports: readonly ImportEdge[],
  compose: readonly ComposeFile[],
): readonly PartEdge[] {
  const byPath = new Map(parts.map((part) => [part.path, part]));
  const edges = new Map<string, PartEdge>();
  const edge = (from: string, to: string): PartEdge | undefined => {
    if (from === to || !byPath.has(from) || !byPath.has(to)) return undefined;
    const key = JSON.stringify([from, to]);
    const known = edges.get(key) ?? { from, to, declared: false, imports: 0 };
    edges.set(key, known);
    return known;
  };
  const declare = (from: string, to: string) => {
    const found = edge(from, to);
    if (found) found.declared = true;
  };
  const byName = new Map(parts.flatMap((part) => (part.manifest ? [[part.name, part.path] as const] : [])));
  for (const { path, manifest } of parts) {
    for (const name of manifest?.dependencies ?? []) {
      const to = byName.get(name);
      if (to !== undefined) declare(path, to);
    }
  }
  for (const file of compose) for (const [from, to] of waitingFor(file)) declare(from, to);
  for (const { from, to } of imports) {
    const found = edge(ownerOf(byPath, from) ?? "", ownerOf(byPath, to) ?? "");
    if (found) found.imports += 1;
  }
  return [...edges.values()].sort((one, two) => compared(one.from, two.from) || compared(one.to, two.to));
}

/** Directories that services are built from, by which waits for which. */
function waitingFor({ path, services }: ComposeFile): readonly (readonly [string, string])[] {
  const built = new Map<string, string>();
  for (const { name, build } of services) {
    const place = build === undefined ? undefined : joined(directoryOf(path), build);
    if (place !== undefined) built.set(name, place);
  }
  return services.flatMap(({ name, dependsOn }) =>
    dependsOn.flatMap((other) => {
      const [from, to] = [built.get(name), built.get(other)];
      return from === undefined || to === undefined ? [] : [[from, to] as const];
    }),
  );
}

function compared(one: string, two: string): number {
  return one < two ? -1 : one > two ? 1 : 0;
}
