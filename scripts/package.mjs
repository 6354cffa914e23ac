// Builds the npm package: `dist/package`, as it is published, and its tarball beside it. `npm run package` runs it; an
// argument names another directory than `dist`.
//
// The package has compiled code, so that it starts at once and needs no build where it is installed; a checkout goes on
// running from its sources. `npm pack` in a checkout ends here too, and says where the package is.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { descriptorSet } from "../src/server/doors/wire-descriptor.ts";
import { compileCode } from "./compiled-code.mjs";

import { completionScripts } from "./package/completions.mjs";
import { writeDeclarations } from "./package/declarations.mjs";
import { licencesOf } from "./package/licences.mjs";
import { BROUGHT, isTakenIn, MADE, manifestFor, TAKEN } from "./package/manifest.mjs";
import { manualPage } from "./package/manual-page.mjs";
import { runCommand } from "./setup/run-command.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Programs, each compiled with the names of their entries: those of one group share files, so that what two of them
 * need is there once. A thread's program is one file, because it starts with everything that it needs.
 */
const PROGRAMS = [
  {
    handrail: "src/cli/installed.ts",
    main: "src/cli/main.ts",
    index: "src/index.ts",
    "ledger-worker": "src/server/ledger/ledger-worker.ts",
  },
  { "verify-worker": "src/server/ledger/verify-worker.ts" },
  { "search-worker": "src/sandbox/search/search-worker.ts" },
  { "knowledge-worker": "src/server/knowledge/knowledge-worker.ts" },
  { "plugin-program": "src/server/plugins/plugin-program.ts" },
  { "component-host": "src/sandbox/wasm/component-host.ts" },
  { "component-worker": "src/sandbox/wasm/component-worker.ts" },
  { "code-program": "src/sandbox/matching/code-program.ts" },
  { "page-worker": "src/sandbox/net/fetch/page-worker.ts" },
  { "mirror-worker": "src/sandbox/mirror/mirror-worker.ts" },
  { "view-holder": "src/sandbox/identity/view-holder.ts" },
];

/** The oldest Node that the manifest allows, as the compiler names it. */
const TARGET = "node22.18";

const directory = resolve(process.argv[2] ?? join(root, "dist"));
const staged = join(directory, "package");
const tarball = await build();
const { size } = statSync(tarball);
console.log(`${tarball}\n${(size / 1e6).toFixed(1)} MB; install it with: npm install --global ${tarball}`);
if (process.env["npm_lifecycle_event"] === "prepack") {
  console.error(`handrail: the package of this checkout is \`${tarball}\`; publish it with: npm publish ${tarball}`);
  process.exitCode = 1;
}

/** @returns {Promise<string>} the path of the tarball */
async function build() {
  rmSync(staged, { recursive: true, force: true });
  const code = join(staged, MADE.code);
  const modules = [];
  for (const input of PROGRAMS) {
    const recipe = { root, input, takesIn: isTakenIn, target: TARGET, sourcemap: true };
    modules.push(...(await compileCode(recipe, code)));
  }
  for (const map of globSync("*.map", { cwd: code })) leaveOutTexts(join(code, map));
  await writeDeclarations(root, code);
  write(MADE.licences, licencesOf(root, modules));
  write(MADE.manual, await manualPage(root));
  write(MADE.descriptor, descriptorSet());
  for (const [name, text] of completionScripts(root)) write(join(MADE.completions, name), text);
  for (const file of TAKEN.flatMap((pattern) => globSync(pattern, { cwd: root }))) copy(file);
  for (const [name, files] of Object.entries(BROUGHT)) bring(name, files);
  const { version, ...manifest } = manifestFor(manifestAt(root), (name) => manifestAt(packageAt(name)).version);
  write("package.json", `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`);
  return pack(version);
}

/**
 * Leaves the texts of sources out of a source map, which are most of it: places keep their names and lines, and whoever
 * wants to read them has them from where they are published. A map of packages alone is left out whole.
 * @param {string} path
 */
function leaveOutTexts(path) {
  const map = JSON.parse(readFileSync(path, "utf8"));
  const isOurs = (/** @type {string} */ source) => !source.includes("node_modules/");
  if (!map.sources.some(isOurs)) {
    rmSync(path);
    const code = path.slice(0, -".map".length);
    writeFileSync(code, readFileSync(code, "utf8").replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"));
    return;
  }
  const { sourcesContent: _, ...places } = map;
  writeFileSync(path, JSON.stringify(places));
}

/**
 * A package that is brought along, without what it says of its own building.
 * @param {string} name
 * @param {readonly string[]} files
 */
function bring(name, files) {
  for (const file of files.flatMap((pattern) => globSync(pattern, { cwd: packageAt(name) })))
    copy(join("node_modules", name, file));
  const { dependencies, devDependencies, scripts, ...manifest } = manifestAt(packageAt(name));
  write(join("node_modules", name, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** @param {string} version */
async function pack(version) {
  const { code, output } = await runCommand(
    "npm",
    ["pack", "--ignore-scripts", "--pack-destination", directory, staged],
    { cwd: directory },
  );
  if (code !== 0) throw new Error(`npm pack failed with exit code ${code}:\n${output}`);
  return join(directory, `handrail-${version}.tgz`);
}

/** @param {string} path */
function copy(path) {
  if (statSync(join(root, path)).isFile()) cpSync(join(root, path), join(staged, path));
}

/**
 * @param {string} path
 * @param {string | Uint8Array} text
 */
function write(path, text) {
  mkdirSync(dirname(join(staged, path)), { recursive: true });
  writeFileSync(join(staged, path), text);
}

/** @param {string} name */
function packageAt(name) {
  return join(root, "node_modules", name);
}

/** @param {string} path */
function manifestAt(path) {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}
