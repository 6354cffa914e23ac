/** Reads the documents of calls that a kernel of a test has kept. */
import { expect } from "vitest";
import { blake3Hex } from "../../src/base/hash.ts";
import { canonicalJson, isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { parseJson } from "../../src/base/json-parse.ts";
import type { MemoryKernel } from "./memory-kernel.ts";

/** A document as it is kept: its text and what it says. */
export interface KeptDocument {
  readonly hash: string;
  readonly text: string;
  readonly value: JsonObject;
}

/** The document of that hash, which is canonical JSON under its own digest. */
export async function documentOf(kernel: Pick<MemoryKernel, "content">, hash: unknown): Promise<KeptDocument> {
  if (typeof hash !== "string") throw new Error("the entry names no document");
  const pieces: Uint8Array[] = [];
  const range = { offset: 0, length: Number.MAX_SAFE_INTEGER };
  for await (const piece of kernel.content.read(hash, range)) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("utf8");
  expect(blake3Hex(text)).toBe(hash);
  const json = parseJson(text);
  if (!json.ok || !isJsonObject(json.value)) throw new Error("a document is a strict JSON object");
  expect(canonicalJson(json.value)).toBe(text);
  return { hash, text, value: json.value };
}

/** The documents that the last entries of both kinds name. */
export async function lastDocuments(kernel: Pick<MemoryKernel, "content" | "ledger">) {
  const written = kernel.ledger.of("tool_call_written").at(-1)?.payload ?? {};
  const answered = kernel.ledger.of("tool_output_written").at(-1)?.payload ?? {};
  return {
    input: await documentOf(kernel, written["input"]),
    call: await documentOf(kernel, written["call"]),
    output: await documentOf(kernel, answered["output"]),
  };
}
