/**
 * Changes one secret in the text of the operator's `handrail.yaml`, and nothing else in it.
 *
 * Pure: text in, text out. Comments and order stay. INVARIANT: what the new text says differs from the old one in this
 * one secret; a text where that cannot be had is refused.
 */
import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { isMap, parseDocument } from "yaml";
import { configInvalid } from "../base/errors.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { CONFIG_FILE_BYTES_MAX } from "../base/limits.ts";
import { parseSettings } from "./config.ts";

/** The secret as it is written; `undefined` where there is none. */
export function writtenSecret(text: string, name: string): JsonObject | undefined {
  const found: unknown = parseDocument(text, { uniqueKeys: false }).toJS();
  const all = isJsonObject(found) ? found["secrets"] : undefined;
  const secret = isJsonObject(all) ? all[name] : undefined;
  return isJsonObject(secret) ? secret : undefined;
}

/**
 * The text in which the secret is as `written` says, or is no more.
 * @param file the file's name, for messages
 * @throws KernelError CONFIG_INVALID when the text is not valid, before or afterwards, or cannot be changed so
 */
export async function editSecret(
  text: string,
  file: string,
  { name, written }: { readonly name: string; readonly written: JsonObject | undefined },
): Promise<string> {
  const before = await parseSettings(text, file);
  const document = parseDocument(text, { uniqueKeys: false });
  if (document.contents === null) document.contents = document.createNode({}) as unknown as typeof document.contents;
  if (written !== undefined) document.setIn(["secrets", name], document.createNode(written));
  else document.deleteIn(["secrets", name]);
  const left: unknown = document.get("secrets", true);
  if (isMap(left) && left.items.length === 0) document.delete("secrets");
  const edited = document.toString({ lineWidth: 0, flowCollectionPadding: /\[ /.test(text) });
  if (Buffer.byteLength(edited) > CONFIG_FILE_BYTES_MAX)
    throw configInvalid(`\`${file}\` would be larger than ${CONFIG_FILE_BYTES_MAX} bytes; take something out of it`);
  const after = await parseSettings(edited, file);
  const others = (secrets: typeof before.secrets) => Object.entries(secrets).filter(([other]) => other !== name);
  const isSame =
    isDeepStrictEqual({ ...before, secrets: others(before.secrets) }, { ...after, secrets: others(after.secrets) }) &&
    name in after.secrets === (written !== undefined);
  if (isSame) return edited;
  throw configInvalid(`\`${file}\` cannot be changed without changing something else in it; change it by hand`);
}
