/** Finds the tests that have to do with a file, each with its reasons, from names, imports and history. Pure. */
import type { ChangedTogether } from "../../../model/place/code.ts";
import { directoryOf, sourceKindOf } from "../imports/source-kinds.ts";
import type { ImportEdge } from "../imports/workspace-imports.ts";
import { isTest, nameFit } from "./test-names.ts";

/** How a test has to do with the file. */
export interface Reason {
  readonly kind: "name" | "import" | "package" | "history" | "inline";
  readonly why: string;
}

/** A test, with its reasons, the best first. */
export interface RelatedTest {
  readonly path: string;
  readonly reasons: readonly Reason[];
}

/** What is known of the workspace. */
export interface Known {
  readonly files: readonly string[];
  readonly imports: readonly ImportEdge[];
  readonly history: ChangedTogether;
  /** Files that name the file's subject without importing it, in languages where a package needs no import. */
  readonly mentions: ReadonlySet<string>;
  /** The file holds tests of its own. */
  readonly isInline: boolean;
}

/** Files between a test and the file, at most. */
const STEPS_MAX = 3;
/** What an import is worth, by how many steps it is away. */
const STEP_WORTH = [0, 0.85, 0.45, 0.25] as const;
/** Commits together from which on history counts by itself. */
const TOGETHER_MIN = 2;

/** The tests of `file`, those with the best reasons first. */
export function relatedTests(file: string, known: Known): readonly RelatedTest[] {
  const found = new Map<string, Found>();
  const add = (path: string, reason: Reason, worth: number) => {
    const one = found.get(path) ?? { reasons: [], doubt: 1 };
    found.set(path, { reasons: [...one.reasons, { reason, worth }], doubt: one.doubt * (1 - worth) });
  };
  if (known.isInline) add(file, { kind: "inline", why: "holds tests of its own" }, 0.99);
  for (const path of known.files) {
    const fit = path === file || !isTest(path) ? 0 : nameFit(path, file);
    if (fit > 0) add(path, { kind: "name", why: fit === 1 ? "named after it" : "has its name, elsewhere" }, 0.9 * fit);
  }
  for (const { path, through } of importing(file, known.imports)) {
    const why =
      through.length === 0 ? "imports it" : `imports it through ${through.map((each) => `\`${each}\``).join(", ")}`;
    add(path, { kind: "import", why }, STEP_WORTH[through.length + 1] ?? 0);
  }
  for (const path of known.files) {
    if (path === file || !isTest(path) || !isOfPackage(path, file)) continue;
    if (known.mentions.has(path)) add(path, { kind: "package", why: "names it, in the same package" }, 0.8);
    else if (path.endsWith("_test.go")) add(path, { kind: "package", why: "tests the same package" }, 0.3);
  }
  if (known.history.kind === "counted") {
    const { commits, files } = known.history;
    for (const { path, commits: together } of files) {
      const isKnown = found.has(path);
      if (!isTest(path) || (!isKnown && together < TOGETHER_MIN)) continue;
      const why = `changed together in ${together} of ${commits} commits`;
      add(path, { kind: "history", why }, (0.8 * together) / (commits + 2));
    }
  }
  const present = new Set(known.files);
  return [...found]
    .filter(([path]) => present.has(path))
    .sort(([onePath, one], [twoPath, two]) => one.doubt - two.doubt || (onePath < twoPath ? -1 : 1))
    .map(([path, { reasons }]) => ({
      path,
      reasons: reasons.toSorted((one, two) => two.worth - one.worth).map(({ reason }) => reason),
    }));
}

interface Found {
  readonly reasons: readonly { readonly reason: Reason; readonly worth: number }[];
  /** How much speaks against it. */
  readonly doubt: number;
}

/** Tests that import the file, with the files between, nearest first; each test once, by its shortest way. */
function importing(file: string, imports: readonly ImportEdge[]) {
  const importers = new Map<string, string[]>();
  for (const { from, to } of imports) {
    const list = importers.get(to);
    if (list === undefined) importers.set(to, [from]);
    else list.push(from);
  }
  const found: { readonly path: string; readonly through: readonly string[] }[] = [];
  const seen = new Set([file]);
  let reached: readonly { readonly path: string; readonly through: readonly string[] }[] = [
    { path: file, through: [] },
  ];
  for (let step = 1; step <= STEPS_MAX; step += 1) {
    const next: { readonly path: string; readonly through: readonly string[] }[] = [];
    for (const { path, through } of reached) {
      for (const importer of importers.get(path) ?? []) {
        if (seen.has(importer)) continue;
        seen.add(importer);
        const between = path === file ? through : [path, ...through];
        if (isTest(importer)) found.push({ path: importer, through: between });
        else next.push({ path: importer, through: between });
      }
    }
    reached = next;
  }
  return found;
}

/** Whether both are of one package without an import: of one directory in Go, of one package's path in Java. */
function isOfPackage(test: string, file: string): boolean {
  const [style, other] = [sourceKindOf(test)?.style, sourceKindOf(file)?.style];
  if (style === "go" && other === "go") return directoryOf(test) === directoryOf(file);
  return style === "java" && other === "java" && packagePath(test) === packagePath(file);
}

function packagePath(path: string): string {
  return directoryOf(path).replace(/^(?:.*\/)?src\/[^/]+\/(?:java|kotlin|scala)(?:\/|$)/, "");
}
