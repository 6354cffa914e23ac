// Compiles the command line and the ledger's thread into a few files: `.toolchain/program`, a link to the directory of
// this state of the sources.
//
// Node takes some 0.25 ms for each module beyond what its code costs, and a start reads more than 500 of them. Nothing
// is decided here: the launcher uses the program only while the list of sources that stands in it is the present one,
// and the sources otherwise.
//
// INVARIANT: a program is never changed once it is in place; a newer one stands beside it, and a kernel that runs keeps
// its own files.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { compileCode } from "./compiled-code.mjs";
import { listSources } from "./setup/program.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const toolchain = join(root, ".toolchain");
/** Programs that stay: kernels that were started with one may still load parts of it. */
const KEPT = 4;
/**
 * Packages that are compiled in: many small modules, of which every start needs some. Others are loaded as they are.
 */
const COMPILED_PACKAGES = /^(zod|commander)(\/|$)/;
/** Starts a thread whose file stands beside the program's; other modules find what they look for beside the sources. */
const STARTS_THREAD = "src/server/ledger/ledger-thread.ts";

const sources = listSources(root);
const name = `program-${createHash("sha256").update(sources).digest("hex").slice(0, 16)}`;
if (!existsSync(join(toolchain, name))) await compile();
const link = join(toolchain, `program.${process.pid}.partial`);
symlinkSync(name, link);
renameSync(link, join(toolchain, "program"));
removeOld();

async function compile() {
  const partial = join(toolchain, `${name}.${process.pid}.partial`);
  mkdirSync(partial, { recursive: true });
  try {
    await compileCode(
      {
        root,
        input: { main: "src/cli/main.ts", "ledger-worker": "src/server/ledger/ledger-worker.ts" },
        takesIn: (id) => COMPILED_PACKAGES.test(id),
        plugins: [
          { name: "own-address", transform: { filter: { code: "import.meta.url" }, handler: addressOfSource } },
        ],
      },
      partial,
    );
    if (listSources(root) !== sources)
      throw new Error("the sources were changed while they were compiled; run the set-up again");
    writeFileSync(join(partial, "sources"), sources);
    renameSync(partial, join(toolchain, name));
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * Modules of a program go on finding what stands beside their sources.
 *
 * @param {string} code
 * @param {string} id the module's path
 */
function addressOfSource(code, id) {
  const path = relative(root, id);
  if (path === STARTS_THREAD || !path.startsWith("src/")) return undefined;
  return code.replaceAll("import.meta.url", `new URL(${JSON.stringify(`../../${path}`)}, import.meta.url).href`);
}

function removeOld() {
  const age = (/** @type {string} */ entry) => statSync(join(toolchain, entry)).mtimeMs;
  const programs = readdirSync(toolchain).filter((entry) => /^program-[0-9a-f]{16}$/.test(entry) && entry !== name);
  for (const old of programs.sort((one, other) => age(other) - age(one)).slice(KEPT - 1)) {
    rmSync(join(toolchain, old), { recursive: true, force: true });
  }
}
