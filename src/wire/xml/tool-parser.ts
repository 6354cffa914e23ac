/**
 * Parses calls out of a model's text, in Brio's XML: `<read_file path="a" />`, `<shell>ls</shell>`.
 *
 * Only tags of known names are calls; everything else is text. A body is taken as it stands: other tags in it are text,
 * tags of its own name must be balanced, and `<![CDATA[…]]>` hides all of them. Comments between calls are left out.
 *
 * INVARIANTS: the events are the same however the text is cut into pieces; time is linear in the text; what is pending
 * is one tag or one body; a call is told once it is complete, and one that never is becomes a problem at its place;
 * behind a problem nothing is called.
 */
import { parseAttributes } from "./attributes.ts";
import type { TextEvent, TextPosition, TextProblem, ToolInvocation } from "./events.ts";
import { Place } from "./place.ts";

/** The argument that the body of a tag is, for Brio's tools. */
const BRIO_BODIES: Readonly<Record<string, string | undefined>> = {
  done: "summary",
  read_file: undefined,
  write_file: "content",
  ls: undefined,
  shell: "command",
  grep: "pattern",
  create_branch: "name",
  list_branches: undefined,
  create_task: "description",
};
/** Characters of a tag, from `<` to `>`. */
const TAG_CHARACTERS_MAX = 65_536;
/** Characters of a body. */
const BODY_CHARACTERS_MAX = 16 * 1_048_576;
/** Tags of the same name within one another. */
const DEPTH_MAX = 1000;

const COMMENT = "<!--";
const COMMENT_END = "-->";
const CDATA = "<![CDATA[";
const CDATA_END = "]]>";
const BEHIND_NAME = /[\s/>]/;

/** What the parser is in. */
type Mode = "text" | "comment" | "tag" | "body" | "cdata";

/** A tag whose call is not complete. */
interface OpenTag extends TextPosition {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** Parses one text; a parser serves one. */
export class ToolParser {
  readonly #bodies: ReadonlyMap<string, string | undefined>;
  readonly #longest: number;
  readonly #place = new Place();
  #mode: Mode = "text";
  /** Text that cannot be understood before more of it is there. */
  #tail = "";
  /** Characters of the tail in which no `>` was found. */
  #searched = 0;
  #quote = "";
  #tag: TextPosition & { name: string } = { name: "", offset: 0, line: 1, column: 1 };
  #open: OpenTag | undefined;
  #body: string[] = [];
  #bodyLength = 0;
  #depth = 0;
  /** The next `>` of the text at hand, where it was looked for; -1: there is none. */
  #close: number | undefined;
  /** Something was wrong: nothing more is called. */
  #isBroken = false;

  /** @param bodies names of tools, each with the argument that its body is; Brio's tools when absent */
  constructor(bodies: Readonly<Record<string, string | undefined>> = BRIO_BODIES) {
    this.#bodies = new Map(Object.entries(bodies));
    this.#longest = Math.max(0, ...Object.keys(bodies).map((name) => name.length));
  }

  /** All events of a whole text. */
  static parse(text: string, bodies?: Readonly<Record<string, string | undefined>>): readonly TextEvent[] {
    const parser = new ToolParser(bodies);
    return merged([...parser.push(text), ...parser.end()]);
  }

  /** The calls and problems of a whole text. */
  parse(text: string): { readonly calls: readonly ToolInvocation[]; readonly problems: readonly TextProblem[] } {
    const events = [...this.push(text), ...this.end()];
    return {
      calls: events.filter((event) => event.kind === "call"),
      problems: events.filter((event) => event.kind === "problem"),
    };
  }

  /** The events that `chunk` completes. */
  push(chunk: string): readonly TextEvent[] {
    return this.#take(chunk, false);
  }

