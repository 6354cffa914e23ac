/**
 * TOML, as lock files and manifests of poetry and cargo are written in. The library is loaded when one of them
 * installs.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { NESTING_DEPTH_MAX } from "../../../base/limits.ts";
import { refused } from "./installation.ts";

/** Reads and writes TOML. */
export interface TomlCodec {
  /** @throws an error of the library's own for what is no TOML */
  readonly parse: (text: string, options: { readonly maxDepth: number }) => unknown;
  readonly stringify: (value: JsonObject) => string;
}

/** The library. */
export async function toml(): Promise<TomlCodec> {
  return await import("smol-toml");
}

/** The tables of `text`. @throws FailureWithoutEffect where it is no TOML */
export function parsedToml(codec: TomlCodec, path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = codec.parse(text.replace(/^\ufeff/, ""), { maxDepth: NESTING_DEPTH_MAX });
  } catch {
    value = undefined; // what stands in the file is nobody's to quote
  }
  if (isJsonObject(value)) return value;
  throw refused(path, "is not valid TOML", "mend it, and send the call again");
}
