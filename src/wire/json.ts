/**
 * A request written as proto3 JSON: camelCase or the proto's names, bytes in base64, 64-bit numbers as strings or
 * numbers. Read strictly: unknown fields, a field given under both names and two variants of `tool` are refused.
 */
import { type DescMessage, fromJson } from "@bufbuild/protobuf";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { parseJson } from "../base/json-parse.ts";
import { type ToolRequest, ToolRequestSchema } from "../gen/handrail/tool/v1/tool_pb.ts";
import { twoVariants, WireError } from "./wire-error.ts";

/** The request of a JSON text. @throws WireError (WIRE_INVALID) saying what is wrong */
export function requestFromJson(text: string): ToolRequest {
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw new WireError(`the request is ${/^not /.test(parsed.problem) ? "" : "refused: "}${parsed.problem}`);
  if (!isJsonObject(parsed.value)) throw new WireError("the request is not a JSON object");
  checkFields(ToolRequestSchema, parsed.value, "");
  try {
    return fromJson(ToolRequestSchema, parsed.value as Parameters<typeof fromJson>[1], { ignoreUnknownFields: false });
  } catch {
    // The library's message quotes the value, which may be a secret; `checkFields` found what can be said.
    throw new WireError("the request is not proto3 JSON of a `ToolRequest`; check the types of its fields");
  }
}

function checkFields(schema: DescMessage, object: JsonObject, prefix: string): void {
  const seen = new Set<string>();
  let variant = "";
  for (const [name, value] of Object.entries(object)) {
    const field = schema.fields.find((candidate) => candidate.name === name || candidate.jsonName === name);
    if (field === undefined)
      throw new WireError(`the request has an unknown field \`${prefix}${shortened(name)}\`; remove it`);
    if (seen.has(field.name))
      throw new WireError(`the request names the field \`${prefix}${field.name}\` twice; remove one`);
    seen.add(field.name);
    if (field.oneof !== undefined) {
      if (variant !== "")
        throw twoVariants(
          `the request carries both \`${variant}\` and \`${field.name}\`; send exactly one variant of \`tool\``,
        );
      variant = field.name;
    }
    if (value === undefined || value === null) continue;
    if (field.fieldKind === "message") checkMessage(field.message, value, `${prefix}${field.name}`);
    else if (!fits(field.fieldKind === "list", value))
      throw new WireError(`the field \`${prefix}${field.name}\` has the wrong JSON type`);
  }
}

function checkMessage(schema: DescMessage, value: JsonValue, name: string): void {
  if (!isJsonObject(value)) throw new WireError(`the field \`${name}\` is not a JSON object`);
  checkFields(schema, value, `${name}.`);
}

function fits(list: boolean, value: JsonValue): boolean {
  return list ? Array.isArray(value) : typeof value !== "object";
}

/** A name of the input, short enough to show. */
function shortened(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64).toWellFormed()}…`;
}
