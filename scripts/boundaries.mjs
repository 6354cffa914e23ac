// Checks the import table (.dependency-cruiser.mjs) over src/, and that the check itself sees.
//
// dependency-cruiser passes over files that it has no parser for, and is then content with nothing; so this fails
// when a TypeScript file of src/ is not among the modules that it read, or when a folder is not in the table.
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { cruise } from "dependency-cruiser";
import extractConfiguration from "dependency-cruiser/config-utl/extract-depcruise-config";
import extractTypeScriptConfiguration from "dependency-cruiser/config-utl/extract-ts-config";

process.chdir(resolve(process.argv[2] ?? "."));
const configuration = await extractConfiguration(resolve(".dependency-cruiser.mjs"));
const { options, ...ruleSet } = configuration;
const folders = ["src"];
const result = await cruise(folders, { ...options, ruleSet, validate: true }, undefined, {
  tsConfig: extractTypeScriptConfiguration(resolve("tsconfig.json")),
});
if (typeof result.output === "string") throw new Error("dependency-cruiser answered with text instead of its result");

const seen = new Set(result.output.modules.map(({ source }) => source));
const unseen = globSync("src/**/*.ts").filter((file) => !seen.has(file));
for (const file of unseen)
  console.error(`not read by dependency-cruiser: \`${file}\` (is a TypeScript below 7 installed for it?)`);
const { violations } = result.output.summary;
for (const { rule, from, to, cycle } of violations) {
  console.error(`${rule.name}: ${from} → ${cycle ? cycle.map(({ name }) => name).join(" → ") : to}`);
}
console.log(`${seen.size} modules, ${violations.length} violations, ${unseen.length} unread`);
process.exitCode = violations.length + unseen.length > 0 ? 1 : 0;
