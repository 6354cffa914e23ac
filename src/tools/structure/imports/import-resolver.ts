/**
 * Resolves what a file imports to files of the workspace, by the conventions of its language. Pure.
 *
 * It knows names alone: what needs a build's settings (paths of a bundler, class paths) resolves to nothing, or to the
 * one file that fits. INVARIANT: only files that it was given come out, so that nobody learns of others.
 */
import type { Imported } from "./imported-in.ts";
import { directoryOf, type ImportStyle, nameOf, sourceKindOf } from "./source-kinds.ts";

/** What is known of the workspace besides its files. */
export interface ResolverFacts {
  /** Directories of packages by the names under which code imports them. */
  readonly packages?: ReadonlyMap<string, string>;
  /** Directories of Go modules by their paths. */
  readonly goModules?: ReadonlyMap<string, string>;
}

const SCRIPT_ENDS = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte", "d.ts", "json"];
/** Files of one name that are compared with an import by its path. */
const SAME_NAME_MAX = 200;

/** Resolves imports within one set of files. */
export class ImportResolver {
  readonly #files: ReadonlySet<string>;
  readonly #byName = new Map<string, string[]>();
  readonly #byDirectory = new Map<string, string[]>();
  readonly #facts: ResolverFacts;

  constructor(files: readonly string[], facts: ResolverFacts = {}) {
    this.#files = new Set(files);
    this.#facts = facts;
    for (const file of files) {
      if (sourceKindOf(file)?.style === undefined) continue;
      addTo(this.#byName, nameOf(file), file);
      addTo(this.#byDirectory, directoryOf(file), file);
    }
  }

  /** The files that `imported` of the file `from` means. */
  resolve(style: ImportStyle, from: string, imported: Imported): readonly string[] {
    switch (style) {
      case "ecmascript":
        return this.#script(from, imported.specifier);
      case "python":
        return this.#python(from, imported);
      case "go":
        return this.#go(imported.specifier);
      case "rust":
        return this.#rust(from, imported.specifier);
      case "java":
        return this.#bySuffix(imported.specifier);
      case "ruby":
        return this.#first(
          [`${imported.specifier}.rb`, imported.specifier].map((each) => joined(directoryOf(from), each)),
        );
      case "c":
        return this.#include(from, imported.specifier);
    }
  }

  #script(from: string, specifier: string): readonly string[] {
    const [path = ""] = specifier.split("?", 1);
    if (path.startsWith(".")) return this.#scriptAt(joined(directoryOf(from), path));
    if (/^[@~]\//.test(path)) {
      const rest = path.slice(2);
      for (let directory = directoryOf(from); ; directory = directoryOf(directory)) {
        const found = this.#scriptAt(joined(directory, `src/${rest}`));
        if (found.length > 0 || directory === ".") return found;
      }
    }
    const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
    const directory = this.#facts.packages?.get(name);
    if (directory === undefined) return [];
    const rest = path.slice(name.length + 1);
    const places = rest === "" ? ["src/index", "index", "src/main", "main"] : [rest, `src/${rest}`];
    for (const place of places) {
      const found = this.#scriptAt(joined(directory, place));
      if (found.length > 0) return found;
    }
    return this.#anyIn(directory);
  }

