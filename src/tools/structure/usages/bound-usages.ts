/**
 * Follows imports of a name from file to file, to the file that defines it.
 *
 * It knows the conventions of import paths alone, as the map does. A usage whose way is not known is kept where all are
 * wanted, and left out where those of one file are, unless it is of an object whose type nobody knows.
 */
import { KIB } from "../../../base/bytes.ts";
import type { CodeAccess, CodeUsage, FoundUsages } from "../../../model/place/code.ts";
import { ImportResolver } from "../imports/import-resolver.ts";
import { importedIn } from "../imports/imported-in.ts";
import { directoryOf, sourceKindOf } from "../imports/source-kinds.ts";
import { MANIFEST_BYTES_MAX, type Manifest, manifestKind, packageFacts, readManifest } from "../map/manifests.ts";
import type { NamedUsage } from "./named-usage.ts";

/** Files of a workspace that imports are resolved among. */
const FILES_MAX = 50_000;
/** Manifests that are read. */
const MANIFESTS_MAX = 200;
/** Files between a usage and its definition. */
const STEPS_MAX = 6;
/** Files between that only pass everything on (`export *`), and their bytes. */
const PASSING_MAX = 200;
const PASSING_BYTES_MAX = 256 * KIB;

/** Modules of a runtime's own. */
const NO_FILES = /^(?:node:|java\.|javax\.|std::|core::|alloc::)/;

/** What is known. */
export interface BindingQuestion {
  readonly code: CodeAccess;
  readonly path: string;
  readonly symbol: string;
  readonly found: FoundUsages;
  readonly definedIn?: string;
}

/** All usages, each with the file that defines what it is of; only those of `definedIn`, if that is given. */
export async function boundUsages(question: BindingQuestion): Promise<readonly NamedUsage[]> {
  const { found, definedIn } = question;
  const binder = new Binder(question);
  const own = found.files.find(({ path }) => path === definedIn)?.usages ?? [];
  const defines = (wanted: string) => own.some(({ kind, binding }) => kind === "definition" && binding === wanted);
  const isMember = defines("member") && !defines("module");
  const bound: NamedUsage[] = [];
  for (const { path, usages } of found.files) {
    for (const usage of usages) {
      const home = await binder.homeOf(path, usage);
      if (definedIn !== undefined && !isOf({ path, usage, home }, definedIn, isMember)) continue;
      bound.push({ ...usage, path, ...(home !== undefined && { definedIn: home }) });
    }
  }
  return bound;
}

interface Bound {
  readonly path: string;
  readonly usage: CodeUsage;
  readonly home: string | undefined;
}

function isOf({ path, usage, home }: Bound, definedIn: string, isMember: boolean): boolean {
  if (usage.binding === "local") return false;
  if (usage.binding === "member") return isMember && (usage.kind !== "definition" || path === definedIn);
  return home === definedIn || (sharesPackage(path, definedIn) && home === undefined);
}

/** Go's packages are directories: their files share names without imports. */
function sharesPackage(path: string, other: string): boolean {
  return path.endsWith(".go") && other.endsWith(".go") && directoryOf(path) === directoryOf(other);
}

class Binder {
  readonly #question: BindingQuestion;
  /** Among the files that hold the name: what defines it is one of them. */
  readonly #holding: ImportResolver;
  #whole: Promise<ImportResolver> | undefined;
  readonly #usages: ReadonlyMap<string, readonly CodeUsage[]>;
  readonly #passing = new Map<string, readonly string[]>();
  readonly #homes = new Map<string, string | undefined>();

  constructor(question: BindingQuestion) {
    this.#question = question;
    this.#holding = new ImportResolver(question.found.files.map(({ path }) => path));
    this.#usages = new Map(question.found.files.map(({ path, usages }) => [path, usages]));
  }

  /** Among all files, by what manifests say: for what leads over files that do not hold the name. */
  async #openWhole(): Promise<ImportResolver> {
    const { code, path } = this.#question;
    const files = (await code.list(path, FILES_MAX)).files.map((file) => file.path);
    const manifests = new Map<string, Manifest>();
    for (const file of files.filter((each) => manifestKind(each) !== undefined).slice(0, MANIFESTS_MAX)) {
      const read = await code.text(path, file, MANIFEST_BYTES_MAX);
      const manifest = read.kind === "text" ? await readManifest(file, read.text) : undefined;
      if (manifest) manifests.set(file, manifest);
    }
    return new ImportResolver(files, packageFacts(manifests));
  }

  /** The file that defines what a usage is of. */
  async homeOf(path: string, { binding, from, isOwn, kind }: CodeUsage): Promise<string | undefined> {
    if (binding !== "module") return undefined;
    if (from === undefined) return isOwn === true || kind === "definition" ? path : undefined;
    const key = JSON.stringify([path, from]);
    if (!this.#homes.has(key)) this.#homes.set(key, await this.#follow(path, from, STEPS_MAX));
    return this.#homes.get(key);
  }

  async #follow(path: string, from: string, steps: number): Promise<string | undefined> {
    const targets = await this.#targets(path, from);
    for (const target of targets) {
      const usages = this.#usages.get(target) ?? [];
      if (usages.some(({ kind, binding }) => kind === "definition" && binding === "module")) return target;
    }
    if (steps === 0) return undefined;
    for (const target of targets) {
      const passed = this.#usages.get(target)?.find(({ kind }) => kind === "import");
      const next = passed?.from === undefined ? await this.#passedOn(target) : [passed.from];
      for (const each of next) {
        const home = await this.#follow(target, each, steps - 1);
        if (home !== undefined) return home;
      }
    }
    return undefined;
  }

  async #targets(path: string, from: string): Promise<readonly string[]> {
    const style = sourceKindOf(path)?.style;
    if (style === undefined) return [];
    const { symbol } = this.#question;
    const imported = { specifier: from, ...(style === "python" && { names: [symbol] }) };
    const near = this.#holding.resolve(style, path, imported);
    if (near.length > 0 || NO_FILES.test(from)) return near;
    this.#whole ??= this.#openWhole();
    return (await this.#whole).resolve(style, path, imported);
  }

  /** Modules of which a file passes everything on. */
  async #passedOn(path: string): Promise<readonly string[]> {
    const known = this.#passing.get(path);
    if (known) return known;
    if (this.#passing.size >= PASSING_MAX) return [];
    const { code, path: start } = this.#question;
    const read = await code.text(start, path, PASSING_BYTES_MAX);
    const style = sourceKindOf(path)?.style;
    const text = read.kind === "text" ? read.text : "";
    const passed =
      style === "ecmascript"
        ? [...text.matchAll(/\bexport[ \t\n]{0,20}\*[ \t\n]{1,20}from[ \t\n]{0,20}["']([^"'\n]{1,300})["']/g)].map(
            (one) => one[1] ?? "",
          )
        : style === "python"
          ? importedIn("python", text).flatMap(({ specifier, names }) =>
              names === undefined || names.length === 0 ? [specifier] : [],
            )
          : [];
    this.#passing.set(path, passed);
    return passed;
  }
}
