/** The languages in which code can be matched, by name and by the ends of file names. Pure. */

/** A language: its name, as calls and the parser know it, and the names of its files. */
export interface Language {
  readonly name: string;
  /** The parser's own name, where it is another. */
  readonly parser?: string;
  readonly extensions: readonly string[];
  /** Other names that calls may use. */
  readonly aliases?: readonly string[];
  /** What is put around a file so that its parser reads it as it is meant. */
  readonly wrap?: readonly [before: string, after: string];
  /** How a fragment that is no program by itself is read: put into a context, then taken out by its kind. */
  readonly fragments?: readonly { readonly context: readonly [before: string, after: string]; readonly kind: string }[];
}

const C_CALL = { context: ["void f() { ", "; }"], kind: "call_expression" } as const;

/** The list. */
export const LANGUAGES: readonly Language[] = [
  { name: "typescript", parser: "TypeScript", extensions: ["ts", "mts", "cts"], aliases: ["ts"] },
  { name: "tsx", parser: "Tsx", extensions: ["tsx"] },
  { name: "javascript", parser: "JavaScript", extensions: ["js", "mjs", "cjs", "jsx"], aliases: ["js", "jsx"] },
  { name: "html", parser: "Html", extensions: ["html", "htm", "xhtml"] },
  {
    name: "css",
    parser: "Css",
    extensions: ["css"],
    fragments: [{ context: ["a { ", " }"], kind: "declaration" }],
  },
  { name: "python", extensions: ["py", "pyi"], aliases: ["py"] },
  { name: "go", extensions: ["go"], aliases: ["golang"] },
  { name: "rust", extensions: ["rs"], aliases: ["rs"] },
  { name: "java", extensions: ["java"] },
  { name: "c", extensions: ["c", "h"], fragments: [C_CALL] },
  { name: "cpp", extensions: ["cc", "cpp", "cxx", "hpp", "hh", "hxx"], aliases: ["c++"], fragments: [C_CALL] },
  { name: "csharp", extensions: ["cs"], aliases: ["c#"] },
  { name: "ruby", extensions: ["rb", "rake", "gemspec"], aliases: ["rb"] },
  {
    name: "php",
    extensions: ["php"],
    fragments: [
      { context: ["<?php ", ";"], kind: "function_call_expression" },
      { context: ["<?php ", ";"], kind: "member_call_expression" },
      { context: ["<?php ", ";"], kind: "assignment_expression" },
    ],
  },
  {
    name: "json",
    parser: "JavaScript", // the grammar of JSON has no place for a metavariable
    extensions: ["json", "jsonc"],
    wrap: ["(", ")"],
    fragments: [
      { context: ["({", "})"], kind: "pair" },
      { context: ["(", ")"], kind: "object" },
    ],
  },
  { name: "yaml", extensions: ["yaml", "yml"], aliases: ["yml"] },
  { name: "bash", extensions: ["sh", "bash"], aliases: ["sh", "shell"] },
  { name: "lua", extensions: ["lua"] },
  { name: "toml", extensions: ["toml"] },
];

/** The language of that name or, without one, of the file at `path`. */
export function languageOf(path: string, name: string | undefined): Language | undefined {
  if (name !== undefined) {
    const wanted = name.toLowerCase();
    return LANGUAGES.find((language) => language.name === wanted || language.aliases?.includes(wanted));
  }
  const file = path.slice(path.lastIndexOf("/") + 1);
  const dot = file.lastIndexOf(".");
  const extension = dot === -1 ? "" : file.slice(dot + 1).toLowerCase();
  return LANGUAGES.find(({ extensions }) => extensions.includes(extension));
}
