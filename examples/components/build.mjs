// Builds the example components from their JavaScript: `node examples/components/build.mjs`, or with the names of some.
//
// The toolchain is `componentize-qjs`, which `jco componentize --backend quickjs` calls, too: QuickJS, the script and
// the glue of the world in one component, without WASI. A build is not reproducible byte by byte, so that
// `built/digests.json` says which source each component was built from; a test compares both.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { blake3 } from "@napi-rs/blake-hash";
import { componentize } from "componentize-qjs";

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "built");
const wit = join(here, "../../wit");
const directory = process.env["OUT"] ?? built;
const toolchain = `componentize-qjs ${createRequire(import.meta.url)("componentize-qjs/package.json").version}`;

const known = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "built")
  .map(({ name }) => name);
const wanted = process.argv.length > 2 ? process.argv.slice(2) : known;
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) throw new Error(`there is no example ${unknown.join(", ")}; there are ${known.join(", ")}`);

mkdirSync(directory, { recursive: true });
const list = join(directory, "digests.json");
const digests = readDigests();
for (const name of wanted) {
  const jsPath = join(here, name, `${name}.js`);
  const jsSource = readFileSync(jsPath, "utf8");
  const world = jsSource.includes('"handrail:tool/files@') ? "reading-tool" : "pure-tool";
  const { component } = await componentize({
    witPath: wit,
    jsPath,
    jsSource,
    world,
    stubWasi: true,
    sync: true,
    optSize: true,
  });
  writeFileSync(join(directory, `${name}.wasm`), component);
  const digest = (/** @type {string | Uint8Array} */ bytes) => `blake3:${blake3(bytes).toString("hex")}`;
  digests[name] = {
    world,
    toolchain,
    source: digest(jsSource),
    wit: digest(readFileSync(join(wit, "tool.wit"))),
    component: digest(component),
  };
  console.log(`${name}: ${world}, ${component.length} bytes, ${digests[name].component}`);
}
const sorted = Object.fromEntries(Object.entries(digests).sort(([left], [right]) => (left < right ? -1 : 1)));
writeFileSync(list, `${JSON.stringify(sorted, undefined, 2)}\n`);

/** @returns {Record<string, Record<string, string>>} */
function readDigests() {
  try {
    return JSON.parse(readFileSync(list, "utf8"));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return {};
    throw error;
  }
}
