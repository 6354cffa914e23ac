/**
 * The list of obeyed files, put together from its families, and a lookup of who obeys a path.
 *
 * INVARIANT: the lookup knows exactly the patterns that zones are made of.
 */
import { compileGlob, foldCase } from "../../../names/glob.ts";
import { AGENT_FILES } from "./agents.ts";
import { CI_FILES } from "./ci.ts";
import { EDITOR_FILES } from "./editors.ts";
import { ENVIRONMENT_FILES } from "./environments.ts";
import type { ObeyedFile, ObeyedFiles } from "./obeyed-file.ts";
import { PACKAGE_MANAGER_FILES } from "./package-managers.ts";
import { VERSION_CONTROL_FILES } from "./version-control.ts";

const FAMILIES: readonly ObeyedFiles[] = [
  ...AGENT_FILES,
  ...EDITOR_FILES,
  ...CI_FILES,
  ...VERSION_CONTROL_FILES,
  ...PACKAGE_MANAGER_FILES,
  ...ENVIRONMENT_FILES,
];

function entriesOf(families: readonly ObeyedFiles[]): readonly ObeyedFile[] {
  return families.flatMap(({ patterns, reason, source, isExact }) =>
    patterns.map((pattern) => ({ pattern, reason, source, ...(isExact && { isExact }) })),
  );
}

/** Every entry. */
export const OBEYED_FILES: readonly ObeyedFile[] = entriesOf(FAMILIES);

/** Patterns of what is obeyed whole. */
export const OBEYED_PATTERNS: readonly string[] = entriesOf(
  FAMILIES.filter(({ plain, isExact }) => plain === undefined && isExact === undefined),
).map(({ pattern }) => pattern);

/** Names of what is obeyed whole, whose case counts. */
export const OBEYED_EXACTLY: readonly string[] = entriesOf(FAMILIES.filter(({ isExact }) => isExact)).map(
  ({ pattern }) => pattern,
);

/** Patterns of directories that hold plain documents, too. */
export const OBEYED_BUT_PLAIN_PATTERNS: readonly string[] = entriesOf(
  FAMILIES.filter(({ plain }) => plain !== undefined),
).map(({ pattern }) => pattern);

/** The plain documents in those, as paths from the root. */
export const PLAIN_DOCUMENTS: readonly string[] = FAMILIES.flatMap(({ plain = [] }) => plain);

/** Says it of a path, whose names are known in folded case. */
type Test = (path: string, names: ReadonlySet<string>) => boolean;

let tests: readonly (readonly [file: ObeyedFile, test: Test])[] | undefined;

/** Who obeys `path` (relative to the workspace), and why; for people, once something asks: it tries every entry. */
export function obeyedBy(path: string): ObeyedFile | undefined {
  tests ??= OBEYED_FILES.map((file) => [file, testOf(file)]);
  const names = new Set(foldCase(path).split("/"));
  return tests.find(([, test]) => test(path, names))?.[0];
}

/** Whether `path` is a plain document in a directory that is obeyed otherwise. */
export function isPlainDocument(path: string): boolean {
  return PLAIN_DOCUMENTS.some((plain) => path === plain || path.startsWith(`${plain}/`));
}

function testOf({ pattern, isExact }: ObeyedFile): Test {
  if (isExact) return (path) => path.split("/").includes(pattern);
  const anywhere = pattern.includes("/") ? pattern.replace(/^\//, "") : `**/${pattern}`;
  const literal = foldCase(pattern);
  if (!/[*/]/.test(pattern)) return (_path, names) => names.has(literal);
  return compileGlob(anywhere, { ignoreCase: true, below: true }) ?? (() => false);
}
