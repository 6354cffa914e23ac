/** Orders what a person is asked about a merge, and adds what commits bring. */
import { looseReference } from "../../../sandbox/branches/moved-references.ts";
import type { ReviewedEffect } from "../../../sandbox/sandbox.ts";
import { isRepositoryPath, type MergedReferences } from "./merge-scope.ts";
import { summaryLines } from "./reference-summaries.ts";

/** Moved references first, then files; what else git keeps says little to a person. */
export function order(path: string, references: MergedReferences): number {
  if (!isRepositoryPath(path)) return 1;
  return movedBy(path, references).length > 0 ? 0 : 2;
}

/** The effect, of a reference with what it brings, as if that stood below what the reference says. */
export function withSummary(effect: ReviewedEffect, references: MergedReferences): ReviewedEffect {
  const moved = movedBy(effect.path, references);
  const { after } = effect;
  if (after === undefined || after.kind !== "file" || moved.length === 0) return effect;
  const isList = looseReference(effect.path) === undefined;
  const lines = moved
    .slice(0, MOVED_MAX)
    .flatMap(({ name, before, after: is }) => [
      ...(isList ? [`${name}: ${before ?? "nothing"} -> ${is ?? "nothing"}`] : []),
      ...(is === undefined ? [] : summaryLines(references.summaries.get(name))),
    ]);
  const more = moved.length > MOVED_MAX ? [`and ${moved.length - MOVED_MAX} more references`] : [];
  const bytes = Buffer.concat([after.bytes, Buffer.from(`\n${[...lines, ...more].join("\n")}\n`)]);
  return { ...effect, after: { ...after, bytes } };
}

/** References that one file shows. */
const MOVED_MAX = 20;

function movedBy(path: string, { moved }: MergedReferences): MergedReferences["moved"] {
  const own = looseReference(path);
  return moved.filter(({ name }) => name === own || path === ".git/packed-refs");
}
