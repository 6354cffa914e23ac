/**
 * Reads what a source text imports, by the words of its language.
 *
 * It knows no strings and comments: what only looks like an import resolves to nothing, or to a file that is named
 * there. INVARIANT: every expression bounds what it repeats, so that time is linear in the text. Pure.
 */
import type { ImportStyle } from "./source-kinds.ts";

/** What is imported: a specifier as it is written, and for Python the names behind `import`. */
export interface Imported {
  readonly specifier: string;
  readonly names?: readonly string[];
}

/** Imports of one file that are looked at. */
const IMPORTS_MAX = 2000;

const EXPRESSIONS: Readonly<Record<Exclude<ImportStyle, "python">, RegExp>> = {
  ecmascript: /\b(?:from|import|require)[ \t\n\r]{0,20}\(?[ \t\n\r]{0,20}["'`]([^"'`\n]{1,300})["'`]/g,
  go: /^[ \t]{0,20}(?:import[ \t]{1,20})?(?:[\w.]{1,60}[ \t]{1,20})?"([\w.~/-]{1,300})"[ \t\r]{0,20}$/gm,
  rust: /^[ \t]{0,40}(?:pub(?:\([a-z: ]{0,60}\))?[ \t]{1,20})?(use[ \t]{1,20}\w{1,80}(?:::\w{1,80}){0,20}|mod[ \t]{1,20}\w{1,80}[ \t]{0,20};)/gm,
  java: /^[ \t]{0,20}import[ \t]{1,20}(?:static[ \t]{1,20})?([\w.]{1,300})/gm,
  ruby: /^[ \t]{0,20}(require(?:_relative)?[ \t]{0,20}\(?[ \t]{0,20}["'][^"'\n]{1,300})["']/gm,
  c: /^[ \t]{0,20}#[ \t]{0,20}include[ \t]{0,20}"([^"\n]{1,300})"/gm,
};
const PYTHON =
  /^[ \t]{0,40}(?:from[ \t]{1,20}([\w.]{1,300})[ \t]{1,20}import[ \t]{0,20}(\([^)]{0,4000}\)|[^\n]{0,1000})|import[ \t]{1,20}([^\n]{1,1000}))/gm;

/** What `text` imports. */
export function importedIn(style: ImportStyle, text: string): readonly Imported[] {
  const found: Imported[] = [];
  for (const match of text.matchAll(style === "python" ? PYTHON : EXPRESSIONS[style])) {
    found.push(...(style === "python" ? pythonImports(match) : one(style, match[1] ?? "")));
    if (found.length >= IMPORTS_MAX) break;
  }
  return found;
}

function one(style: ImportStyle, written: string): readonly Imported[] {
  if (style === "rust") {
    const [word = "", rest = ""] = written.split(/[ \t]+/, 2);
    return [{ specifier: word === "mod" ? `self::${rest.replace(/[ \t;].*$/, "").replace(";", "")}` : rest }];
  }
  if (style !== "ruby") return [{ specifier: written }];
  const path = written.replace(/^require(?:_relative)?[ \t]*\(?[ \t]*["']/, "");
  const isRelative = written.startsWith("require_relative") && !path.startsWith(".");
  return [{ specifier: isRelative ? `./${path}` : path }];
}

/** Names of one Python import that are looked at. */
const NAMES_MAX = 100;

function pythonImports([, module, names, modules]: RegExpMatchArray): readonly Imported[] {
  if (module !== undefined) return [{ specifier: module, names: namesIn(names ?? "") }];
  return namesIn(modules ?? "").map((specifier) => ({ specifier }));
}

function namesIn(list: string): readonly string[] {
  return list
    .replaceAll(/#[^\n]*/g, "")
    .split(",", NAMES_MAX)
    .map(
      (each) =>
        each
          .replaceAll(/[()\\\s]+/g, " ")
          .trim()
          .split(" ", 1)[0] ?? "",
    )
    .filter((name) => /^[\w.]+$/.test(name));
}
