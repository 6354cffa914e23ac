/**
 * The one table of what a request's fields may hold (APM2's invariants INV-0001 to INV-0034). The wire validator and
 * the schemas that tools show to models both read it, so that they cannot disagree.
 *
 * "Characters" are Unicode code points, sizes are bytes of UTF-8. Each entry names the invariant behind each of its
 * rules; the fields of `call` are this kernel's own and stand under no invariant of APM2.
 */
import {
  HASH_SIZE,
  MAX_ARG_LEN,
  MAX_COMMAND_LEN,
  MAX_EDIT_SIZE,
  MAX_ID_LEN,
  MAX_PATH_LEN,
  MAX_READ_LIMIT,
  MAX_REPEATED_ITEMS,
  MAX_TIMEOUT_MS,
  MAX_WRITE_SIZE,
} from "../../base/limits.ts";
import type { Violation } from "./decision.ts";

/** Tokens one inference call may ask for (INV-0028). */
export const MAX_TOKENS = 1_000_000;

/** The rules a field can break (CTR-0032). */
export type ValidationRule =
  | "required"
  | "max_length"
  | "max_value"
  | "max_size"
  | "max_items"
  | "format"
  | "hash_size"
  | "known_operation"
  | "no_null_bytes"
  | "no_path_traversal"
  | "mutually_exclusive";

/** The invariant behind each rule of a field. */
type Invariants = { readonly [Rule in ValidationRule]?: string };

/** Text: at most `max` of `unit`; `rule` is what too much of it is called. */
export interface TextConstraint {
  readonly kind: "text";
  readonly required: boolean;
  readonly max: number;
  readonly unit: "characters" | "bytes";
  readonly rule: "max_length" | "max_size";
  readonly invariants: Invariants;
}

/** A path: its first problem alone is reported, in the order required, length, null byte, traversal, format. */
export interface PathConstraint {
  readonly kind: "path";
  readonly required: boolean;
  /** Characters. */
  readonly max: number;
  readonly invariants: Invariants;
}

/** Raw bytes: at most `max`. */
export interface BytesConstraint {
  readonly kind: "bytes";
  readonly max: number;
  readonly invariants: Invariants;
}

/** A BLAKE3-256 hash: exactly HASH_SIZE bytes; absent only where it is not required. */
export interface HashConstraint {
  readonly kind: "hash";
  readonly required: boolean;
  readonly size: number;
  readonly invariants: Invariants;
}

/** A whole number from 0 to `max`. */
export interface IntegerConstraint {
  readonly kind: "integer";
  readonly max: number;
  readonly invariants: Invariants;
}

/** Texts: at most `itemsMax`, each at most `entryBytesMax` bytes; `pairs` hold exactly one `=`. */
export interface ListConstraint {
  readonly kind: "list";
  readonly itemsMax: number;
  readonly entryBytesMax: number;
  readonly pairs: boolean;
  readonly invariants: Invariants;
}

/** One of a fixed set of words. */
export interface WordConstraint {
  readonly kind: "word";
  readonly words: readonly string[];
  readonly invariants: Invariants;
}

/** Any constraint of the table. */
export type FieldConstraint =
  | TextConstraint
  | PathConstraint
  | BytesConstraint
  | HashConstraint
  | IntegerConstraint
  | ListConstraint
  | WordConstraint;

/** The eighteen git operations (INV-0021). */
export const GIT_OPERATIONS = [
  "CLONE",
  "FETCH",
  "PULL",
  "DIFF",
  "COMMIT",
  "PUSH",
  "STATUS",
  "LOG",
  "BRANCH",
  "CHECKOUT",
  "MERGE",
  "REBASE",
  "ADD",
  "RESET",
  "STASH",
  "TAG",
  "REMOTE",
  "SHOW",
] as const;

/** Every constrained field, by its name on the wire. */
export const CONSTRAINTS = {
  request_id: identifier(true, "INV-0001"),
  session_token: identifier(true, "INV-0002"),
  dedupe_key: identifier(false, "INV-0003"),
  "file_read.path": path(true, { main: "INV-0005", nullByte: "INV-0006", traversal: "INV-0007" }),
  "file_read.limit": integer(MAX_READ_LIMIT, "INV-0008"),
  "file_write.path": path(true, { main: "INV-0009", nullByte: "INV-0010", traversal: "INV-0010" }),
  "file_write.content": bytes(MAX_WRITE_SIZE, "INV-0011"),
  "file_edit.path": path(true, { main: "INV-0013", nullByte: "INV-0013", traversal: "INV-0013" }),
  "file_edit.old_content": text(true, { max: MAX_EDIT_SIZE, rule: "max_size" }, "INV-0014"),
  "file_edit.new_content": text(false, { max: MAX_EDIT_SIZE, rule: "max_size" }, "INV-0015"),
  "shell_exec.command": text(true, { max: MAX_COMMAND_LEN, rule: "max_length" }, "INV-0016"),
  "shell_exec.cwd": path(false, { main: "INV-0017", nullByte: "INV-0017", traversal: "INV-0017" }),
  "shell_exec.timeout_ms": integer(MAX_TIMEOUT_MS, "INV-0018"),
  "shell_exec.env": list(true, "INV-0019", "INV-0020"),
  "git_op.operation": word(GIT_OPERATIONS, "INV-0021"),
  "git_op.args": list(false, "INV-0022", "INV-0023"),
  "git_op.cwd": path(false, { main: "INV-0024", nullByte: "INV-0024", traversal: "INV-0024" }),
  "inference.provider": identifier(true, "INV-0025"),
  "inference.model": identifier(true, "INV-0026"),
  "inference.prompt_hash": hash(true, "INV-0027"),
  "inference.max_tokens": integer(MAX_TOKENS, "INV-0028"),
  "inference.system_prompt_hash": hash(false, "INV-0029"),
  "artifact_publish.artifact_id": identifier(true, "INV-0030"),
  "artifact_publish.content_hash": hash(true, "INV-0031"),
  "artifact_publish.category": identifier(true, "INV-0032"),
  "artifact_publish.metadata": list(true, "INV-0033", "INV-0034"),
  "call.name": identifier(true, "WIRE:call.name"),
  "call.arguments_json": bytes(MAX_WRITE_SIZE, "WIRE:call.arguments_json"),
} as const satisfies { readonly [field: string]: FieldConstraint };

