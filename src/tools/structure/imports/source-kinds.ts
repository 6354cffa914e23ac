/** Names the languages of files by their ends, and how each says what it imports. Pure. */

/** How imports of a family of languages are written and resolved. */
export type ImportStyle = "ecmascript" | "python" | "go" | "rust" | "java" | "ruby" | "c";

/** A language of source files. */
export interface SourceKind {
  readonly language: string;
  readonly style?: ImportStyle;
}

const BY_END: Readonly<Record<string, SourceKind>> = {
  ...ends({ language: "TypeScript", style: "ecmascript" }, "ts mts cts tsx"),
  ...ends({ language: "JavaScript", style: "ecmascript" }, "js mjs cjs jsx"),
  ...ends({ language: "Vue", style: "ecmascript" }, "vue"),
  ...ends({ language: "Svelte", style: "ecmascript" }, "svelte"),
  ...ends({ language: "Python", style: "python" }, "py pyi"),
  ...ends({ language: "Go", style: "go" }, "go"),
  ...ends({ language: "Rust", style: "rust" }, "rs"),
  ...ends({ language: "Java", style: "java" }, "java"),
  ...ends({ language: "Kotlin", style: "java" }, "kt kts"),
  ...ends({ language: "Scala", style: "java" }, "scala"),
  ...ends({ language: "Ruby", style: "ruby" }, "rb"),
  ...ends({ language: "C", style: "c" }, "c h"),
  ...ends({ language: "C++", style: "c" }, "cc cpp cxx hpp hh hxx"),
  ...ends({ language: "C#" }, "cs"),
  ...ends({ language: "PHP" }, "php"),
  ...ends({ language: "Swift" }, "swift"),
  ...ends({ language: "Elixir" }, "ex exs"),
  ...ends({ language: "Lua" }, "lua"),
  ...ends({ language: "Shell" }, "sh bash zsh"),
  ...ends({ language: "SQL" }, "sql"),
  ...ends({ language: "HTML" }, "html htm"),
  ...ends({ language: "CSS" }, "css scss sass less"),
  ...ends({ language: "Protocol Buffers" }, "proto"),
};

/** The language of a file, if it is code. */
export function sourceKindOf(path: string): SourceKind | undefined {
  const end = endOf(path);
  return Object.hasOwn(BY_END, end) ? BY_END[end] : undefined;
}

/** The end of a file's name behind its last dot, in small letters; nothing where there is none. */
export function endOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The directory of a path; `.` for the workspace itself. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : path.slice(0, slash);
}

function ends(kind: SourceKind, list: string): Readonly<Record<string, SourceKind>> {
  return Object.fromEntries(list.split(" ").map((end) => [end, kind]));
}
