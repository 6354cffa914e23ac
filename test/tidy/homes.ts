// Finds facts that have a second home: rules that look at several files of the product at once.
// INVARIANT: code is read with the TypeScript parser, so that no comment and no text counts as a use.
import { dirname, join } from "node:path";
import ts from "typescript";
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
    rooms.size > 1 ? [] : [`${SHARED_LIMITS}: \`${name}\` is used by ${[...rooms][0] ?? "nobody"} alone; put it beside its user`],
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
