/**
 * Keeps on disk what a branch was when it was made.
 *
 * It is lines of JSON: one for the fork, one for every thousand entries of a directory, and a last one with how many
 * entries there were.
 *
 * INVARIANT: a record is read as a whole or not at all; one that is cut or damaged says that the branch is.
 */
import { closeSync, constants, createReadStream, fsyncSync, openSync, writeFileSync } from "node:fs";
import { storeCorrupt } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import { type CopiedEntry, Manifest } from "../copies/manifest.ts";

/** What a branch was made from. */
export interface Fork {
  /**
   * Nanoseconds of the time at which copying began, as its parent's file system counts: what changed there then or
   * later is not in the branch.
   */
  readonly sinceNs: bigint;
  readonly manifest: Manifest;
  /** Files, directories and links. */
  readonly entries: number;
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const OWNER_ONLY = 0o600;
/** Characters that are written at once. */
const PIECE = 262_144;
/** Entries of one line, so that none takes long to write or to read. */
const LINE_ENTRIES = 1000;

/** Writes the record, durably; one step is one piece. */
export function* writeFork(path: string, sinceNs: bigint, manifest: Manifest): Generator<void, number> {
  const descriptor = openSync(path, NEW_FILE, OWNER_ONLY);
  try {
    let text = `${JSON.stringify({ version: 2, sinceNs: String(sinceNs) })}\n`;
    let entries = 0;
    for (const line of linesOf(manifest)) {
      entries += line[1].length;
      text += `${JSON.stringify(line)}\n`;
      if (text.length < PIECE) continue;
      writeFileSync(descriptor, text);
      text = "";
      yield;
    }
    writeFileSync(descriptor, `${text}${JSON.stringify({ entries })}\n`);
    fsyncSync(descriptor);
    return entries;
  } finally {
    closeSync(descriptor);
  }
}

type DirectoryLine = [directory: string, entries: [name: string, entry: CopiedEntry][]];

function* linesOf(manifest: Manifest): Generator<DirectoryLine> {
  for (const [directory, inside] of manifest.directories()) {
    let entries: DirectoryLine[1] = [];
    for (const entry of inside) {
      if (entries.push([...entry]) < LINE_ENTRIES) continue;
      yield [directory, entries];
      entries = [];
    }
    if (entries.length > 0) yield [directory, entries];
  }
}

/** Reads a record. @throws KernelError STORE_CORRUPT when it is none */
export async function readFork(path: string): Promise<Fork> {
  const manifest = new Manifest();
  let sinceNs: bigint | undefined;
  let entries = 0;
  let total: number | undefined;
  for await (const line of linesIn(path)) {
    const parsed = parseJson(line);
    if (!parsed.ok || total !== undefined) throw damaged(path);
    const { value } = parsed;
    if (isJsonObject(value)) {
      if (typeof value["sinceNs"] === "string" && /^\d+$/.test(value["sinceNs"])) sinceNs = BigInt(value["sinceNs"]);
      else if (typeof value["entries"] === "number") total = value["entries"];
      else throw damaged(path);
    } else if (isDirectoryLine(value)) {
      for (const [name, entry] of value[1]) manifest.note(value[0], name, entry);
      entries += value[1].length;
    } else throw damaged(path);
  }
  if (sinceNs === undefined || total !== entries) throw damaged(path);
  return { sinceNs, manifest, entries };
}

/**
 * The lines of a file. They end with a line feed and nothing else: names may hold other characters that end lines for
 * Node's `readline`, such as U+2028.
 */
async function* linesIn(path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of createReadStream(path, "utf8") as AsyncIterable<string>) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function isDirectoryLine(value: unknown): value is DirectoryLine {
  if (!Array.isArray(value) || typeof value[0] !== "string" || !Array.isArray(value[1])) return false;
  return value[1].every(
    (pair: unknown) => Array.isArray(pair) && typeof pair[0] === "string" && isEntry(pair[1] as Partial<CopiedEntry>),
  );
}

function isEntry(entry: Record<string, unknown> | null | undefined): boolean {
  if (typeof entry !== "object" || entry === null) return false;
  const { kind, identity, stamp, mode, origin, digest, held } = entry;
  if ([digest, held].some((fact) => fact !== undefined && typeof fact !== "string")) return false;
  if (kind === "hidden") return true;
  if (typeof identity !== "string") return false;
  return kind === "directory"
    ? typeof mode === "number"
    : (kind === "file" || kind === "link") && typeof stamp === "string" && typeof origin === "string";
}

function damaged(path: string) {
  return storeCorrupt(`the record \`${path}\` of a branch is damaged; drop the branch with \`handrail branches drop\``);
}
