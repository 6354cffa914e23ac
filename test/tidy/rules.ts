// The house rules that no linter knows, as pure functions from a file (or a few) to the faults found in it.
// Code is read with the TypeScript parser, never with patterns, where a string or a comment could deceive one.
import { homedir, tmpdir } from "node:os";
import { dirname } from "node:path";
import ts from "typescript";

/** A file of the project: its path from the root with `/`, and its text. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** One rule: its name as a sentence, and the faults it finds, each a line for a person. */
export interface Rule {
  readonly name: string;
  readonly faults: (file: ProjectFile) => readonly string[];
}

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const LINE_CHARACTERS_MAX = 120;
const HEADER_WORDS_MAX = 20;
const FOLDER_FILES_MAX = 15;
/** Folders that list like things: they may hold more. */
const LISTS = ["src/cli/commands", "src/redact/rules", "src/tools/shell/gadgets/rows", "src/model/place/obeyed-files"];
const PARAMETERS_MAX = 3;

/** Places where a function may take more parameters: an object would cost there, or hide what is called. */
const MANY_PARAMETERS: readonly RegExp[] = [
  /^src\/names\/glob\.ts$/, // compares in place, for each component of each path
  /^src\/redact\/kinds\/samples\.ts$/, // the language says what is called with the parts of a match
  /^src\/redact\/search\//, // inner loops over every byte of a text: an object per candidate would cost
  /^src\/redact\/kinds\/named-value\.ts$/, // the same, per name that may stand before a secret
  /^src\/sandbox\/(native\/|run\/orphans\.ts$)/, // what is called there mirrors the arguments of a system call
];

const isCode = (path: string) => /\.(ts|tsx|mts|mjs|js)$/.test(path);
const isTest = (path: string) => /\.test\.tsx?$/.test(path);
const isGenerated = (path: string) => path.startsWith("src/gen/");
const isProduct = (path: string) => isCode(path) && /^(src|web)\//.test(path) && !isGenerated(path);

/** Every rule that looks at one file at a time. */
export const FILE_RULES: readonly Rule[] = [
  {
    name: `a file has at most ${FILE_LINES_MAX} lines`,
    faults: (file) => (isProduct(file.path) ? longFile(file) : []),
  },
  {
    name: `a function has at most ${FUNCTION_LINES_MAX} lines`,
    faults: (file) => (isProduct(file.path) && !isTest(file.path) ? longFunctions(file) : []),
  },
  {
    name: `a function takes at most ${PARAMETERS_MAX} positional parameters`,
    faults: (file) =>
      isProduct(file.path) && !MANY_PARAMETERS.some((place) => place.test(file.path)) ? manyParameters(file) : [],
  },
  {
    name: `a line has at most ${LINE_CHARACTERS_MAX} characters, unless a text in it is longer`,
    faults: (file) => (isCode(file.path) && !isGenerated(file.path) ? longLines(file) : []),
  },
  {
    name: `a header begins with a sentence of at most ${HEADER_WORDS_MAX} words that says what the thing is`,
    faults: (file) => (isProduct(file.path) ? vagueHeader(file) : []),
  },
  {
    name: "tests stand in the tree of tests",
    faults: ({ path }) => (isTest(path) && !path.startsWith("test/") ? [path] : []),
  },
  { name: "no marker of unfinished work is left", faults: leftoverMarkers },
  {
    name: "a file opens with a comment",
    faults: (file) => (isCode(file.path) && !isGenerated(file.path) ? missingHeader(file) : []),
  },
  {
    name: "an export of the product has a docstring",
    faults: (file) => (isProduct(file.path) && !isTest(file.path) ? undocumentedExports(file) : []),
  },
  { name: "no path of a building machine is named", faults: machinePaths },
  { name: "file names say what is inside", faults: (file) => vagueName(file.path) },
  {
    name: "file names are kebab-case",
    faults: (file) => (isCode(file.path) && !isGenerated(file.path) ? notKebabCase(file.path) : []),
  },
  {
    name: "no test is skipped, singled out or left for later",
    faults: (file) => (isCode(file.path) ? dormantTests(file) : []),
  },
  {
    name: "no test brings a random seed of its own",
    faults: (file) => (isCode(file.path) && (isTest(file.path) || file.path.startsWith("test/")) ? ownSeeds(file) : []),
  },
];

function longFile({ path, text }: ProjectFile): string[] {
  const lines = text.trimEnd().split("\n").length;
  return lines > FILE_LINES_MAX ? [`${path}: ${lines} lines`] : [];
}

/** A text that is written as one literal cannot be parted without changing what is looked for. */
function longLines(file: ProjectFile): string[] {
  const long = file.text.split("\n").flatMap((line, index) => (line.length > LINE_CHARACTERS_MAX ? [index] : []));
  if (long.length === 0) return [];
  const covered = new Set<number>();
  for (const { node, source } of nodesOf(file)) {
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateLiteral(node) && !ts.isRegularExpressionLiteral(node)) continue;
    const [first, last] = [lineOf(source, node.getStart(source)), lineOf(source, node.getEnd())];
    for (let line = first; line <= last; line += 1) covered.add(line - 1);
  }
  return long.filter((index) => !covered.has(index)).map((index) => `${file.path}:${index + 1}`);
}

