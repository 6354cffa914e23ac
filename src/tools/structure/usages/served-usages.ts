/**
 * Merges the usages that language servers know with those that syntax shows.
 *
 * The server says which places are the same thing, syntax says what each does there.
 */
import type {
  CodeAccess,
  CodePlace,
  CodeUsage,
  FoundUsages,
  ServedPlace,
  ServedReferences,
  Unserved,
} from "../../../model/place/code.ts";
import type { NamedUsage } from "./named-usage.ts";

/** Definitions that one call asks servers about. */
const DEFINITIONS_MAX = 24;
/** Other names of the same thing whose usages are looked at, and files of each. */
const ALIASES_MAX = 8;
const ALIAS_FILES_MAX = 64;

/** What is asked. */
export interface ServedQuestion {
  readonly code: CodeAccess;
  readonly path: string;
  readonly symbol: string;
  readonly found: FoundUsages;
  /** As syntax knows them, each with the file that defines it as far as imports show. */
  readonly bound: readonly NamedUsage[];
  /** Every file that holds the name. */
  readonly holding: readonly string[];
  readonly definedIn?: string;
  /** The line of the one definition that is meant. */
  readonly line?: number | undefined;
}

/** The usages, and what became of each language's server. */
export interface ServedUsages {
  readonly usages: readonly NamedUsage[];
  /** Servers that answered. */
  readonly servers: readonly string[];
  readonly unserved: readonly Unserved[];
  /** Usages of other things with the name, which servers told apart. */
  readonly others: number;
  /** Places in files that the call may not read. */
  readonly hidden: number;
}

/** The usages as servers know them; those of languages without one as syntax does. */
export async function servedUsages(question: ServedQuestion): Promise<ServedUsages> {
  const groups = new Map<string, NamedUsage[]>();
  for (const usage of question.bound) {
    const family = familyOf(usage.path);
    groups.set(family, [...(groups.get(family) ?? []), usage]);
  }
  const usages: NamedUsage[] = [];
  const servers: string[] = [];
  const unserved: Unserved[] = [];
  let [others, hidden] = [0, 0];
  for (const group of groups.values()) {
    const asked = askedPlaces(group, question.line);
    const answer =
      asked.places.length === 0
        ? undefined
        : await question.code.references(question.path, {
            symbol: question.symbol,
            places: asked.places,
            areDefinitions: asked.areDefinitions,
            holding: question.holding.slice(0, HOLDING_MAX),
          });
    if (answer?.kind !== "served") {
      usages.push(...group.map((usage) => ({ ...usage, by: "syntax" as const })));
      if (answer !== undefined) unserved.push(answer);
      continue;
    }
    servers.push(answer.server);
    hidden += answer.hidden;
    const merged = await mergedUsages(question, group, { ...asked, answer });
    usages.push(...merged.usages);
    others += merged.others;
  }
  return { usages, servers, unserved, others, hidden };
}

const HOLDING_MAX = 5000;

/** Languages that one server knows: an extension says which, as far as two files are compared. */
function familyOf(path: string): string {
  const extension = path.slice(path.lastIndexOf(".") + 1);
  return /^[cm]?[jt]sx?$/.test(extension) ? "ecmascript" : extension === "pyi" ? "py" : extension;
}

interface AskedPlaces {
  readonly places: readonly CodePlace[];
  /** Whether every definition is among them. */
  readonly isWhole: boolean;
  readonly areDefinitions: boolean;
}

/** Where servers are asked: at each definition, else at one usage. */
function askedPlaces(group: readonly NamedUsage[], line: number | undefined): AskedPlaces {
  const named = group.filter(({ binding }) => binding !== "local");
  const all = named.filter(({ kind }) => kind === "definition");
  const definitions = line === undefined ? all : all.filter((each) => each.line === line);
  const [usage] = named.toSorted((one, two) => Number(one.binding === "member") - Number(two.binding === "member"));
  const asked = definitions.length > 0 ? definitions.slice(0, DEFINITIONS_MAX) : usage === undefined ? [] : [usage];
  return {
    places: asked.map(({ path, line, column }) => ({ path, line, column })),
    isWhole: definitions.length > 0 && definitions.length <= DEFINITIONS_MAX,
    areDefinitions: definitions.length > 0,
  };
}

