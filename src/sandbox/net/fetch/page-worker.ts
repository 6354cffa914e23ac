/** A thread that reads pages: what a person would read of them, as text or as Markdown. It reaches nothing. */
import { parentPort } from "node:worker_threads";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import Turndown from "turndown";
import { assert } from "../../../base/errors.ts";

/** A page to read. */
export interface ReadPage {
  readonly html: string;
  /** From which its links are meant. */
  readonly url: string;
  readonly format: "text" | "markdown";
}

/** What stands in it. */
export interface PageText {
  readonly text: string;
  readonly title?: string;
}

/** Elements of a page that is read; one with more is taken whole. */
const ELEMENTS_MAX = 50_000;
/** Characters that say nothing of what a link is. */
const TITLE_CHARACTERS_MAX = 500;

const port = parentPort;
assert(port, "the reader of pages runs as a worker");

port.on("message", (page: ReadPage) => {
  try {
    port.postMessage(read(page));
  } catch (error) {
    port.postMessage({ problem: error instanceof Error ? error.message.slice(0, 200) : "it is none" });
  }
});

function read({ html, url, format }: ReadPage): PageText {
  const title = titleOf(documentOf(html, url));
  const article = articleOf(html, url);
  const body = article ?? (documentOf(html, url).body as unknown as PageElement);
  for (const element of body.querySelectorAll("script,style,noscript,template,iframe,object,svg")) element.remove();
  const text = format === "text" ? plainText(body) : markdown(body, url);
  return { text, ...(title !== "" && { title }) };
}

type Page = ReturnType<typeof parseHTML>["document"];

/** As much of an element as is used here; the libraries know no types of a browser. */
interface PageElement {
  readonly textContent: string | null;
  readonly querySelectorAll: (what: string) => Iterable<PageElement>;
  readonly getAttribute: (name: string) => string | null;
  readonly remove: () => void;
  readonly after: (text: string) => void;
}

function documentOf(html: string, url: string): Page {
  const { document } = parseHTML(/<(?:html|body)[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  const base = document.createElement("base");
  base.setAttribute("href", url);
  document.head.prepend(base);
  return document;
}

function titleOf(document: Page): string {
  const title = document.querySelector("title")?.textContent ?? "";
  return title.replace(/\s+/g, " ").trim().slice(0, TITLE_CHARACTERS_MAX);
}

/** The part of a page that is its content, if it has one. */
function articleOf(html: string, url: string): PageElement | undefined {
  const document = documentOf(html, url) as unknown as ConstructorParameters<typeof Readability>[0];
  try {
    const parsed = new Readability(document, { maxElemsToParse: ELEMENTS_MAX }).parse();
    if (!parsed?.content) return undefined;
    return documentOf(`<html><body>${parsed.content}</body></html>`, url).body as unknown as PageElement;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("Aborting parsing document")) return undefined; // too many
    throw error;
  }
}

/** Elements that stand on lines of their own. */
const BLOCKS =
  "address,article,aside,blockquote,br,dd,div,dl,dt,fieldset,figcaption,figure,footer,form,h1,h2,h3,h4,h5,h6,header,hr,li,main,nav,ol,p,pre,section,table,tr,ul";

function plainText(body: PageElement): string {
  for (const element of body.querySelectorAll(BLOCKS)) element.after("\n");
  return tidy(body.textContent ?? "");
}

function markdown(body: unknown, url: string): string {
  const service = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", hr: "---" });
  service.addRule("links", {
    filter: "a",
    replacement(content, node) {
      const href = elementOf(node).getAttribute("href") ?? "";
      const target = URL.canParse(href, url) ? new URL(href, url) : undefined;
      const isShown = target !== undefined && /^https?:$/.test(target.protocol) && content.trim() !== "";
      return isShown ? `[${content.replace(/\s+/g, " ").trim()}](${target.href})` : content;
    },
  });
  service.addRule("images", {
    filter: "img",
    replacement: (_, node) => (elementOf(node).getAttribute("alt") ?? "").replace(/\s+/g, " ").trim(),
  });
  return tidy(service.turndown(body as Parameters<Turndown["turndown"]>[0]));
}

function elementOf(node: unknown): PageElement {
  return node as PageElement;
}

function tidy(text: string): string {
  return text
    .replace(/[ \t\u00a0]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
