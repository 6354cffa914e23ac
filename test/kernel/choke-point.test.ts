/** The choke point: one place in the code base executes a tool, and the kernel has one door. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Paths of the product's own code, from the root. */
function productFiles(): string[] {
  return readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join("src", path))
    .sort();
}

/** The product as the type checker sees it; `planted` adds or replaces files. */
function productProgram(planted: Readonly<Record<string, string>> = {}): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, "tsconfig.json"),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
      },
    },
  );
  const options = { ...config?.options, noEmit: true };
  const host = ts.createCompilerHost(options, true);
  const texts = new Map(Object.entries(planted).map(([path, text]) => [join(ROOT, path), text]));
  const readFile = host.readFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.readFile = (path) => texts.get(normalize(path)) ?? readFile(path);
  host.fileExists = (path) => texts.has(normalize(path)) || fileExists(path);
  host.getSourceFile = (path, version, onError, fresh) => {
    const text = texts.get(normalize(path));
    return text === undefined
      ? getSourceFile(path, version, onError, fresh)
      : ts.createSourceFile(path, text, version, true);
  };
  const files = [...new Set([...productFiles(), ...Object.keys(planted)])].map((path) => join(ROOT, path));
  return ts.createProgram(files, options, host);
}

/**
 * Where a tool's `execute` is reached for: any mention of a property `execute` that the interface `Tool` declares,
 * called or taken away to be called elsewhere, by name, by text in brackets or by destructuring.
 */
function executions(program: ts.Program): string[] {
  const checker = program.getTypeChecker();
  const found: string[] = [];
  for (const source of program.getSourceFiles()) {
    const path = source.fileName.slice(ROOT.length);
    if (!source.fileName.startsWith(join(ROOT, "src/"))) continue;
    const visit = (node: ts.Node): void => {
      if (mentionsExecute(node) && isToolExecute(checker, node)) found.push(path);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function mentionsExecute(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === "execute";
  if (ts.isElementAccessExpression(node))
    return ts.isStringLiteralLike(node.argumentExpression) && node.argumentExpression.text === "execute";
  return ts.isBindingElement(node) && (node.propertyName ?? node.name).getText() === "execute";
}

function isToolExecute(checker: ts.TypeChecker, node: ts.Node): boolean {
  const owner = ts.isBindingElement(node)
    ? node.parent
    : (node as ts.PropertyAccessExpression | ts.ElementAccessExpression).expression;
  const property = checker.getTypeAtLocation(owner).getProperty("execute");
  return (property?.declarations ?? []).some((declaration) => {
    const parent = declaration.parent;
    return ts.isInterfaceDeclaration(parent) && parent.name.text === "Tool";
  });
}

describe("a tool is executed", () => {
  test("in one place, the kernel's run.ts, and nowhere else", () => {
    expect(executions(productProgram())).toEqual(["src/kernel/run.ts"]);
  });

  test("and every other way to do it would be found", () => {
    const planted = {
      "src/server/planted-call.ts":
        'import type { Tool, ToolContext } from "../model/tool/tool.ts";\nexport const a = (tool: Tool, c: ToolContext) => tool.execute({}, c);\n',
      "src/cli/planted-alias.ts":
        'import { fileTools } from "../tools/file/file-tools.ts";\nexport const taken = fileTools.map((one) => one.execute);\n',
      "src/transports/planted-brackets.ts":
        'import { readFile } from "../tools/file/file-tools.ts";\nexport const run = readFile["execute"];\n',
      "src/server/planted-binding.ts":
        'import type { Tool } from "../model/tool/tool.ts";\nexport const a = ({ execute }: Tool) => execute;\n',
      "src/server/planted-lawful.ts": "export const a = (query: { execute: () => void }) => query.execute();\n",
    };
    expect(executions(productProgram(planted)).sort()).toEqual([
      "src/cli/planted-alias.ts",
      "src/kernel/run.ts",
      "src/server/planted-binding.ts",
      "src/server/planted-call.ts",
      "src/transports/planted-brackets.ts",
    ]);
  });
});

/** Imports of the kernel's files from outside its folder, other than its door. */
function backDoors(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    if (path.startsWith("src/kernel/")) continue;
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      const target = fileName.startsWith(".") ? join(dirname(path), fileName) : fileName;
      if (target.startsWith("src/kernel") && target !== "src/kernel/index.ts") found.push(`${path} imports ${target}`);
    }
  }
  return found;
}

describe("the kernel", () => {
  const product = () => new Map(productFiles().map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));

  test("has one door, index.ts", () => {
    expect(backDoors(product())).toEqual([]);
  });

  test("and an import past it would be found, also a dynamic one and one of types alone", () => {
    const files = product();
    files.set("src/server/planted-import.ts", 'import { runTool } from "../kernel/run.ts";');
    files.set("src/cli/commands/planted-dynamic.ts", 'await import("../../kernel/pipeline.ts");');
    files.set("src/transports/planted-types.ts", 'export type { Running } from "../kernel/call/stages.ts";');
    expect(backDoors(files)).toEqual([
      "src/server/planted-import.ts imports src/kernel/run.ts",
      "src/cli/commands/planted-dynamic.ts imports src/kernel/pipeline.ts",
      "src/transports/planted-types.ts imports src/kernel/call/stages.ts",
    ]);
  });
});

