/**
 * Reads a provider's output, and inputs beside it, each compared with its hash.
 *
 * They lie as serverd lays them out. The hash is the BLAKE3-256 or the SHA-256 of the file's bytes, or of the same as
 * canonical JSON: whoever wrote the file chose. No link is followed in the last component of a path.
 */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { usageError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson, isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import {
  type BrokenCall,
  PROVIDER_OUTPUT_BYTES_MAX,
  type ProposedCall,
  readProviderOutput,
} from "../../wire/provider-output.ts";
import { textAt } from "./verify-artifacts.ts";

/** A provider's output that was read. */
export interface OutputFile {
  readonly path: string;
  readonly value: JsonObject;
  readonly calls: readonly (ProposedCall | BrokenCall)[];
}

const NAMED_BY_HASH = /^(?<hash>[0-9a-f]{64})\.json$/;
const INPUT = /^(?:artifacts\/)?tool_inputs\/(?<hash>[0-9a-f]{64})\.json$/;

/**
 * Reads an output.
 * @param hash what the file's name does not say; `unverified`: nobody knows it
 * @throws KernelError USAGE for what cannot be read, and what does not fit its hash
 */
export async function readOutputFile(path: string, hash: string | "unverified" | undefined): Promise<OutputFile> {
  const expected = hash ?? NAMED_BY_HASH.exec(basename(path))?.groups?.["hash"];
  if (expected === undefined)
    throw usageError("the file's name is no hash with `.json`; give its hash with --hash, or --unverified");
  const read = await textAt(path, PROVIDER_OUTPUT_BYTES_MAX);
  if (!read.ok) throw usageError(`the provider's output cannot be used: ${read.problem}`);
  const output = readProviderOutput(read.text);
  if (!output.ok) throw usageError(`the provider's output cannot be used: ${output.problem}`);
  if (expected !== "unverified" && !isOf(expected.toLowerCase(), read.text, output.value))
    throw usageError(
      "the provider's output does not fit its hash (neither BLAKE3-256 nor SHA-256, of its bytes or its canonical form), so nothing of it was called; take it from where it came once more",
    );
  return { path, value: output.value, calls: output.calls };
}

/** The input that a call of an output names, or what is wrong with it. */
export async function readInputFile(output: string, reference: string): Promise<JsonObject | string> {
  const hash = INPUT.exec(reference)?.groups?.["hash"];
  if (hash === undefined) return "its input is not named as `artifacts/tool_inputs/HASH.json`";
  const read = await textAt(join(dirname(dirname(output)), "tool_inputs", `${hash}.json`), PROVIDER_OUTPUT_BYTES_MAX);
  if (!read.ok) return `its input cannot be used: ${read.problem}`;
  const json = parseJson(read.text);
  if (!json.ok) return `its input cannot be read: ${json.problem}`;
  if (!isJsonObject(json.value)) return "its input is no JSON object";
  if (!isOf(hash, read.text, json.value)) return "its input does not fit its hash";
  if (json.value["schema"] !== "handrail.tool_input.v1") return json.value;
  const { arguments: args } = json.value;
  return isJsonObject(args) ? args : "its input was too long to be kept, and only its size is known";
}

function isOf(hash: string, text: string, value: JsonObject): boolean {
  return [text, canonicalJson(value)].some(
    (form) => blake3Hex(form) === hash || createHash("sha256").update(form).digest("hex") === hash,
  );
}
