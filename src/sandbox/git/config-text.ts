/**
 * The text of a git configuration file as a list of settings.
 *
 * Follows git's own grammar; text that does not fit is refused as a whole. INVARIANT: nothing is run, looked up or
 * included.
 */

/** One setting: the section in lower case, the part in quotes as it is, the name in lower case. */
export interface Setting {
  readonly section: string;
  readonly subsection?: string;
  readonly name: string;
  readonly value: string;
}

const HEADER = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n\0]|\\[^\n\0])*)")?\]/;
const NAME = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" };

/** The settings of `text`, in order; `undefined` when it is not well-formed. */
export function parseConfig(text: string): readonly Setting[] | undefined {
  const settings: Setting[] = [];
  let section: { readonly section: string; readonly subsection?: string } | undefined;
  let rest = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  while (rest !== "") {
    const blank = /^(?:[ \t\n]+|[#;][^\n]*(?:\n|$))/.exec(rest);
    if (blank) {
      rest = rest.slice(blank[0].length);
      continue;
    }
    const header = HEADER.exec(rest);
    if (header) {
      section = sectionOf(header[1] ?? "", header[2]);
      rest = rest.slice(header[0].length);
      continue;
    }
    const name = NAME.exec(rest);
    if (!name || section === undefined) return undefined;
    rest = rest.slice(name[0].length);
    const read = rest.startsWith("=") ? readValue(rest.slice(1)) : flagOf(rest);
    if (read === undefined) return undefined;
    settings.push({ ...section, name: (name[1] ?? "").toLowerCase(), value: read.value });
    rest = read.rest;
  }
  return settings;
}

function sectionOf(
  written: string,
  quoted: string | undefined,
): { readonly section: string; readonly subsection?: string } {
  if (quoted !== undefined) return { section: written.toLowerCase(), subsection: quoted.replaceAll(/\\(.)/g, "$1") };
  const dot = written.indexOf(".");
  if (dot === -1) return { section: written.toLowerCase() };
  return { section: written.slice(0, dot).toLowerCase(), subsection: written.slice(dot + 1).toLowerCase() };
}

interface Read {
  readonly value: string;
  readonly rest: string;
}

/** A name alone stands for yes. */
function flagOf(rest: string): Read | undefined {
  const end = /^(?:[#;][^\n]*)?(?:\n|$)/.exec(rest);
  return end === null ? undefined : { value: "true", rest: rest.slice(end[0].length) };
}

function readValue(text: string): Read | undefined {
  let value = "";
  let kept = 0;
  let quoted = false;
  let at = 0;
  for (; at < text.length && text[at] !== "\n"; at += 1) {
    const character = text[at] ?? "";
    if (character === "\0") return undefined;
    if (character === "\\") {
      at += 1;
      const next = text[at] ?? "";
      if (next === "\n") continue; // the line goes on
      const meant = ESCAPES[next];
      if (meant === undefined) return undefined;
      value += meant;
      kept = value.length;
    } else if (character === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (!quoted && (character === "#" || character === ";")) {
      while (at < text.length && text[at] !== "\n") at += 1;
      break;
    } else {
      const isBlank = !quoted && (character === " " || character === "\t");
      if (isBlank && value === "") continue;
      value += character;
      if (!isBlank) kept = value.length;
    }
  }
  if (quoted) return undefined;
  return { value: value.slice(0, kept), rest: text.slice(at + 1) };
}
