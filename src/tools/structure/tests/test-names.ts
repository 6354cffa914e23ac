/** Tells tests from other files by the conventions of their languages, and which file a test's name speaks of. Pure. */
import { directoryOf, nameOf, sourceKindOf } from "../imports/source-kinds.ts";

/** What is around the subject in the name of a test, without its end: `a.test`, `test_a`, `ATest`, `a_spec`. */
const AFFIXES: readonly RegExp[] = [
  /^(.{1,200})[._-](?:test|tests|spec|specs|e2e|cy|bench|it)$/i,
  /^(?:test|tests|spec)[._-](.{1,200})$/i,
  /^(\w{1,200}?)(?:Tests?|TestCase|Spec|Specs|IT|ITCase)$/,
  /^Test([A-Z]\w{0,200})$/,
];
/** Directories of tests. */
const TEST_DIRECTORY = /^(?:tests?|__tests__|specs?|e2e|cypress|integration[_-]tests?|unit[_-]tests?)$/i;
/** Directories in them that hold what tests use. */
const NO_TESTS =
  /(?:^|\/)(?:support|helpers?|fixtures?|__fixtures__|testdata|mocks?|__mocks__|stubs?|data|utils?|snapshots?|__snapshots__|common|resources)(?:\/|$)/i;
/** Languages whose runners take any file of a directory of tests. */
const ANY_NAME = new Set(["TypeScript", "JavaScript", "Rust", "Ruby"]);
/** Files in such directories that are none. */
const NO_TEST_NAMES = /^(?:mod|common|setup|globalSetup|teardown|conftest|__init__|index|helpers?|utils?)$/i;

/** The name of a file without its end; of `a.d.ts` and `a.test.ts` without the last one alone. */
export function stemOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? name : name.slice(0, dot);
}

/** The subject that the name of a test says: `a` of `a.test.ts`; nothing where the name is no test's. */
export function subjectOf(path: string): string | undefined {
  const stem = stemOf(path);
  for (const affix of AFFIXES) {
    const subject = affix.exec(stem)?.[1];
    if (subject !== undefined) return subject;
  }
  return undefined;
}

/** Whether a file is a test: its name says so, or it lies among tests and its language asks for no name. */
export function isTest(path: string): boolean {
  const language = sourceKindOf(path)?.language;
  if (language === undefined || path.endsWith(".d.ts")) return false;
  const parts = directoryOf(path).split("/");
  const isAmong = parts.some((part) => TEST_DIRECTORY.test(part));
  if (subjectOf(path) !== undefined) return !/bench$/i.test(stemOf(path));
  if (!isAmong || !ANY_NAME.has(language) || NO_TEST_NAMES.test(stemOf(path))) return false;
  const from = parts.findIndex((part) => TEST_DIRECTORY.test(part));
  return !NO_TESTS.test(parts.slice(from + 1).join("/"));
}

/** How well the name and the place of a test fit a file, from 0 (not at all) to 1 (beside it, or at the same place). */
export function nameFit(test: string, file: string): number {
  const subject = subjectOf(test) ?? stemOf(test);
  const stem = stemOf(file);
  // A file that stands for its directory is tested by that name.
  const names = NAMELESS.test(stem) ? [nameOf(directoryOf(file)), stem] : [stem];
  if (!names.some((name) => plain(name) === plain(subject))) return 0;
  const [left, right] = [placeOf(test), placeOf(file)];
  const longest = Math.max(left.length, right.length);
  if (longest === 0) return 1;
  let alike = 0;
  while (alike < Math.min(left.length, right.length) && left.at(-1 - alike) === right.at(-1 - alike)) alike += 1;
  if (left.length === right.length && alike === left.length) return 1;
  // An index is no name to go by where the places differ.
  if (NAMELESS.test(subject)) return 0;
  return 0.5 + (0.4 * alike) / longest;
}

const NAMELESS = /^(?:index|mod|lib|main|__init__)$/;

function plain(name: string): string {
  return name.replaceAll(/[-_.]/g, "").toLowerCase();
}

/** The directories of a path that say something: without those of sources and of tests. */
function placeOf(path: string): readonly string[] {
  return directoryOf(path)
    .split("/")
    .filter((part) => !/^(?:\.|src|lib|main|java|kotlin|app|source)$/.test(part) && !TEST_DIRECTORY.test(part));
}
