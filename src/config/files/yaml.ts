/**
 * YAML text to plain values, for files that strangers may have written.
 *
 * Decides what is YAML here: a map has each key once, and keys are plain values. The library compares each key with all
 * others and turns keys that are collections into text again and again; both are looked at here instead, in one pass.
 * INVARIANT: time in proportion to the text, but for what the library's parser takes for a text within the caller's
 * bound.
 */
import { Buffer } from "node:buffer";
import type { Document, isMap as IsMap, isScalar as IsScalar, visit as Visit } from "yaml";
import { configInvalid, FileError } from "../../base/errors.ts";

/** Characters (UTF-16 code units) of one problem of a configuration file in a message. */
const CONFIG_PROBLEM_CHARACTERS_MAX = 256;

/** Aliases that one file may use: none is needed, and each can multiply the file. */
const ALIASES_MAX = 100;

/**
 * Parses `text`; the library is loaded only where there is a file to read.
 * @param name the file's name, for messages
 * @throws KernelError CONFIG_INVALID
 */
export async function parseYaml(text: string, name: string, bytesMax: number): Promise<unknown> {
  if (Buffer.byteLength(text) > bytesMax) throw configInvalid(`\`${name}\` is larger than ${bytesMax / 1024} KiB`);
  const { isMap, isScalar, parseDocument, visit } = await import("yaml");
  const document = parseDocument(text, { uniqueKeys: false });
  const [error] = document.errors;
  const problem = error === undefined ? keyProblem(document, { isMap, isScalar, visit }) : error.message.split("\n")[0];
  if (problem !== undefined) {
    const message = shortened(problem);
    const { line, col: column } = error?.linePos?.[0] ?? {};
    const place = line === undefined || column === undefined ? {} : { line, column };
    throw new FileError(`\`${name}\` is not valid YAML: ${message}`, [{ file: name, message, ...place }], error);
  }
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX }) ?? {};
  } catch (thrown) {
    // Aliases are the one thing that a document without errors can fail by.
    throw configInvalid(`\`${name}\` refers to itself too often; write its values out`, thrown);
  }
}

/** A place in a text; both start at 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/**
 * Where in a YAML or JSON text each path of members and indexes leads: to the member where the last one is a member's
 * name, else to the value; as far as there is something.
 */
export async function placesIn(
  text: string,
  paths: readonly (readonly (string | number)[])[],
): Promise<readonly TextPlace[]> {
  const { isCollection, isMap, isNode, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { uniqueKeys: false, lineCounter });
  return paths.map((path) => {
    let node: unknown = document.contents;
    let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    for (const part of path) {
      if (!isCollection(node)) break;
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
        : undefined;
      const next = pair === undefined ? node.get(typeof part === "number" ? part : Number(part), true) : pair.value;
      const start = pair === undefined ? next : pair.key;
      if (!isNode(start)) break;
      offset = start.range?.[0] ?? offset;
      node = next;
    }
    const { line, col: column } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(column, 1) };
  });
}

/** `problem`, as far as a message repeats it: whoever wrote the file chose its words. */
export function shortened(problem: string): string {
  if (problem.length <= CONFIG_PROBLEM_CHARACTERS_MAX) return problem;
  return `${problem.slice(0, CONFIG_PROBLEM_CHARACTERS_MAX).toWellFormed()}…`;
}

interface Library {
  readonly isMap: typeof IsMap;
  readonly isScalar: typeof IsScalar;
  readonly visit: typeof Visit;
}

function keyProblem(document: Document, { isMap, isScalar, visit }: Library): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Collection(_, node) {
      if (!isMap(node)) return undefined;
      const keys = new Set<string>();
      for (const { key } of node.items) {
        if (!isScalar(key)) problem = "a key must be a plain value";
        else if (keys.has(String(key.value))) problem = `the key \`${String(key.value)}\` stands there twice`;
        else keys.add(String(key.value));
        if (problem !== undefined) return visit.BREAK;
      }
      return undefined;
    },
  });
  return problem;
}
