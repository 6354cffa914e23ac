/** Addresses a program of Handrail's own that runs in another thread or process. */

/**
 * Where the program of `source` lies: beside the sources that start it, or beside their compiled code.
 * @param module the address of the module that starts it, its `import.meta.url`
 * @param source the program's source, relative to that of the module
 */
export function ownProgram(module: string, source: string): URL {
  if (module.endsWith(".ts")) return new URL(source, module);
  const name = source.slice(source.lastIndexOf("/") + 1).replace(/\.ts$/, ".js");
  return new URL(`./${name}`, module);
}
