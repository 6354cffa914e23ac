// Assembles src/redact/prefilter.wat into src/redact/prefilter-code.ts: run it after each change of the former.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { assemble } from "./assemble-wat.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
/** What it writes, below the project's directory. */
export const PREFILTER_FILE = "src/redact/prefilter-code.ts";

/** The text of the generated file. */
export function generatePrefilter() {
  const code = Buffer.from(assemble(readFileSync(resolve(root, "src/redact/prefilter.wat"), "utf8"))).toString("base64");
  const lines = (code.match(/.{1,120}/g) ?? []).map((line) => `  "${line}"`);
  return `// Generated from prefilter.wat by scripts/prefilter.mjs; do not edit.

/** The search for places as a WebAssembly module, in base64. */
export const PREFILTER_CODE =
${lines.join(" +\n")};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(resolve(root, PREFILTER_FILE), generatePrefilter());
