// The public interface has the types that its users rely on: `library.ts` compiles as it stands, and not with a fault
// in it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const CASES = fileURLToPath(new URL("./library.ts", import.meta.url));

/** What the compiler finds in the cases, which `change` may alter. */
function faultsIn(change: (text: string) => string = (text) => text): string[] {
  const { config } = ts.readConfigFile(`${PROJECT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, PROJECT);
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (path) => (path === CASES ? change(readFileSync(path, "utf8")) : readFile(path));
  const program = ts.createProgram([CASES], options, host);
  const cases = program.getSourceFile(CASES);
  return [...program.getSemanticDiagnostics(cases), ...program.getSyntacticDiagnostics(cases)].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, "\n"),
  );
}

test("the library's types are as its users need them", () => {
  expect(faultsIn()).toEqual([]);
});

test("control: a case that no longer holds would be found", () => {
  expect(faultsIn((text) => text.replace("result.data;", "result.status;"))).toEqual([
    "Unused '@ts-expect-error' directive.",
  ]);
});
