/**
 * Reads the files of clients, and changes them so that comments, order and layout stay.
 *
 * INVARIANT: a text that is returned holds the value that was asked for, which is read back, and every comment.
 */
import { isDeepStrictEqual } from "node:util";
import { applyEdits, type FormattingOptions, modify, type ParseError, parse as parseJsonc } from "jsonc-parser";
import { configInvalid } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { lostComment } from "./comments.ts";
import { valueAt } from "./edits.ts";

/** Formats that have values. */
export type Format = "jsonc" | "toml";

/** Lines with the name of what goes that are tried. */
const NAMED_LINES_MAX = 32;
const BYTE_ORDER_MARK = "\uFEFF";

/** The value of a text; an empty text is an empty object. @throws KernelError CONFIG_INVALID saying where it fails */
export async function valueIn(text: string, format: Format): Promise<JsonObject> {
  const bare = withoutMark(text);
  if (bare.trim() === "") return {};
  const value = await parsed(bare, format);
  if (!isJsonObject(value)) throw configInvalid("it is no object; make it one");
  return value;
}

async function parsed(bare: string, format: Format): Promise<JsonValue> {
  try {
    return format === "toml" ? await tomlValue(bare) : jsoncValue(bare);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw configInvalid("it is nested too deeply; change it by hand", error);
  }
}

/** The text with the value `to` at `at`, or nothing there where it is `undefined`. */
export async function textWith(text: string, format: Format, changed: Changed): Promise<string> {
  const next = format === "toml" ? await tomlText(text, changed) : jsoncText(text, changed);
  if (!isDeepStrictEqual(await valueIn(next, format), changed.root))
    throw configInvalid("it cannot be changed without changing more; look for a name that stands in it twice");
  const lost = lostComment(text, next, format);
  if (lost !== undefined)
    throw configInvalid(`changing it would lose the comment \`${lost.slice(0, 80)}\`; move that, or change it by hand`);
  return next;
}

/** A value whole, and where it differs from the text's. */
export interface Changed {
  readonly root: JsonObject;
  readonly at: readonly string[];
}

function jsoncValue(text: string): JsonValue {
  const errors: ParseError[] = [];
  const value: JsonValue = parseJsonc(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return value;
  const before = text.slice(0, first.offset);
  const column = before.length - before.lastIndexOf("\n");
  throw configInvalid(`it is not JSON at line ${before.split("\n").length}, column ${column}; mend it`);
}

/** Changes what differs on the way to the place: single members of a list, else the whole value. */
function jsoncText(text: string, { root, at }: Changed): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const start = withoutMark(text).trim() === "" ? "{}\n" : withoutMark(text);
  const formattingOptions = layoutOf(start);
  const set = (from: string, path: readonly (string | number)[], value: JsonValue | undefined) =>
    applyEdits(from, modify(from, [...path], value, { formattingOptions }));
  const before = valueAt(jsoncValue(start), at);
  const after = valueAt(root, at);
  if (!Array.isArray(before) || !Array.isArray(after)) {
    // what was made on the way goes with it
    const length = after === undefined ? heldLength(root, at) : at.length;
    return mark + set(start, at.slice(0, length), after);
  }
  let next = start;
  for (const [index, member] of [...before.entries()].reverse())
    if (!after.includes(member)) next = set(next, [...at, index], undefined);
  let length = before.filter((member) => after.includes(member)).length;
  for (const member of after)
    if (!before.includes(member)) {
      const edits = modify(next, [...at, length], member, { formattingOptions, isArrayInsertion: true });
      next = applyEdits(next, edits);
      length += 1;
    }
  return mark + next;
}

/** How much of a path names what `root` does not hold any more, from the outermost on. */
function heldLength(root: JsonObject, at: readonly string[]): number {
  let length = 1;
  while (length < at.length && valueAt(root, at.slice(0, length)) !== undefined) length += 1;
  return length;
}

function layoutOf(text: string): FormattingOptions {
  const [, indent = "  "] = /\n([ \t]+)\S/.exec(text) ?? [];
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { insertSpaces: !indent.startsWith("\t"), tabSize: indent.startsWith("\t") ? 1 : indent.length, eol };
}

async function tomlValue(text: string): Promise<JsonValue> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return ordinary(parse(text) as JsonObject);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [, why = ""] = /^Invalid TOML document: (.*)/.exec(error.message) ?? [];
    throw configInvalid(`it is not TOML at line ${error.line}, column ${error.column}: ${why}; mend it`);
  }
}

/** The same value of ordinary objects: the parser's have no prototype, and would equal none of ours. */
function ordinary(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(ordinary);
  if (!isJsonObject(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ordinary(member ?? null)]));
}

async function tomlText(text: string, { root, at }: Changed): Promise<string> {
  const { patch } = await import("@decimalturn/toml-patch");
  const less = valueAt(root, at) === undefined ? await withoutLines(text, root, at.at(-1) ?? "") : undefined;
  return less ?? patch(text, root);
}

/** The text without the line of `name`, or that and the header before it, where that is all: comments stay then. */
async function withoutLines(text: string, root: JsonObject, name: string): Promise<string | undefined> {
  const lines = text.split(/(?<=\n)/);
  const named = [...lines.keys()].filter((index) => lines[index]?.includes(name)).slice(0, NAMED_LINES_MAX);
  for (const index of named)
    for (const count of [1, 2]) {
      const next = lines.toSpliced(Math.max(index + 1 - count, 0), count).join("");
      const value = await valueIn(next, "toml").catch(() => undefined); // then it took a part of something
      if (value !== undefined && isDeepStrictEqual(value, root)) return next;
    }
  return undefined;
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
