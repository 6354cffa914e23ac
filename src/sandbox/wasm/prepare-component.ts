/**
 * Prepares a component to be run: transpiles it, refuses what it must not import, limits its memory, compiles it.
 *
 * Trusts the transpiler to write what the component does and nothing else. It takes names of core modules into its
 * JavaScript, where a quote would end the text that they stand in: such names are refused. Names of the component
 * itself are words with hyphens, which the transpiler's validation holds. Runs in a thread of its own.
 */
import { $init, generate } from "@bytecodealliance/jco-transpile/component";
import { hasMemory, limitMemory } from "./core-memory.ts";
import { type CoreModule, engine } from "./web-assembly.ts";

/** What a component may import where its calls name files, in the version of `wit/`; the transpiler drops others'. */
export const FILES_IMPORT = "handrail:tool/files@0.1.0";
const FILES_OF_ANOTHER_VERSION = "handrail:tool/files";
/** The functions that a component must export, by their names in JavaScript. */
const EXPORTS = ["name", "description", "inputSchema", "execute"];
/** Core modules of one component. */
const MODULES_MAX = 64;
/** Names that stand in generated code as they are. */
const PLAIN_NAME = /^[^'"`\\\p{Cc}\u2028\u2029]{0,1024}$/u;

/** A component that can be instantiated. */
export interface Prepared {
  /** JavaScript that lifts and lowers its values. */
  readonly glue: string;
  /** Core modules by name, limited. */
  readonly cores: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** Names of those that have a memory of their own; they share what the component may have. */
  readonly withMemory: ReadonlySet<string>;
}

/** A component that is refused; the message says why and what to do. */
export class ComponentRefused extends Error {}

/** @throws ComponentRefused where it must not be run, Error where it is no component */
export async function prepareComponent(
  bytes: Uint8Array,
  { memoryBytes, readsFiles }: { readonly memoryBytes: number; readonly readsFiles: boolean },
): Promise<Prepared> {
  await $init;
  const { files, imports, exports } = generate(bytes, {
    name: "tool",
    noTypescript: true,
    instantiation: { tag: "sync" },
    map: [[FILES_IMPORT, FILES_IMPORT]],
    noNodejsCompat: true,
    base64Cutoff: 0,
    noNamespacedExports: true,
  });
  requireGranted(imports, readsFiles);
  const missing = EXPORTS.filter((name) => !exports.some(([found, kind]) => found === name && kind === "function"));
  if (missing.length > 0)
    throw new ComponentRefused(`it does not export ${missing.join(", ")}; build it for \`handrail:tool\` in \`wit/\``);
  const glue = files.find(([name]) => name.endsWith(".js"))?.[1];
  const cores = files.filter(([name]) => name.endsWith(".wasm"));
  if (glue === undefined || cores.length > MODULES_MAX)
    throw new ComponentRefused(`it has more than ${MODULES_MAX} core modules; build it with fewer`);
  const limited = new Map<string, Uint8Array<ArrayBuffer>>();
  const withMemory = new Set(cores.flatMap(([name, core]) => (hasMemory(core) ? [name] : [])));
  const each = Math.floor(memoryBytes / Math.max(1, withMemory.size));
  for (const [name, core] of cores) {
    const bytes = limitMemory(core, each);
    requirePlainNames(new engine.Module(bytes));
    limited.set(name, bytes);
  }
  return { glue: Buffer.from(glue).toString(), cores: limited, withMemory };
}

function requireGranted(imports: readonly string[], readsFiles: boolean): void {
  const refused = imports.find((name) => name !== FILES_IMPORT || !readsFiles);
  if (refused === undefined) return;
  throw new ComponentRefused(`it imports \`${refused}\`, which is not granted; ${adviceOn(refused)}`);
}

function adviceOn(refused: string): string {
  if (refused === FILES_IMPORT)
    return "name the arguments that are paths in `path_arguments` of its entry in `components`";
  if (refused === FILES_OF_ANOTHER_VERSION) return `build it for \`${FILES_IMPORT}\`, as \`wit/\` has it`;
  return "build it without, for instance with `componentize-qjs --stub-wasi`: components get no WASI";
}

function requirePlainNames(module: CoreModule): void {
  const names = [
    ...engine.Module.imports(module).flatMap(({ module: from, name }) => [from, name]),
    ...engine.Module.exports(module).map(({ name }) => name),
  ];
  if (!names.every((name) => PLAIN_NAME.test(name)))
    throw new ComponentRefused("a core module has a name with quotes or control characters; build it with plain names");
}
