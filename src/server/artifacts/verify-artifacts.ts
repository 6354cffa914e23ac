/**
 * Verifies exported documents: each file's name, form and references, and that none is missing or added.
 *
 * Needs nothing but the directory. Whoever can write there can make another export that verifies: keep the digest that
 * the export printed, or compare with a new export.
 */
import { constants } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { textOf } from "../../base/bytes.ts";
import { errorCode, usageError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import {
  ARTIFACT_BYTES_MAX,
  ARTIFACT_KINDS,
  ARTIFACTS_MAX,
  type ArtifactKind,
  FOLDER_OF,
  MANIFEST,
  MANIFEST_SCHEMA,
  manifestOf,
  NAMES,
  type Naming,
  readDocument,
  referenceOf,
  schemaOf,
} from "./artifact-layout.ts";
import { TOOLS_FOLDER, toolSchemaOf } from "./tool-documents.ts";

/** Problems that one verification lists; the others are counted. */
export const ARTIFACT_PROBLEMS_MAX = 1000;

/** What is wrong with a file. */
export interface ArtifactProblem {
  /** Below the directory. */
  readonly path: string;
  readonly problem: string;
}

/** What a verification found. */
export interface ArtifactReport {
  readonly ok: boolean;
  readonly documents: number;
  readonly digest: string;
  readonly problems: readonly ArtifactProblem[];
  /** How many more there are than are listed. */
  readonly problemsOmitted: number;
}

/** Verifies an export. Problems are in the report. @throws KernelError USAGE for what is no directory */
export async function verifyArtifacts(
  directory: string,
  onProgress?: (documents: number) => void,
): Promise<ArtifactReport> {
  const root = resolve(directory);
  const about = await lstat(root).catch(() => undefined);
  if (about?.isDirectory() !== true)
    throw usageError("that is no directory; name one that `handrail artifacts export` has made");
  const verifying = new Verifying(root, onProgress);
  await verifying.all();
  return verifying.report();
}

const FILE = /^(?<hash>[0-9a-f]{64})\.json$/;
const DECISION = /^(?<hash>[0-9a-f]{64})\.(?<said>approved|denied)\.json$/;

class Verifying {
  readonly #root: string;
  readonly #onProgress: ((documents: number) => void) | undefined;
  readonly #problems: ArtifactProblem[] = [];
  #problemCount = 0;
  readonly #files = new Map<string, string>();
  readonly #counts: Record<ArtifactKind, number> = {
    outputs: 0,
    tool_inputs: 0,
    tool_calls: 0,
    tool_outputs: 0,
    approvals: 0,
    decisions: 0,
  };
  #naming: Naming = "handrail";
  #digest = "";

  constructor(root: string, onProgress: ((documents: number) => void) | undefined) {
    this.#root = root;
    this.#onProgress = onProgress;
  }

  async all(): Promise<void> {
    const manifest = await this.#manifest();
    for (const [folder, known] of [
      ["", new Set(["artifacts", "approvals", TOOLS_FOLDER, MANIFEST])],
      ["artifacts", new Set(ARTIFACT_KINDS.filter((kind) => kind !== "decisions"))],
    ] as const)
      for await (const name of this.#names(folder))
        if (!(known as ReadonlySet<string>).has(name)) this.#report(join(folder, name), "it belongs to no export");
    // what is named comes first
    for (const kind of ARTIFACT_KINDS)
      for await (const name of this.#names(FOLDER_OF[kind])) await this.#file(kind, name);
    await this.#tools();
    const found = manifestOf(this.#naming, this.#files, this.#counts);
    this.#digest = String(found["digest"]);
    if (manifest === undefined || canonicalJson(found) === canonicalJson(manifest)) return;
    this.#report(MANIFEST, "it counts other documents than those that are here: some are missing, added or changed");
  }

  report(): ArtifactReport {
    const problemsOmitted = this.#problemCount - this.#problems.length;
    const documents = Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
    const digest = this.#digest;
    return { ok: this.#problemCount === 0, documents, digest, problems: this.#problems, problemsOmitted };
  }

  async #manifest(): Promise<JsonObject | undefined> {
    const read = await this.#read(MANIFEST);
    if (read === undefined) return undefined;
    const { value } = read;
    const { schema, naming } = value;
    if (schema !== MANIFEST_SCHEMA || (naming !== "handrail" && naming !== "serverd")) {
      this.#report(MANIFEST, `its schema is not \`${MANIFEST_SCHEMA}\``);
      return undefined;
    }
    this.#naming = naming;
    return value;
  }

  async #file(kind: ArtifactKind, name: string): Promise<void> {
    const path = `${FOLDER_OF[kind]}/${name}`;
    const groups = (kind === "decisions" ? DECISION : FILE).exec(name)?.groups;
    if (groups === undefined) return this.#report(path, "its name is no hash");
    const read = await this.#read(path);
    if (read === undefined) return;
    const { value, text } = read;
    const hash = blake3Hex(text);
    this.#files.set(path, hash);
    this.#counts[kind] += 1;
    this.#onProgress?.(this.#files.size);
    if (value["schema"] !== schemaOf(kind, this.#naming))
      this.#report(path, `its schema is not \`${schemaOf(kind, this.#naming)}\``);
    if (kind !== "decisions") {
      if (hash !== groups["hash"]) this.#report(path, "its bytes do not fit its name");
    } else if (
      referenceOf(value["approval_ref"])?.hash !== groups["hash"] ||
      value["approved"] !== (groups["said"] === "approved")
    ) {
      this.#report(path, "it does not say what its name says");
    }
    this.#references(kind, path, value);
  }

  /** Tool specs and the policy have the names that the operator gave them; not every export has them. */
  async #tools(): Promise<void> {
    if ((await lstat(join(this.#root, TOOLS_FOLDER)).catch(() => undefined)) === undefined) return;
    for await (const name of this.#names(TOOLS_FOLDER)) {
      const path = `${TOOLS_FOLDER}/${name}`;
      const read = await this.#read(path);
      if (read === undefined) continue;
      this.#files.set(path, blake3Hex(read.text));
      const schema = toolSchemaOf(name, this.#naming);
      if (read.value["schema"] !== schema) this.#report(path, `its schema is not \`${schema}\``);
    }
  }

  /** Of a call, approvals and provider outputs need not have been kept. */
  #references(kind: ArtifactKind, path: string, value: JsonObject): void {
    for (const [member, named] of Object.entries(NAMES[kind] ?? {})) {
      const isOptional = kind === "tool_calls" && member !== "tool_input";
      const reference = referenceOf(value[member]);
      if (reference === undefined) {
        if (!isOptional) this.#report(path, `its member \`${member}\` names no document`);
      } else if (!isOptional && !this.#files.has(`${FOLDER_OF[named]}/${reference.hash}.json`)) {
        this.#report(path, `the document that its member \`${member}\` names is missing`);
      }
    }
  }

  async *#names(folder: string): AsyncGenerator<string> {
    const names: string[] = [];
    try {
      for await (const { name } of await opendir(join(this.#root, folder))) {
        names.push(name);
        if (names.length > ARTIFACTS_MAX) throw usageError(`it holds more than ${ARTIFACTS_MAX} files`);
      }
    } catch (error) {
      if (errorCode(error) === "unknown" || errorCode(error) === "USAGE") throw error;
      return this.#report(folder, `it is no directory that can be read (${errorCode(error)})`);
    }
    yield* names.sort();
  }

  async #read(path: string): Promise<{ readonly text: string; readonly value: JsonObject } | undefined> {
    const text = await textAt(join(this.#root, path));
    const value = text.ok ? readDocument(text.text) : text.problem;
    if (text.ok && typeof value !== "string") return { text: text.text, value };
    this.#report(path, String(value));
    return undefined;
  }

  #report(path: string, problem: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < ARTIFACT_PROBLEMS_MAX) this.#problems.push({ path, problem });
  }
}

type ReadText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/** The text of a plain file; neither a link nor a pipe is followed. */
export async function textAt(path: string, bytesMax = ARTIFACT_BYTES_MAX): Promise<ReadText> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const about = await file.stat();
      if (!about.isFile()) return { ok: false, problem: "it is no plain file" };
      if (about.size > bytesMax) return { ok: false, problem: `it has more than ${bytesMax} bytes` };
      const bytes = Buffer.alloc(about.size);
      const { bytesRead } = await file.read(bytes, 0, about.size, 0);
      const text = textOf(bytes.subarray(0, bytesRead));
      return text === undefined ? { ok: false, problem: "it is not UTF-8 text" } : { ok: true, text };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === "unknown") throw error;
    return { ok: false, problem: `it cannot be read (${errorCode(error)})` };
  }
}
