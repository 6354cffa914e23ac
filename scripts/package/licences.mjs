// The licences of the packages that are compiled in: each asks for its text wherever its code goes.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The text of `THIRD-PARTY-LICENSES.txt`.
 *
 * @param {string} root
 * @param {readonly string[]} modules paths of all modules that were compiled
 * @throws {Error} for a package that does not say under which licence it is
 */
export function licencesOf(root, modules) {
  const names = modules.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const texts = [...new Set(names)].sort().map((name) => licenceOf(root, name));
  return `Handrail's compiled code holds code of these packages.\n\n${texts.join("\n")}`;
}

/**
 * @param {string} root
 * @param {string} name
 */
function licenceOf(root, name) {
  const directory = join(root, "node_modules", name);
  const { version, license, author } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  if (typeof license !== "string") throw new Error(`\`${name}\` does not name its licence; it cannot be compiled in`);
  const [file] = globSync("{LICEN[CS]E,COPYING}*", { cwd: directory });
  const by = typeof author === "string" ? author : author?.name;
  const text =
    file && existsSync(join(directory, file)) ? readFileSync(join(directory, file), "utf8") : by && `By ${by}`;
  return `${"=".repeat(80)}\n${name} ${version}, ${license}\n\n${(text ?? "").trim()}\n`;
}