/** The name of a constrained field. */
export type ConstrainedField = keyof typeof CONSTRAINTS;

/** The invariants of every field, and of what no single field has: the oneof, and rules across fields. */
const INVARIANTS: ReadonlyMap<string, Invariants> = new Map<string, Invariants>([
  ...Object.entries(CONSTRAINTS).map(([field, { invariants }]): [string, Invariants] => [field, invariants]),
  ["tool", { required: "INV-0004", mutually_exclusive: "INV-0004" }],
  ["file_write", { mutually_exclusive: "INV-0012" }],
]);

/**
 * The id of the rule that `violation` breaks: an invariant of APM2 such as `INV-0007`, or `WIRE:<field>` where this
 * kernel has a rule of its own.
 */
export function invariantOf(violation: Violation): string {
  const bracket = violation.field.indexOf("[");
  const field = bracket === -1 ? violation.field : violation.field.slice(0, bracket);
  const invariants = Object.entries(INVARIANTS.get(field) ?? {});
  return invariants.find(([rule]) => rule === violation.rule)?.[1] ?? `WIRE:${field === "" ? violation.rule : field}`;
}

/** Whether `value` has more than `max` characters (code points); looks at no more of it than it must. */
export function hasMoreCharacters(value: string, max: number): boolean {
  if (value.length <= max) return false;
  if (value.length > 2 * max) return true;
  let pairs = 0;
  for (let index = 0; index < value.length - 1; index += 1) {
    if (isHighSurrogate(value.charCodeAt(index)) && isLowSurrogate(value.charCodeAt(index + 1))) {
      pairs += 1;
      index += 1;
    }
  }
  return value.length - pairs > max;
}

/** Whether `value` has more than `max` bytes in UTF-8. */
export function hasMoreBytes(value: string, max: number): boolean {
  // A UTF-16 code unit is one to three bytes of UTF-8.
  if (value.length * 3 <= max) return false;
  return value.length > max || Buffer.byteLength(value, "utf8") > max;
}

/** Whether a component of `path`, split on `/` and on `\`, is `..`; a name such as `a..b` is none. */
export function hasTraversal(value: string): boolean {
  if (!value.includes("..")) return false;
  return value.split(/[/\\]/).includes("..");
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function identifier(required: boolean, invariant: string): TextConstraint {
  const invariants = { required: invariant, max_length: invariant, format: invariant };
  return { kind: "text", required, max: MAX_ID_LEN, unit: "characters", rule: "max_length", invariants };
}

function text(required: boolean, bound: Pick<TextConstraint, "max" | "rule">, invariant: string): TextConstraint {
  const invariants = { required: invariant, [bound.rule]: invariant, format: invariant };
  return { kind: "text", required, ...bound, unit: "bytes", invariants };
}

function path(
  required: boolean,
  ids: { readonly main: string; readonly nullByte: string; readonly traversal: string },
): PathConstraint {
  const invariants = {
    required: ids.main,
    max_length: ids.main,
    no_null_bytes: ids.nullByte,
    no_path_traversal: ids.traversal,
    format: ids.main,
  };
  return { kind: "path", required, max: MAX_PATH_LEN, invariants };
}

function bytes(max: number, invariant: string): BytesConstraint {
  return { kind: "bytes", max, invariants: { max_size: invariant, format: invariant } };
}

function hash(required: boolean, invariant: string): HashConstraint {
  return { kind: "hash", required, size: HASH_SIZE, invariants: { hash_size: invariant } };
}

function integer(max: number, invariant: string): IntegerConstraint {
  return { kind: "integer", max, invariants: { max_value: invariant } };
}

function list(pairs: boolean, itemsInvariant: string, entryInvariant: string): ListConstraint {
  const invariants = { max_items: itemsInvariant, max_length: entryInvariant, format: entryInvariant };
  return { kind: "list", itemsMax: MAX_REPEATED_ITEMS, entryBytesMax: MAX_ARG_LEN, pairs, invariants };
}

function word(words: readonly string[], invariant: string): WordConstraint {
  return { kind: "word", words, invariants: { required: invariant, known_operation: invariant } };
}
