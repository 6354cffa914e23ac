// Joins modules into a few files of JavaScript, for the checkout's compiled program and for the published package.
//
// Code is neither renamed nor shortened but for its comments, so that messages and stacks stay readable.
import { rolldown } from "rolldown";

/**
 * What is compiled: the entries by the names of their files, and which packages are taken in rather than imported.
 * @typedef {{
 *   root: string,
 *   input: Record<string, string>,
 *   takesIn: (id: string) => boolean,
 *   plugins?: import("rolldown").Plugin[],
 *   target?: string,
 *   sourcemap?: boolean,
 * }} Recipe
 */

/**
 * Writes the compiled code into `directory`.
 *
 * @param {Recipe} recipe
 * @param {string} directory
 * @returns {Promise<string[]>} the modules that are in it, by their paths
 */
export async function compileCode({ root, input, takesIn, plugins = [], target, sourcemap = false }, directory) {
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !takesIn(id),
    plugins: [...plugins, { name: "one-byte-text", renderChunk: oneByteText }],
    ...(target !== undefined && { transform: { target } }),
    checks: { pluginTimings: false }, // a busy machine is no fault
    onLog: (_, log) => {
      throw new Error(log.message);
    },
  });
  const names = { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" };
  const { output } = await build.write({
    dir: directory,
    format: "esm",
    ...names,
    sourcemap,
    minify: false,
    comments: false,
  });
  await build.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

/**
 * V8 keeps the text of a file for as long as its code, in two bytes a character once one of them needs two. Comments
 * are gone, so that such characters stand in strings, templates and expressions, where an escape means the same: unless
 * a template is read raw, or a backslash stands before one.
 *
 * @param {string} code
 */
function oneByteText(code) {
  const escaped = code.replaceAll(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped !== code && (readsRaw(code) || /\\[^\0-\xff]/.test(code))) {
    throw new Error(
      "a character beyond Latin-1 stands in a raw template or behind a backslash; write one of them otherwise",
    );
  }
  return { code: escaped, map: null }; // lines stay; a column behind an escape is a few characters off
}

/** A raw template without others inside of it. */
const RAW_TEMPLATE = /\.raw`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{[^{}`]*\})*`/g;

/**
 * Whether a raw template holds a character beyond Latin-1, or more than can be told here.
 * @param {string} code
 */
function readsRaw(code) {
  const templates = code.match(RAW_TEMPLATE) ?? [];
  return templates.length < code.split(".raw`").length - 1 || templates.some((text) => /[^\0-\xff]/.test(text));
}