/** Files of the product, outside of tests, that import what `wanted` matches, and what they import. */
function importers(files: ReadonlyMap<string, string>, wanted: RegExp): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      const target = fileName.startsWith(".") ? join(dirname(path), fileName) : fileName.replace(/^node:/, "");
      if (wanted.test(target)) found.push(`${path} imports ${target}`);
    }
  }
  return found;
}

/** What may start a program. */
const STARTERS = [
  "src/sandbox/host-commands/run-host-command.ts",
  "src/sandbox/identity/mapped-view.ts",
  "src/sandbox/identity/view-holder.ts",
  "src/sandbox/layers/held-overlay.ts",
  "src/sandbox/ports/forked-program.ts",
  "src/sandbox/run/supervised-run.ts",
  "src/sandbox/views/view-kinds.ts",
];

describe("a program of the machine", () => {
  const product = () => new Map(productFiles().map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));

  test("is started by the sandbox, by its views of workspaces, by what holds programs of its own (itself again), and by one module for what the operator lists", () => {
    expect(importers(product(), /^child_process$/)).toEqual(STARTERS.map((path) => `${path} imports child_process`));
  });

  test("runs outside of the sandbox by that one module alone: the kernel reaches it in a handle for system tools, the operator's secrets name programs, and npm installs what the operator adds", () => {
    const files = product();
    expect(importers(files, /host-commands\/run-host-command\.ts$/)).toEqual([
      "src/sandbox/host-commands/host-machine.ts imports src/sandbox/host-commands/run-host-command.ts",
      "src/server/secrets/secret-sources.ts imports src/sandbox/host-commands/run-host-command.ts",
      "src/server/upstream/packages/npm-package.ts imports src/sandbox/host-commands/run-host-command.ts",
    ]);
    expect(importers(files, /host-commands\/host-machine\.ts$/)).toEqual([
      "src/kernel/call/parts.ts imports src/sandbox/host-commands/host-machine.ts",
      "src/server/operator/open-machine.ts imports src/sandbox/host-commands/host-machine.ts",
    ]);
    expect(importers(files, /kernel\/handles\/machine-access\.ts$/)).toEqual([
      "src/kernel/handles/call-handles.ts imports src/kernel/handles/machine-access.ts",
    ]);
  });

  test("and another way would be found", () => {
    const files = product();
    files.set("src/server/planted-start.ts", 'import { spawn } from "node:child_process";');
    files.set("src/kernel/planted-run.ts", 'await import("../sandbox/host-commands/run-host-command.ts");');
    expect(importers(files, /^child_process$/)).toContain("src/server/planted-start.ts imports child_process");
    expect(importers(files, /host-commands\/run-host-command\.ts$/)).toContain(
      "src/kernel/planted-run.ts imports src/sandbox/host-commands/run-host-command.ts",
    );
  });
});
