/**
 * The manifest of an index, `rag_manifest.json`: which files are in it, by the SHA-256 of their bytes.
 *
 * It stands once everything has been indexed: without one the index is being built. INVARIANT: a manifest that cannot
 * be read, or that was made under other rules, is none, and everything is indexed anew.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errorCode } from "../../base/errors.ts";
import type { IndexedFile } from "../../knowledge/knowledge-store.ts";

/** The file's name. */
export const MANIFEST = "rag_manifest.json";
/** Changes with what is indexed of a file, so that older indexes are made anew. */
const VERSION = 2;

const SHAPE = z.strictObject({
  version: z.literal(VERSION),
  /** Names the rules by which secrets were taken out. */
  redaction: z.string(),
  files: z.record(z.string(), z.string()),
});

/** What stands there: `none` before everything was indexed, `unusable` where it is damaged or of other rules. */
export async function readManifest(directory: string, redaction: string): Promise<"complete" | "none" | "unusable"> {
  let text: string;
  try {
    text = await readFile(join(directory, MANIFEST), "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "none";
    throw error;
  }
  const parsed = SHAPE.safeParse(parsedJson(text));
  return parsed.success && parsed.data.redaction === redaction ? "complete" : "unusable";
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // damaged: it fits no shape
  }
}

/** Writes it in one step. */
export async function writeManifest(directory: string, redaction: string, files: Iterable<IndexedFile>): Promise<void> {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
  const manifest = {
    version: VERSION,
    redaction,
    files: Object.fromEntries(sorted.map(({ path, sha256 }) => [path, sha256])),
  };
  const partial = join(directory, `${MANIFEST}.${process.pid}.partial`);
  await writeFile(partial, `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 });
  await rename(partial, join(directory, MANIFEST));
}
