/** Reads the project's Markdown pages: their links, headings and code blocks. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** A page: its path from the root with `/`, and its text. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A fenced code block. `info` is the rest of the line that opens it. */
export interface Block {
  readonly info: string;
  readonly text: string;
  /** Line of the page on which the block opens, from 1. */
  readonly line: number;
}

/** Every page that people read: those in `docs/`, at the top, and in the examples. */
export function allPages(): readonly Page[] {
  return globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], { cwd: ROOT, exclude: ["**/node_modules/**"] })
    .sort()
    .map(readPage);
}

/** Reads one page by its path from the root. */
export function readPage(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), "utf8") };
}

/** The fenced code blocks of a text, in order. */
export function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^(```+)([^`\n]*)\n([\s\S]*?)^\1$/gm)].map((found) => ({
    info: (found[2] ?? "").trim(),
    text: found[3] ?? "",
    line: text.slice(0, found.index).split("\n").length,
  }));
}

/** The text without its code blocks, whose lines become empty. */
export function proseOf(text: string): string {
  return text.replace(/^(```+)[^\n]*\n[\s\S]*?^\1$/gm, (block) => block.replace(/[^\n]/g, ""));
}

/** The anchors that the headings of a text make, as GitHub makes them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

/** Targets of the links of a page that lead into the project, from its root; `anchor` is empty where there is none. */
export function linksOf({ path, text }: Page): readonly { readonly target: string; readonly anchor: string }[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file = "", anchor = ""] = link.split("#");
      return { target: file === "" ? path : posix.normalize(posix.join(dirname(path), file)), anchor };
    });
}

/**
 * Files and folders of the project that a text names in code marks; those with a made-up part, as `src/NAME/`, are left
 * out.
 */
export function namedFiles(text: string): readonly string[] {
  const named = [...text.matchAll(/`((?:src|test|docs|presets|scripts|examples)\/[^`\s]*)`/g)].map(
    ([, path = ""]) => path,
  );
  return [...new Set(named)].filter((path) => !/[A-Z]{3}/.test(path) || /README|CHANGELOG/.test(path));
}
