/** `find_usage`, by server and by syntax, against TypeScript's own language service, on sources of this project. */
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { installTypeScript } from "../../../support/language-place.ts";
import { freshPlace } from "../../../support/place.ts";
import { openStructure } from "../../../support/structure-place.ts";

/** Folders whose code is looked at. */
const FOLDERS = ["base", "names", "text", "model", "tools"];
/** Every so many declarations is asked about. */
const STEP = 25;

/** The options of the service, as `tsconfig.json` writes them. */
const SETTINGS = {
  module: "nodenext",
  target: "esnext",
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
};

interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly start: number;
}

function languageService(root: string, files: readonly string[]): ts.LanguageService {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...files],
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) =>
      ts.sys.fileExists(file) ? ts.ScriptSnapshot.fromString(readFileSync(file, "utf8")) : undefined,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (of) => ts.getDefaultLibFilePath(of),
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
  });
}

/** Functions, classes, types and constants of modules. */
function declarationsIn(source: ts.SourceFile): readonly Declaration[] {
  return source.statements.flatMap((statement) => {
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name }) => name)
      : ts.isFunctionDeclaration(statement) ||
          ts.isClassDeclaration(statement) ||
          ts.isInterfaceDeclaration(statement) ||
          ts.isTypeAliasDeclaration(statement)
        ? [statement.name]
        : [];
    return names.flatMap((name) =>
      name !== undefined && ts.isIdentifier(name)
        ? [{ file: source.fileName, name: name.text, start: name.getStart(source) }]
        : [],
    );
  });
}

/** Methods, properties and fields of types. */
function membersIn(source: ts.SourceFile): readonly Declaration[] {
  const types = source.statements.filter((each) => ts.isClassDeclaration(each) || ts.isInterfaceDeclaration(each));
  return types.flatMap((type) =>
    [...type.members].flatMap(({ name }) =>
      name !== undefined && ts.isIdentifier(name)
        ? [{ file: source.fileName, name: name.text, start: name.getStart(source) }]
        : [],
    ),
  );
}

test.each([
  ["syntax", "names of modules", { precision: 1, recall: 0.97 }],
  ["language-server", "names of modules", { precision: 1, recall: 0.99 }],
  ["syntax", "members", { precision: 0.1, recall: 0.7 }],
  ["language-server", "members", { precision: 0.99, recall: 0.99 }],
])("by %s, usages of %s are those of the language service", { timeout: 600_000 }, async (by, what, least) => {
  const place = freshPlace();
  for (const folder of FOLDERS) cpSync(join("src", folder), join(place.workspace, folder), { recursive: true });
  const root = place.workspace;
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(root, name));
  const service = languageService(root, files);
  const sourceOf = (file: string) => service.getProgram()?.getSourceFile(file);
  const placeIn = (file: string, start: number) => {
    const at = sourceOf(file)?.getLineAndCharacterOfPosition(start);
    return `${file.slice(root.length + 1)}:${(at?.line ?? 0) + 1}:${(at?.character ?? 0) + 1}`;
  };
  if (by === "language-server") {
    installTypeScript(root);
    place.put("workspace/tsconfig.json", JSON.stringify({ compilerOptions: SETTINGS }));
  } else place.put("config/handrail.yaml", "language_servers: { enabled: false }\n");
  const { call } = await openStructure({}, place);
  const declarations = files
    .flatMap((file) => {
      const source = sourceOf(file);
      return source === undefined ? [] : what === "members" ? membersIn(source) : declarationsIn(source);
    })
    .filter((_, index) => index % STEP === 0);
  let [both, extra, missing] = [0, 0, 0];
  const told: string[] = [];
  for (const { file, name, start } of declarations) {
    const references = service.findReferences(file, start)?.flatMap((found) => found.references) ?? [];
    const expected = new Set(
      references
        .filter(({ fileName }) => fileName.startsWith(root))
        .map(({ fileName, textSpan }) => placeIn(fileName, textSpan.start)),
    );
    const definedIn = file.slice(root.length + 1);
    const line = (sourceOf(file)?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    const answer = await call("find_usage", { symbol: name, defined_in: definedIn, line, max_tokens: 12_000 });
    // A file may lie in a secret zone by its name.
    if (Array.isArray(answer["usages"])) expect(answer["by"]).toBe(by);
    if (!Array.isArray(answer["usages"]) || (answer["left_out"] as { usages: number }).usages > 0) continue;
    const usages = answer["usages"] as { path: string; line: number; column: number }[];
    const found = new Set(usages.map(({ path, line, column }) => `${path}:${line}:${column}`));
    for (const one of found) {
      if (expected.has(one)) both += 1;
      else extra += 1;
    }
    for (const one of expected) {
      if (found.has(one)) continue;
      missing += 1;
      told.push(`${name}: ${one}`);
    }
  }
  expect(declarations.length).toBeGreaterThan(40);
  expect(both).toBeGreaterThan(100);
  const figures = { precision: both / (both + extra), recall: both / (both + missing) };
  console.log(by, what, { both, extra, missing, ...figures });
  expect(figures.precision).toBeGreaterThanOrEqual(least.precision);
  expect(figures.recall, told.join("\n")).toBeGreaterThanOrEqual(least.recall);
});
