// Finds facts that have a second home: rules that look at several files of the product at once.
// INVARIANT: code is read with the TypeScript parser, so that no comment and no text counts as a use.
import { dirname, join } from "node:path";
import ts from "typescript";
import { COMMAND_DANGERS } from "../../src/model/place/command.ts";
import type { ProjectFile } from "./rules.ts";

const SHARED_LIMITS = "src/base/limits.ts";

/** Folders whose sub-folders know nothing of each other: what two of them share has no lower home than the base. */
const ISLANDS = new Set(["transports", "stores"]);

/**
 * @param files the project's files
 * @returns the constants of the shared limits that fewer than two rooms of the product use
 */
export function limitsOfOneRoom(files: readonly ProjectFile[]): readonly string[] {
  const product = files.filter(({ path }) => /^src\/.*\.ts$/.test(path) && !path.startsWith("src/gen/"));
  const homes = product.filter(({ path }) => path === SHARED_LIMITS || path.startsWith("src/base/limits/"));
  const users = new Map<string, Set<string>>();
  for (const home of homes) {
    for (const { name } of constantsOf(home)) users.set(name, users.get(name) ?? new Set());
  }
  for (const home of homes) {
    for (const used of constantsOf(home).flatMap(({ uses }) => uses)) users.get(used)?.add("base");
  }
  for (const file of product.filter((one) => !homes.includes(one))) {
    for (const name of importedLimits(file)) users.get(name)?.add(roomOf(file.path));
  }
  return [...users].flatMap(([name, rooms]) =>
    rooms.size > 1
      ? []
      : [`${SHARED_LIMITS}: \`${name}\` is used by ${[...rooms][0] ?? "nobody"} alone; put it beside its user`],
  );
}

function constantsOf(file: ProjectFile): { name: string; uses: string[] }[] {
  const source = parse(file);
  return source.statements.flatMap((statement) =>
    ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name, initializer }) => ({
          name: name.getText(source),
          uses: initializer === undefined ? [] : identifiersIn(initializer),
        }))
      : [],
  );
}

function identifiersIn(node: ts.Node): string[] {
  const found = ts.isIdentifier(node) ? [node.text] : [];
  ts.forEachChild(node, (child) => void found.push(...identifiersIn(child)));
  return found;
}

function importedLimits(file: ProjectFile): string[] {
  return parse(file).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const from = statement.moduleSpecifier.text;
    const named = statement.importClause?.namedBindings;
    if (!from.startsWith(".") || named === undefined || !ts.isNamedImports(named)) return [];
    const target = join(dirname(file.path), from);
    if (target !== SHARED_LIMITS && !target.startsWith("src/base/limits/")) return [];
    return named.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
  });
}

function roomOf(path: string): string {
  const [, room = "", island = ""] = path.split("/");
  return ISLANDS.has(room) ? `${room}/${island}` : room;
}

function parse({ path, text }: ProjectFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** One fact, where it lives, and what counts as a second copy of it in a file. */
interface Home {
  readonly fact: string;
  readonly home: string;
  readonly copies: (node: ts.Node) => boolean;
}

const ADDRESSES = "src/names/address-class.ts";
/** Listening on a loopback address is no classification of it. */
const ONE_ADDRESS = new Set(["127.0.0.1", "::1", "0.0.0.0", "::"]);
const SIGNAL_NAME = /^SIG[A-Z0-9]{2,8}$/;
/** Words for each of them, by name, are no second list: the types hold that none is missing. */
const DANGERS: ReadonlySet<string> = new Set(COMMAND_DANGERS);

/** A few stand together where something is done to them (ask to stop, then kill); a table has more. */
const TABLE_MIN = 4;

const HOMES: readonly Home[] = [
  {
    fact: "the path of the workspace inside",
    home: "src/model/place/workspace.ts",
    copies: (node) => isText(node) && /^\/workspace(\/|$)/.test(node.text),
  },
  {
    fact: "the path of the workspace inside",
    home: "src/model/place/workspace.ts",
    copies: (node) => ts.isRegularExpressionLiteral(node) && /\\\/workspace\b/.test(node.text),
  },
  {
    fact: "names of signals",
    home: "src/sandbox/run/signals.ts",
    copies: (node) => entriesIn(node, (text) => SIGNAL_NAME.test(text)) >= TABLE_MIN,
  },
  {
    fact: "names of command dangers",
    home: "src/model/place/command.ts",
    copies: (node) => ts.isArrayLiteralExpression(node) && entriesIn(node, (text) => DANGERS.has(text)) >= TABLE_MIN,
  },
  {
    fact: "ranges of addresses",
    home: ADDRESSES,
    copies: (node) => isText(node) && /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f:]*::?[0-9a-f:]*)\/\d{1,3}$/i.test(node.text),
  },
  { fact: "special addresses", home: ADDRESSES, copies: (node) => entriesIn(node, isAddress) >= 2 },
  {
    fact: "names of metadata services",
    home: ADDRESSES,
    copies: (node) => isText(node) && /^(metadata\.(google|azure|goog)|instance-data)/.test(node.text),
  },
  {
    fact: "the root's path as programs take it",
    home: "src/sandbox/files/places/roots.ts",
    copies: (node) =>
      ts.isConditionalExpression(node) &&
      /^[\w.]+\.path === ""$/.test(node.condition.getText()) &&
      node.whenTrue.getText() === '"/"',
  },
];

/**
 * @param file one file of the product
 * @returns the places where it holds a copy of a fact that has its home elsewhere
 */
export function secondHomes(file: ProjectFile): readonly string[] {
  if (!/^src\/.*\.ts$/.test(file.path) || file.path.startsWith("src/gen/")) return [];
  const source = parse(file);
  const others = HOMES.filter(({ home }) => home !== file.path);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    for (const { fact, home, copies } of others) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      if (copies(node)) found.push(`${file.path}:${line}: ${fact}; take it from \`${home}\``);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isText(node: ts.Node): node is ts.StringLiteralLike | ts.TemplateHead {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
}

function isAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && !ONE_ADDRESS.has(text);
}

/** How many entries of a list, or members of an object, are such texts. */
function entriesIn(node: ts.Node, matches: (text: string) => boolean): number {
  if (ts.isArrayLiteralExpression(node))
    return node.elements.filter((entry) => isText(entry) && matches(entry.text)).length;
  if (!ts.isObjectLiteralExpression(node)) return 0;
  return node.properties.filter(
    ({ name }) => name !== undefined && (ts.isIdentifier(name) || isText(name)) && matches(name.text),
  ).length;
}
