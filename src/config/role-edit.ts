/**
 * Changes which roles a workspace grants in the text of the operator's `handrail.yaml`, and nothing else in it.
 *
 * Pure: text in, text out. Comments and order stay. INVARIANT: what the new text says differs from the old one in this
 * one list, or in one new entry that grants what it would without it; a text where that cannot be had is refused.
 */
import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { configInvalid, type KernelError } from "../base/errors.ts";
import { CONFIG_FILE_BYTES_MAX } from "../base/limits.ts";
import { parseSettings, type Settings } from "./config.ts";

/** Where the roles go: the entry at `index`, or a new one for `path` where there is none. */
export interface RoleEdit {
  readonly index: number | undefined;
  readonly path: string;
  readonly roles: readonly string[];
}

/**
 * The text in which the workspace grants `roles`.
 * @param name the file's name, for messages
 * @throws KernelError CONFIG_INVALID when the text is not valid, or cannot be changed without changing something else
 */
export async function editRoles(text: string, name: string, { index, path, roles }: RoleEdit): Promise<string> {
  const before = await parseSettings(text, name);
  const document = parseDocument(text, { uniqueKeys: false });
  const entry = index === undefined ? addedEntry(document, path) : entryAt(document.get("workspaces", true), index);
  if (entry === undefined) throw byHand(name);
  entry.set("roles", listOf(document, entry.get("roles", true), roles));
  const edited = document.toString({ lineWidth: 0, flowCollectionPadding: /\[ /.test(text) });
  if (Buffer.byteLength(edited) > CONFIG_FILE_BYTES_MAX) throw byHand(name);
  if (!isDeepStrictEqual(await parseSettings(edited, name), expected(before, { index, path, roles })))
    throw byHand(name);
  return edited;
}

type Parsed = ReturnType<typeof parseDocument>;

function entryAt(list: unknown, index: number): YAMLMap | undefined {
  const entry: unknown = isSeq(list) ? list.items[index] : undefined;
  return isMap(entry) ? entry : undefined;
}

/** A new entry at the end of the list, which is made where there is none. */
function addedEntry(document: Parsed, path: string): YAMLMap | undefined {
  if (document.contents === null) document.contents = document.createNode({}) as unknown as typeof document.contents;
  if (document.get("workspaces") == null) document.set("workspaces", document.createNode([]));
  const list: unknown = document.get("workspaces", true);
  if (!isSeq(list)) return undefined;
  if (list.items.length === 0) list.flow = false;
  list.add(document.createNode({ path }));
  return entryAt(list, list.items.length - 1);
}

/** The list with other members, as it is written: in one line, unless it stands in several. */
function listOf(document: Parsed, before: unknown, roles: readonly string[]): YAMLSeq {
  const list = document.createNode(roles) as YAMLSeq;
  list.flow = !isSeq(before) || before.flow === true || roles.length === 0;
  if (!isSeq(before)) return list;
  if (before.comment != null) list.comment = before.comment;
  if (before.commentBefore != null) list.commentBefore = before.commentBefore;
  const kept = before.items as YAMLSeq["items"];
  // What stays keeps its own comments.
  list.items = list.items.map((item) => kept.find((one) => String(one) === String(item)) ?? item);
  return list;
}

function expected(before: Settings, { index, path, roles }: RoleEdit): Settings {
  const entries = before.workspaces;
  const changed =
    index === undefined
      ? [...entries, { path, roles: [...roles], isolation: "STRICT" as const }]
      : entries.map((entry, place) => (place === index ? { ...entry, roles: [...roles] } : entry));
  return { ...before, workspaces: changed };
}

function byHand(name: string): KernelError {
  return configInvalid(`\`${name}\` is written so that it cannot be changed safely; change workspaces[].roles by hand`);
}
