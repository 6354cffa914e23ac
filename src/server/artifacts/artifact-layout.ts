/**
 * Lays documents of evidence out as files, as serverd does: a folder for each kind, a file for each document.
 *
 * A file is named by the BLAKE3-256 of its bytes, which are canonical JSON. A decision is named by its request.
 */
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson, isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";

/** Bytes of one document. */
export const ARTIFACT_BYTES_MAX = 16 * 1024 * 1024;
/** Documents of one export. */
export const ARTIFACTS_MAX = 250_000;
/** The file that counts the documents of an export. */
export const MANIFEST = "manifest.json";
/** The schema of that file. */
export const MANIFEST_SCHEMA = "handrail.artifacts.v1";

/** Whose identifiers the documents bear. */
export type Naming = "handrail" | "serverd";

/** What a document is. */
export type ArtifactKind = "outputs" | "tool_inputs" | "tool_calls" | "tool_outputs" | "approvals" | "decisions";

/** In an order in which a document comes after those that it names. */
export const ARTIFACT_KINDS = [
  "tool_inputs",
  "outputs",
  "approvals",
  "tool_calls",
  "tool_outputs",
  "decisions",
] as const;

/** Where documents of a kind lie. */
export const FOLDER_OF: Readonly<Record<ArtifactKind, string>> = {
  outputs: "artifacts/outputs",
  tool_inputs: "artifacts/tool_inputs",
  tool_calls: "artifacts/tool_calls",
  tool_outputs: "artifacts/tool_outputs",
  approvals: "artifacts/approvals",
  decisions: "approvals",
};

/** The identifier of each kind behind `handrail.`; serverd has none of its own for the first two. */
const SCHEMA_OF: Readonly<Record<ArtifactKind, string>> = {
  outputs: "provider_output.v1",
  tool_inputs: "tool_input.v1",
  tool_calls: "tool_call.v1",
  tool_outputs: "tool_output.v1",
  approvals: "tool_approval_request.v1",
  decisions: "tool_approval.v1",
};

const OWN_ALONE: ReadonlySet<ArtifactKind> = new Set(["outputs", "tool_inputs"]);

/** The identifier of a kind. */
export function schemaOf(kind: ArtifactKind, naming: Naming): string {
  return `${OWN_ALONE.has(kind) ? "handrail" : naming}.${SCHEMA_OF[kind]}`;
}

/** The members of each kind that name another document, and its kind. */
export const NAMES: Readonly<Partial<Record<ArtifactKind, Readonly<Record<string, ArtifactKind>>>>> = {
  tool_calls: { tool_input: "tool_inputs", approval_ref: "approvals" },
  tool_outputs: { tool_call: "tool_calls" },
  decisions: { approval_ref: "approvals" },
};

const REFERENCE = /^(?<prefix>blake3:)?(?<hash>[0-9a-f]{64})$/;

/** A reference: the hash that it names, and what stands before that. */
export function referenceOf(value: unknown): { readonly prefix: string; readonly hash: string } | undefined {
  const groups = typeof value === "string" ? REFERENCE.exec(value)?.groups : undefined;
  return groups && { prefix: groups["prefix"] ?? "", hash: groups["hash"] ?? "" };
}

/** A document as it is written. */
export interface LaidOut {
  readonly hash: string;
  readonly text: string;
  readonly value: JsonObject;
}

/** The document of a value. */
export function laidOut(value: JsonObject): LaidOut {
  const text = canonicalJson(value);
  return { hash: blake3Hex(text), text, value };
}

/** Reads the text of a document, strictly. @returns what is wrong with it where it is none */
export function readDocument(text: string): JsonObject | string {
  const json = parseJson(text);
  if (!json.ok) return `it is no JSON that can be read (${json.problem})`;
  if (!isJsonObject(json.value)) return "it is no JSON object";
  return canonicalJson(json.value) === text ? json.value : "it is not in canonical form (RFC 8785)";
}

/** The path of a document below the root of an export. */
export function pathOf(kind: ArtifactKind, { hash, value }: LaidOut): string {
  if (kind !== "decisions") return `${FOLDER_OF[kind]}/${hash}.json`;
  const request = referenceOf(value["approval_ref"])?.hash ?? hash;
  return `${FOLDER_OF.decisions}/${request}.${value["approved"] === true ? "approved" : "denied"}.json`;
}

/** What a manifest says of the files of an export: how many of each kind, and a digest of all. */
export function manifestOf(
  naming: Naming,
  files: ReadonlyMap<string, string>,
  counts: Readonly<Record<ArtifactKind, number>>,
): JsonObject {
  const lines = [...files].map(([path, hash]) => `${path} ${hash}\n`).sort();
  return {
    schema: MANIFEST_SCHEMA,
    naming,
    hash: "blake3-256",
    documents: { ...counts },
    digest: blake3Hex(lines.join("")),
  };
}
