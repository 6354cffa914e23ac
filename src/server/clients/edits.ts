/**
 * Applies changes to the value of a configuration, and takes them back. Pure.
 *
 * INVARIANT: what is taken back is only what was changed here and is still as it was left: values that others have set
 * meanwhile stay.
 */
import { isDeepStrictEqual } from "node:util";
import { configInvalid } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Edit } from "./client.ts";

/** One change that was made. */
export type Undo = {
  readonly at: readonly string[];
  /** How many objects on the way to it were there before; the others go when they are empty. */
  readonly depth: number;
} & (
  | { readonly value: JsonValue; readonly before?: JsonValue }
  /** `isNew`: the list was made for them. */
  | { readonly members: readonly string[]; readonly isNew: boolean }
);

/** A value with one change, and what takes it back; `undefined` where it has it already. */
export function applied(root: JsonObject, edit: Edit): { readonly root: JsonObject; readonly undo: Undo } | undefined {
  const before = valueAt(root, edit.at);
  const depth = depthOf(root, edit.at);
  if ("value" in edit) {
    if (isDeepStrictEqual(before, edit.value)) return undefined;
    const undo = { at: edit.at, depth, value: edit.value, ...(before !== undefined && { before }) };
    return { root: withValue(root, edit.at, edit.value), undo };
  }
  const list = before ?? [];
  if (!Array.isArray(list)) throw configInvalid(`\`${edit.at.join(".")}\` is no list; make it one`);
  const members = edit.members.filter((member) => !list.includes(member));
  if (members.length === 0) return undefined;
  const undo = { at: edit.at, depth, members, isNew: before === undefined };
  return { root: withValue(root, edit.at, [...list, ...members]), undo };
}

/** A value without one change; `undefined` where others have changed it meanwhile, or it is gone. */
export function undone(root: JsonObject, undo: Undo): JsonObject | undefined {
  const now = valueAt(root, undo.at);
  if ("value" in undo) {
    if (!isDeepStrictEqual(now, undo.value)) return undefined;
    return prunedAt(withValue(root, undo.at, undo.before), undo);
  }
  if (!Array.isArray(now) || !now.some((member) => undo.members.includes(member))) return undefined;
  const rest: JsonValue[] = now.filter((member) => !undo.members.includes(member));
  return prunedAt(withValue(root, undo.at, rest.length === 0 && undo.isNew ? undefined : rest), undo);
}

/** The value at a path; `undefined` where there is none. */
export function valueAt(root: JsonValue, at: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const name of at) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** How many objects stand on the way to the value at `at`, the outermost left out. */
function depthOf(root: JsonObject, at: readonly string[]): number {
  for (let length = at.length - 1; length > 0; length -= 1)
    if (valueAt(root, at.slice(0, length)) !== undefined) return length;
  return 0;
}

/** Takes out the objects on the way that were made for the change, where nothing is left in them. */
function prunedAt(root: JsonObject, { at, depth }: Undo): JsonObject {
  let pruned = root;
  for (let length = at.length - 1; length > depth; length -= 1) {
    const path = at.slice(0, length);
    const value = valueAt(pruned, path);
    if (isJsonObject(value) && Object.keys(value).length === 0) pruned = withValue(pruned, path, undefined);
  }
  return pruned;
}

function withValue(root: JsonObject, at: readonly string[], value: JsonValue | undefined): JsonObject {
  const [name = "", ...rest] = at;
  if (rest.length === 0) {
    const { [name]: _, ...others } = root;
    return value === undefined ? others : { ...root, [name]: value };
  }
  const inner = root[name] ?? {};
  if (!isJsonObject(inner)) throw configInvalid(`\`${name}\` is no object; make it one`);
  return { ...root, [name]: withValue(inner, rest, value) };
}
