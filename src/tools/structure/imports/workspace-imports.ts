/** Collects which files of a tree import which, from their texts. */
import { KIB, MIB } from "../../../base/bytes.ts";
import type { CodeAccess } from "../../../model/place/code.ts";
import type { ImportResolver } from "./import-resolver.ts";
import { importedIn } from "./imported-in.ts";
import { sourceKindOf } from "./source-kinds.ts";

/** Bytes of a file whose imports are read: larger ones were made by programs. */
const SOURCE_BYTES_MAX = 512 * KIB;
/** Bytes of all of them. */
const SOURCES_BYTES_MAX = 64 * MIB;

/** An import of a file of the workspace. */
export interface ImportEdge {
  readonly from: string;
  readonly to: string;
}

/** All that were found, in the order of importing files. */
export interface ImportEdges {
  readonly edges: readonly ImportEdge[];
  /** Files that were not read: too large, or too many. */
  readonly unread: number;
}

/** Whose imports are wanted. */
export interface ImportSources {
  readonly path: string;
  readonly files: readonly string[];
  /** Sees each text as well. */
  readonly see?: (file: string, text: string) => void;
}

/** The imports of `files`, which lie below `path`, that a search by `resolver` leads to. */
export async function importsOf(
  code: CodeAccess,
  { path, files, see }: ImportSources,
  resolver: ImportResolver,
): Promise<ImportEdges> {
  const edges: ImportEdge[] = [];
  const sources = files.filter((file) => sourceKindOf(file)?.style !== undefined && !/\.min\.[mc]?js$/.test(file));
  const bounds = { bytesMax: SOURCE_BYTES_MAX, totalBytesMax: SOURCES_BYTES_MAX };
  const { read } = await code.texts(path, { files: sources, ...bounds }, (from, text) => {
    const style = sourceKindOf(from)?.style;
    if (style === undefined) return;
    see?.(from, text);
    const targets = new Set(importedIn(style, text).flatMap((imported) => resolver.resolve(style, from, imported)));
    for (const to of targets) if (to !== from) edges.push({ from, to });
  });
  return { edges, unread: sources.length - read };
}