interface Answered extends AskedPlaces {
  readonly answer: ServedReferences;
}

async function mergedUsages(
  question: ServedQuestion,
  group: readonly NamedUsage[],
  { answer, places, isWhole, areDefinitions }: Answered,
): Promise<{ readonly usages: readonly NamedUsage[]; readonly others: number }> {
  const served = new Map<
    string,
    { readonly place: ServedPlace; readonly home: string | undefined; readonly isDefinition: boolean }
  >();
  for (const [index, { references, definitions }] of answer.answers.entries()) {
    const home = areDefinitions ? places[index]?.path : definitions[0]?.path;
    const defined = new Set([...(areDefinitions ? places.slice(index, index + 1) : []), ...definitions].map(keyOf));
    for (const place of [...references, ...definitions]) {
      const key = keyOf(place);
      if (!served.has(key)) served.set(key, { place, home, isDefinition: defined.has(key) });
    }
  }
  const bySyntax = new Map(group.map((usage) => [keyOf(usage), usage]));
  const known = await aliasUsages(
    question,
    [...served.values()].map(({ place }) => place).filter((place) => !bySyntax.has(keyOf(place))),
  );
  const imports = new Set(group.filter(({ kind }) => kind === "import").map(({ path, line }) => `${path}:${line}`));
  const usages: NamedUsage[] = [];
  for (const [key, { place, home, isDefinition }] of served) {
    const isImport = imports.has(`${place.path}:${place.line}`);
    const usage: Pick<CodeUsage, "line" | "column" | "text" | "kind" | "within"> = bySyntax.get(key) ??
      known.get(key) ?? { ...place, kind: isImport ? "import" : "reference" };
    const { line, column, text, within } = usage;
    usages.push({
      path: place.path,
      line,
      column,
      text,
      kind: isDefinition ? "definition" : usage.kind,
      binding: "module",
      ...(within !== undefined && { within }),
      ...(home !== undefined && { definedIn: home }),
      by: "language-server",
    });
  }
  const files = new Set([...served.values()].map(({ place }) => place.path));
  let others = 0;
  for (const usage of group) {
    if (served.has(keyOf(usage))) continue;
    if (staysBySyntax(usage, { files, isWhole, definedIn: question.definedIn }))
      usages.push({ ...usage, by: "syntax" });
    else others += 1;
  }
  return { usages, others };
}

/** What no server named stays where the server does not know the file, or was not asked about all. */
function staysBySyntax(
  { binding, path, definedIn: home }: NamedUsage,
  {
    files,
    isWhole,
    definedIn,
  }: { readonly files: ReadonlySet<string>; readonly isWhole: boolean; readonly definedIn: string | undefined },
): boolean {
  if (binding === "local") return true;
  if (!isWhole) return true;
  if (files.has(path)) return definedIn === undefined && binding === "module" && home === undefined;
  return binding === "module" || definedIn === undefined;
}

/** What the other names of a thing do where they stand. */
async function aliasUsages(
  { code, path }: ServedQuestion,
  places: readonly ServedPlace[],
): Promise<ReadonlyMap<string, CodeUsage>> {
  const files = new Map<string, Set<string>>();
  for (const { name, path: file } of places) files.set(name, (files.get(name) ?? new Set()).add(file));
  const known = new Map<string, CodeUsage>();
  for (const [name, named] of [...files].slice(0, ALIASES_MAX)) {
    if (!/^[\p{L}_$][\p{L}\p{N}\p{M}_$]*$/u.test(name)) continue;
    const found = await code.usages(path, name, [...named].slice(0, ALIAS_FILES_MAX));
    for (const { path: file, usages } of found.files)
      for (const usage of usages) known.set(keyOf({ ...usage, path: file }), usage);
  }
  return known;
}

function keyOf({ path, line, column }: CodePlace): string {
  return `${path}:${line}:${column}`;
}