  /** The events that the end of the text completes. */
  end(): readonly TextEvent[] {
    const events = [...this.#take("", true)];
    if (this.#mode === "comment") events.push(problem(this.#tag, `a comment has no \`${COMMENT_END}\``));
    if (this.#mode === "tag") events.push(problem(this.#tag, `the tag \`<${this.#tag.name}\` has no \`>\``));
    if (this.#open !== undefined)
      events.push(problem(this.#open, `\`<${this.#open.name}>\` has no \`</${this.#open.name}>\`; nothing was called`));
    this.#mode = "text";
    this.#open = undefined;
    return merged(events);
  }

  #take(chunk: string, isEnd: boolean): readonly TextEvent[] {
    const events: TextEvent[] = [];
    const text = this.#tail + chunk;
    this.#tail = "";
    this.#close = undefined;
    let at = 0;
    while (at < text.length) {
      const step = this.#step(text, at, isEnd);
      if (step.event !== undefined) events.push(step.event);
      this.#isBroken ||= step.event?.kind === "problem";
      this.#place.pass(text, at, step.next);
      at = step.next;
      if (!step.isStuck) continue;
      this.#tail = text.slice(at);
      break;
    }
    return merged(events);
  }

  #step(text: string, at: number, isEnd: boolean): Step {
    switch (this.#mode) {
      case "text":
        return this.#textStep(text, at, isEnd);
      case "comment":
        return this.#commentStep(text, at, isEnd);
      case "tag":
        return this.#tagStep(text, at, isEnd);
      case "body":
        return this.#bodyStep(text, at, isEnd);
      case "cdata":
        return this.#cdataStep(text, at, isEnd);
    }
  }

  #textStep(text: string, at: number, isEnd: boolean): Step {
    const start = text.indexOf("<", at);
    if (start !== at) return { next: start === -1 ? text.length : start, event: textEvent(text, at, start) };
    if (text.startsWith(COMMENT, at)) {
      this.#tag = { ...this.#place.now(), name: "" };
      this.#mode = "comment";
      return { next: at + COMMENT.length };
    }
    const name = this.#nameAt(text, at + 1);
    if (name !== undefined) {
      this.#tag = { ...this.#place.now(), name };
      this.#mode = "tag";
      this.#quote = "";
      this.#searched = 0;
      return { next: at + 1 + name.length };
    }
    const couldBe = text.length - at <= Math.max(COMMENT.length, this.#longest + 1) && this.#couldBegin(text.slice(at));
    if (couldBe && !isEnd) return { next: at, isStuck: true };
    return { next: at + 1, event: { kind: "text", text: "<" } };
  }

  /** The rest of a tag behind its name: up to the `>` that stands in no quotes. */
  #tagStep(text: string, at: number, isEnd: boolean): Step {
    for (let index = at + this.#searched; index < text.length; index += 1) {
      const character = text[index] ?? "";
      if (character === "<") return this.#malformed(at, "has another `<` in it; write it as &lt;");
      if (this.#quote !== "") {
        if (character === this.#quote) this.#quote = "";
      } else if (character === '"' || character === "'") this.#quote = character;
      else if (character === ">") return this.#tagEnd(text, at, index);
      if (index - at >= TAG_CHARACTERS_MAX) return this.#malformed(at, "is too long");
    }
    this.#searched = text.length - at;
    if (isEnd) return { next: text.length };
    return { next: at, isStuck: true };
  }

  #tagEnd(text: string, at: number, end: number): Step {
    const inside = text.slice(at, end);
    const isClosed = inside.endsWith("/");
    const attributes = parseAttributes(isClosed ? inside.slice(0, -1) : inside);
    if ("problem" in attributes) return this.#malformed(at, attributes.problem);
    const open: OpenTag = { ...this.#tag, attributes };
    this.#mode = "text";
    if (isClosed) return { next: end + 1, event: this.#called(open, undefined) };
    this.#mode = "body";
    this.#open = open;
    this.#body = [];
    this.#bodyLength = 0;
    this.#depth = 1;
    this.#searched = 0;
    return { next: end + 1 };
  }

  /** A tag that is none: what follows its name is text. */
  #malformed(at: number, why: string): Step {
    this.#mode = "text";
    return { next: at, event: problem(this.#tag, `the tag \`<${this.#tag.name}\` ${why}; nothing was called`) };
  }

  #bodyStep(text: string, at: number, isEnd: boolean): Step {
    const open = this.#open;
    if (open === undefined) return { next: text.length };
    const start = text.indexOf("<", at);
    if (start !== at)
      return this.#keep(text.slice(at, start === -1 ? text.length : start), start === -1 ? text.length : start);
    if (text.startsWith(CDATA, at)) {
      this.#mode = "cdata";
      return { next: at + CDATA.length };
    }
    const own = this.#ownTagAt(text, at, open.name);
    if (own === "more") {
      if (!isEnd) return { next: at, isStuck: true };
      return this.#keep(text.slice(at), text.length);
    }
    this.#searched = 0;
    if (own === undefined) return this.#keep("<", at + 1);
    if (own.kind === "self-closed") return this.#keep(text.slice(at, own.end), own.end);
    this.#depth += own.kind === "open" ? 1 : -1;
    if (this.#depth > DEPTH_MAX) return this.#tooMuch(own.end, `has more than ${DEPTH_MAX} tags of its name in it`);
    if (this.#depth > 0) return this.#keep(text.slice(at, own.end), own.end);
    this.#mode = "text";
    this.#open = undefined;
    return { next: own.end, event: this.#called(open, this.#body.join("")) };
  }

  /** A tag of the body's own name at `at`, which begins with `<`; `more`: it may become one. */
  #ownTagAt(text: string, at: number, name: string): OwnTag | "more" | undefined {
    const isClosing = text[at + 1] === "/";
    const nameAt = at + (isClosing ? 2 : 1);
    const rest = text.slice(nameAt, nameAt + name.length + 1);
    if (!rest.startsWith(name)) {
      const isCut = nameAt + rest.length >= text.length && name.startsWith(rest);
      return isCut || CDATA.startsWith(text.slice(at)) ? "more" : undefined;
    }
    if (rest.length === name.length) return "more";
    if (!BEHIND_NAME.test(rest.slice(name.length))) return undefined;
    const from = Math.max(nameAt + name.length, at + this.#searched);
    const end = this.#closeFrom(text, from);
    if (end === -1 && text.length - at < TAG_CHARACTERS_MAX) {
      this.#searched = text.length - at;
      return "more";
    }
    if (end === -1 || end - at >= TAG_CHARACTERS_MAX) return undefined;
    if (!isClosing) return { kind: text[end - 1] === "/" ? "self-closed" : "open", end: end + 1 };
    return text.slice(nameAt + name.length, end).trim() === "" ? { kind: "closed", end: end + 1 } : undefined;
  }

  /** The next `>`; it is looked for once, however many tags ask. */
  #closeFrom(text: string, from: number): number {
    if (this.#close !== undefined && (this.#close === -1 || this.#close >= from)) return this.#close;
    this.#close = text.indexOf(">", from);
    return this.#close;
  }

  #cdataStep(text: string, at: number, isEnd: boolean): Step {
    const end = text.indexOf(CDATA_END, at);
    if (end === -1) {
      const safe = isEnd ? text.length : Math.max(at, text.length - CDATA_END.length + 1);
      return { ...this.#keep(text.slice(at, safe), safe), isStuck: !isEnd };
    }
    this.#mode = "body";
    return this.#keep(text.slice(at, end), end + CDATA_END.length);
  }

  #commentStep(text: string, at: number, isEnd: boolean): Step {
    const found = text.indexOf(COMMENT_END, at);
    if (found !== -1) {
      this.#mode = "text";
      return { next: found + COMMENT_END.length };
    }
    return { next: isEnd ? text.length : Math.max(at, text.length - COMMENT_END.length + 1), isStuck: !isEnd };
  }

  #keep(piece: string, next: number): Step {
    this.#bodyLength += piece.length;
    if (this.#bodyLength > BODY_CHARACTERS_MAX)
      return this.#tooMuch(next, `has more than ${BODY_CHARACTERS_MAX} characters`);
    if (piece !== "") this.#body.push(piece);
    return { next };
  }

  /** A body that is too much: what follows is text. */
  #tooMuch(next: number, why: string): Step {
    const at = this.#open ?? this.#tag;
    this.#mode = "text";
    this.#open = undefined;
    this.#body = [];
    return { next, event: problem(at, `the body of \`<${this.#tag.name}>\` ${why}; nothing was called`) };
  }

  /** The call of a whole tag. Behind a problem it may be the inside of something else, and is none. */
  #called({ attributes, name, offset, line, column }: OpenTag, body: string | undefined): TextEvent {
    if (this.#isBroken)
      return problem({ offset, line, column }, `\`<${name}>\` is not called, because of what is wrong before it`);
    const args = Object.fromEntries(attributes);
    const argument = this.#bodies.get(name);
    const content = body?.replace(/^\r?\n/, "");
    if (content !== undefined && argument === undefined && content.trim() !== "")
      return problem({ offset, line, column }, `\`<${name}>\` takes no body; nothing was called`);
    if (content === undefined || argument === undefined) return { kind: "call", name, args, offset, line, column };
    if (attributes.has(argument))
      return problem({ offset, line, column }, `\`<${name}>\` has \`${argument}\` as attribute and as body; keep one`);
    return { kind: "call", name, args: { ...args, [argument]: content }, offset, line, column };
  }

  #nameAt(text: string, at: number): string | undefined {
    const word = text.slice(at, at + this.#longest + 1);
    const end = word.search(BEHIND_NAME);
    if (end < 1) return undefined;
    const name = word.slice(0, end);
    return this.#bodies.has(name) ? name : undefined;
  }

  /** Whether more text could make a comment or a known tag of what begins with `<`. */
  #couldBegin(text: string): boolean {
    if (COMMENT.startsWith(text)) return true;
    const begun = text.slice(1);
    for (const name of this.#bodies.keys()) if (name.startsWith(begun)) return true;
    return false;
  }
}

/** How far one step came, and what it found. */
interface Step {
  readonly next: number;
  readonly event?: TextEvent | undefined;
  /** What is left cannot be understood before more text is there. */
  readonly isStuck?: boolean;
}

interface OwnTag {
  readonly kind: "open" | "closed" | "self-closed";
  readonly end: number;
}

function textEvent(text: string, from: number, to: number): TextEvent {
  return { kind: "text", text: to === -1 ? text.slice(from) : text.slice(from, to) };
}

function problem({ offset, line, column }: TextPosition, message: string): TextProblem {
  return { kind: "problem", message, offset, line, column };
}

/** The same events, with pieces of one text put together. */
function merged(events: readonly TextEvent[]): readonly TextEvent[] {
  const all: TextEvent[] = [];
  let pieces: string[] = [];
  const flush = () => {
    if (pieces.length > 0) all.push({ kind: "text", text: pieces.join("") });
    pieces = [];
  };
  for (const event of events) {
    if (event.kind === "text") pieces.push(event.text);
    else {
      flush();
      all.push(event);
    }
  }
  flush();
  return all;
}