const VAGUE = /^(?:What|How|Whether|Which|Who|Whose|Whom|Where|When|That|Of|By)\b/;

function vagueHeader({ path, text }: ProjectFile): string[] {
  const [comment = ""] = /^(?:\/\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(text.replace(/^#!.*\n/, "")) ?? [];
  const words = comment.replace(/^\s*(?:\/\*+|\*\/|\*|\/\/)/gm, " ").replace(/\*\/\s*$/, "");
  const [first = ""] = /^.*?[.?!](?= |$)/.exec(words.replace(/\s+/g, " ").trim()) ?? [];
  const count = first.split(" ").length;
  if (first !== "" && !VAGUE.test(first) && count <= HEADER_WORDS_MAX) return [];
  return [`${path}: ${first === "" ? "no sentence" : `${count} words: ${first.slice(0, 60)}`}`];
}

/** Folders of the product with more files than one can take in at a look. */
export function crowdedFolders(files: readonly ProjectFile[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) if (isProduct(path)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) =>
    count > FOLDER_FILES_MAX && !LISTS.includes(folder) ? [`${folder}: ${count} files`] : [],
  );
}

function longFunctions(file: ProjectFile): string[] {
  return nodesOf(file).flatMap(({ node, source }) => {
    if (!ts.isFunctionLike(node)) return [];
    const first = lineOf(source, node.getStart(source));
    const lines = lineOf(source, node.getEnd()) - first + 1;
    return lines > FUNCTION_LINES_MAX ? [`${file.path}:${first}: a function of ${lines} lines`] : [];
  });
}

function manyParameters(file: ProjectFile): string[] {
  return nodesOf(file).flatMap(({ node, source }) => {
    if (!ts.isFunctionLike(node)) return [];
    const count = node.parameters.filter(({ name }) => name.getText(source) !== "this").length;
    const line = lineOf(source, node.getStart(source));
    return count > PARAMETERS_MAX
      ? [`${file.path}:${line}: ${count} parameters; give it one object with a named interface`]
      : [];
  });
}

function leftoverMarkers({ path, text }: ProjectFile): string[] {
  const marker = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"].join("|")})\\b`);
  return text.split("\n").flatMap((line, index) => (marker.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}

function missingHeader({ path, text }: ProjectFile): string[] {
  const start = text.replace(/^#!.*\n/, "");
  return /^(\/\/ ?\S|\/\*)/.test(start) ? [] : [`${path}: does not say what it decides`];
}

function undocumentedExports(file: ProjectFile): string[] {
  const source = parse(file);
  const named = new Set(
    source.statements.flatMap((statement) =>
      ts.isExportDeclaration(statement) &&
      !statement.moduleSpecifier &&
      statement.exportClause &&
      ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
        : [],
    ),
  );
  const documented = new Set<string>();
  return source.statements.flatMap((statement) => {
    const names = declaredNames(statement);
    const exported =
      hasExportWord(statement) || ts.isExportAssignment(statement) || names.some((name) => named.has(name));
    if (!exported) return [];
    if (hasDocstring(statement, file.text)) for (const name of names) documented.add(name);
    else if (!names.every((name) => documented.has(name)) || names.length === 0) {
      return [
        `${file.path}:${lineOf(source, statement.getStart(source))}: \`${names.join(", ") || "default"}\` has no docstring`,
      ];
    }
    return []; // later overloads of a documented function need none of their own
  });
}

/** Where this checkout lies, what lies beside it, and whose home directory this is: nothing that others have. */
const MACHINE_PATHS: readonly string[] = [process.cwd(), dirname(process.cwd()), homedir()]
  .filter((path) => path.split("/").length > 2 && path !== tmpdir())
  .concat(`${homedir()}/`)
  .filter((path) => path !== "/" && path !== "//");

function machinePaths({ path, text }: ProjectFile): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      MACHINE_PATHS.some((place) => line.includes(place)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    );
}

function vagueName(path: string): string[] {
  const segments = path
    .toLowerCase()
    .split("/")
    .flatMap((segment) => segment.split(/[-_.]/));
  return segments.some((word) => /^(utils?|helpers?|misc)$/.test(word)) ? [`${path}: name it after what it does`] : [];
}

function notKebabCase(path: string): string[] {
  const bad = path
    .split("/")
    .find((segment) => !/^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/.test(segment));
  return bad === undefined ? [] : [`${path}: \`${bad}\` is not kebab-case`];
}

function dormantTests(file: ProjectFile): string[] {
  const dormant = new Set(["skip", "only", "todo", "skipIf", "runIf", "fails"]);
  return nodesOf(file).flatMap(({ node, source }) => {
    const found = ts.isPropertyAccessExpression(node)
      ? dormant.has(node.name.text) && isTestFunction(node.expression)
      : isOldDormantCall(node);
    return found ? [`${file.path}:${lineOf(source, node.getStart(source))}: ${node.getText(source).slice(0, 60)}`] : [];
  });
}

function isTestFunction(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node)) return isTestFunction(node.expression);
  if (ts.isCallExpression(node)) return isTestFunction(node.expression);
  return ts.isIdentifier(node) && ["test", "it", "describe", "suite", "bench"].includes(node.text);
}

function isOldDormantCall(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) &&
    ts.isIdentifier(node.expression) &&
    /^(xit|xtest|xdescribe|fit|fdescribe)$/.test(node.expression.text)
  );
}

