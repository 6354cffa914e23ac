// The declarations of the library: one file with the types that its users can reach, and no others.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** The types of Node, and `await using` for kernels and sessions, whatever the user's settings name. */
const LIBRARIES = '/// <reference types="node" />\n/// <reference lib="esnext.disposable" />\n';

/**
 * Writes `index.d.ts` into `directory`.
 *
 * @param {string} root
 * @param {string} directory
 */
export async function writeDeclarations(root, directory) {
  const build = await rolldown({
    cwd: root,
    input: { index: join(root, "src/index.ts") },
    external: (id) => !id.startsWith(".") && !id.startsWith("/"),
    // `npm run check` has checked the types
    plugins: [dts({ dtsOnly: true, generator: "tsc", sourcemap: false, compilerOptions: { noCheck: true } })],
    checks: { pluginTimings: false }, // a busy machine is no fault
    onLog: (_, log) => {
      throw new Error(log.message);
    },
  });
  await build.write({ dir: directory, format: "esm", entryFileNames: "[name].ts" });
  await build.close();
  const file = join(directory, "index.d.ts");
  writeFileSync(file, LIBRARIES + readFileSync(file, "utf8"));
}
