// Assembles the sources in WebAssembly's text format into the modules that carry their code: run it after each change of one.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { assemble } from "./assemble-wat.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");

/** What is assembled: the source, the file that is written, what it exports and what that is. */
const MODULES = [
  { source: "src/redact/prefilter.wat", file: "src/redact/prefilter-code.ts", name: "PREFILTER_CODE", what: "The search for places" },
];

/** The generated files, below the project's directory, and what must stand in them. */
export function generatedModules() {
  return MODULES.map(({ source, file, name, what }) => ({ file, text: generated(source, name, what) }));
}

/**
 * @param {string} source
 * @param {string} name
 * @param {string} what
 */
function generated(source, name, what) {
  const code = Buffer.from(assemble(readFileSync(resolve(root, source), "utf8"))).toString("base64");
  const lines = (code.match(/.{1,120}/g) ?? []).map((line) => `  "${line}"`);
  return `// Generated from ${source.slice(source.lastIndexOf("/") + 1)} by scripts/wat.mjs; do not edit.

/** ${what} as a WebAssembly module, in base64. */
export const ${name} =
${lines.join(" +\n")};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, text } of generatedModules()) writeFileSync(resolve(root, file), text);
}