/** The one file that sets the seed of all random tests. */
const SEED_FILE = "test/random-seed.ts";
const RANDOM_SOURCES = new Set(["random", "randomBytes", "randomInt", "randomUUID", "getRandomValues", "webcrypto"]);

function ownSeeds(file: ProjectFile): string[] {
  if (file.path === SEED_FILE) return [];
  const nodes = nodesOf(file);
  const drawsCases = nodes.some(
    ({ node }) => ts.isImportDeclaration(node) && textOf(node.moduleSpecifier) === "fast-check",
  );
  return nodes.flatMap(({ node, source }) => {
    const found = isRandomSource(node) || (drawsCases && isOwnSeed(node));
    return found ? [`${file.path}:${lineOf(source, node.getStart(source))}: ${node.getText(source).slice(0, 60)}`] : [];
  });
}

/** \`Math.random\`, and what \`crypto\` has of the kind; a name of the project's own is something else. */
function isRandomSource(node: ts.Node): boolean {
  if (ts.isImportSpecifier(node)) {
    const { moduleSpecifier } = node.parent.parent.parent;
    return (
      /^(node:)?crypto$/.test(textOf(moduleSpecifier)) && RANDOM_SOURCES.has((node.propertyName ?? node.name).text)
    );
  }
  if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return false;
  return ["Math", "crypto", "webcrypto"].includes(node.expression.text) && RANDOM_SOURCES.has(node.name.text);
}

/** A seed that is given to fast-check. One that is written out may choose examples, which are the same in every run. */
function isOwnSeed(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return /^(configureGlobal|resetConfigureGlobal)$/.test(node.name.text);
  if (ts.isImportDeclaration(node))
    return textOf(node.moduleSpecifier) === "fast-check" && node.importClause?.name?.text !== "fc";
  const isSeed =
    (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) &&
    /^(seed|randomType)$/.test(textOf(node.name));
  if (!isSeed) return false;
  const call = node.parent.parent;
  const isExample =
    ts.isCallExpression(call) &&
    ts.isPropertyAccessExpression(call.expression) &&
    call.expression.name.text === "sample";
  return !(isExample && ts.isPropertyAssignment(node) && ts.isNumericLiteral(node.initializer));
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) || ts.isIdentifier(node) ? node.text : "";
}

/**
 * @param lock text of package-lock.json
 * @returns the packages that carry a download address, which would tie the project to one registry
 */
export function resolvedEntries(lock: string): readonly string[] {
  const { packages }: { packages: Record<string, object> } = JSON.parse(lock);
  return Object.entries(packages).flatMap(([path, entry]) => ("resolved" in entry ? [path] : []));
}

/**
 * @param manifest text of package.json
 * @param reasons text of the page that gives a reason for each dependency, in tables whose first column is the name
 * @returns dependencies without a reason, and reasons without a dependency
 */
export function unexplainedDependencies(manifest: string, reasons: string): readonly string[] {
  const { dependencies = {}, devDependencies = {} }: { dependencies?: object; devDependencies?: object } =
    JSON.parse(manifest);
  const used = new Set(Object.keys({ ...dependencies, ...devDependencies }));
  const explained = new Set([...reasons.matchAll(/^\| `([^`]+)` +\| *[^|\s][^|]*\|/gm)].map(([, name]) => name));
  return [
    ...[...used].filter((name) => !explained.has(name)).map((name) => `\`${name}\` has no reason`),
    ...[...explained]
      .filter((name) => name !== undefined && !used.has(name))
      .map((name) => `\`${name}\` is explained but not used`),
  ];
}

function parse({ path, text }: ProjectFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

function nodesOf(file: ProjectFile): { node: ts.Node; source: ts.SourceFile }[] {
  const source = parse(file);
  const found: { node: ts.Node; source: ts.SourceFile }[] = [];
  const visit = (node: ts.Node) => {
    found.push({ node, source });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

function hasExportWord(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isModuleDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return named && statement.name ? [statement.name.text] : [];
}

function hasDocstring(statement: ts.Statement, text: string): boolean {
  const last = (ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? []).at(-1);
  const comment = last === undefined ? "" : text.slice(last.pos, last.end);
  return comment.startsWith("/**") && comment.replace(/[\s/*]/g, "") !== "";
}