  #scriptAt(path: string | undefined): readonly string[] {
    if (path === undefined) return [];
    const bare = path.replace(/\.([mc]?)jsx?$/, "");
    const middle = /\.([mc]?)jsx?$/.exec(path)?.[1];
    const twins = middle === undefined ? [] : [`${bare}.${middle}ts`, `${bare}.tsx`, `${bare}.d.${middle}ts`];
    const ends = SCRIPT_ENDS.map((end) => `${path}.${end}`);
    return this.#first([path, ...twins, ...ends, ...SCRIPT_ENDS.map((end) => `${path}/index.${end}`)]);
  }

  #python(from: string, { specifier, names = [] }: Imported): readonly string[] {
    const dots = /^\.*/.exec(specifier)?.[0].length ?? 0;
    const inside = specifier.slice(dots).replaceAll(".", "/");
    const starts: string[] = [];
    if (dots > 0) {
      let directory = directoryOf(from);
      for (let up = 1; up < dots; up += 1) directory = directoryOf(directory);
      starts.push(directory);
    } else {
      for (let directory = directoryOf(from); ; directory = directoryOf(directory)) {
        starts.push(directory, joined(directory, "src") ?? ".");
        if (directory === ".") break;
      }
    }
    for (const start of starts) {
      const base = inside === "" ? start : joined(start, inside);
      const members = names.flatMap((name) => this.#first(pythonPlaces(joined(base ?? ".", name))));
      const own = this.#first(inside === "" ? [joined(start, "__init__.py")] : pythonPlaces(base));
      const found = [...new Set([...members, ...own])];
      if (found.length > 0) return found;
    }
    return [];
  }

  #go(specifier: string): readonly string[] {
    for (const [module, directory] of this.#facts.goModules ?? []) {
      if (specifier !== module && !specifier.startsWith(`${module}/`)) continue;
      const path = joined(directory, specifier.slice(module.length + 1) || ".");
      return (this.#byDirectory.get(path ?? "") ?? []).filter(
        (file) => file.endsWith(".go") && !file.endsWith("_test.go"),
      );
    }
    return [];
  }

  #rust(from: string, specifier: string): readonly string[] {
    const [first = "", ...rest] = specifier.split("::");
    const crate = from.includes("src/") ? from.slice(0, from.lastIndexOf("src/") + 3) : directoryOf(from);
    const own = /^(?:mod|lib|main)\.rs$/.test(nameOf(from)) ? directoryOf(from) : from.replace(/\.rs$/, "");
    const starts = { crate, self: own, super: directoryOf(own) } as const;
    if (Object.hasOwn(starts, first)) return this.#rustBelow(starts[first as keyof typeof starts], rest);
    const directory = this.#facts.packages?.get(first.replaceAll("_", "-")) ?? this.#facts.packages?.get(first);
    if (directory === undefined) return [];
    const inside = this.#rustBelow(joined(directory, "src") ?? ".", rest);
    return inside.length > 0
      ? inside
      : this.#first([joined(directory, "src/lib.rs"), joined(directory, "src/main.rs")]);
  }

  /** The deepest module of the path that has a file; what follows are names in it. */
  #rustBelow(start: string, names: readonly string[]): readonly string[] {
    for (let depth = names.length; depth > 0; depth -= 1) {
      const path = joined(start, names.slice(0, depth).join("/"));
      const found = this.#first([`${path}.rs`, `${path}/mod.rs`]);
      if (found.length > 0) return found;
    }
    return [];
  }

  /** `com.example.Thing` is the one file that lies at `com/example/Thing.java`, whatever is above it. */
  #bySuffix(specifier: string): readonly string[] {
    const names = specifier.split(".");
    // A static import names a member behind the class.
    for (let count = names.length; count > 1; count -= 1) {
      const path = names.slice(0, count).join("/");
      for (const end of ["java", "kt", "scala"]) {
        const alike = this.#byName.get(`${names[count - 1] ?? ""}.${end}`) ?? [];
        const found = alike.filter((file) => file === `${path}.${end}` || file.endsWith(`/${path}.${end}`));
        if (found.length > 0) return found;
      }
    }
    return [];
  }

  #include(from: string, specifier: string): readonly string[] {
    const beside = this.#first([joined(directoryOf(from), specifier)]);
    if (beside.length > 0) return beside;
    const alike = this.#byName.get(nameOf(specifier)) ?? [];
    const found = alike.filter((file) => file === specifier || file.endsWith(`/${specifier}`));
    return found.length === 1 ? found : [];
  }

  #anyIn(directory: string): readonly string[] {
    const places = [directory, joined(directory, "src") ?? directory];
    return places.flatMap((place) => this.#byDirectory.get(place) ?? []).slice(0, 1);
  }

  #first(paths: readonly (string | undefined)[]): readonly string[] {
    const found = paths.find((path) => path !== undefined && this.#files.has(path));
    return found === undefined ? [] : [found];
  }
}

function pythonPlaces(base: string | undefined): readonly string[] {
  return base === undefined ? [] : [`${base}.py`, `${base}/__init__.py`, `${base}.pyi`];
}

/** `path` from `directory`, without `.` and `..`; nothing where it leads out of the workspace. */
export function joined(directory: string, path: string): string | undefined {
  const parts = directory === "." ? [] : directory.split("/");
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.length === 0 ? "." : parts.join("/");
}

function addTo(map: Map<string, string[]>, key: string, file: string): void {
  const files = map.get(key);
  if (files === undefined) map.set(key, [file]);
  else if (files.length < SAME_NAME_MAX) files.push(file);
}
