/** Lists the keys of `handrail.yaml` with their values and defaults, from the schema that reads the file. */
import { z } from "zod";

/** One key: its path in the file, its default as it is written, and the texts that say what it may be. */
export interface SettingsKey {
  /** As `workspaces[].git.branch_pattern` or `limits.rate.tools.TOOL.burst`. */
  readonly key: string;
  /** As JSON; `undefined` where there is none. */
  readonly defaultValue: string | undefined;
  /** Words of an enumeration, and least and greatest number: what a page has to name. */
  readonly values: readonly string[];
}

/** What a JSON Schema may say that is of use here. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly propertyNames?: Schema;
}

/** Every key that `schema` knows, sections before what is in them. */
export function settingsKeys(schema: z.ZodType): readonly SettingsKey[] {
  return below(z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as Schema, "");
}

function below(schema: Schema, path: string): readonly SettingsKey[] {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  return parts.flatMap((part) => [
    ...Object.entries(part.properties ?? {}).flatMap(([name, member]) =>
      keysOf(member, path === "" ? name : `${path}.${name}`),
    ),
    ...(typeof part.additionalProperties === "object" ? below(part.additionalProperties, `${path}.NAME`) : []),
    ...(part.items === undefined ? [] : below(part.items, `${path}[]`)),
  ]);
}

function keysOf(schema: Schema, key: string): readonly SettingsKey[] {
  const found = below(schema, key);
  const defaultValue = schema.default === undefined ? undefined : JSON.stringify(schema.default);
  return [{ key, defaultValue, values: valuesOf(schema) }, ...found];
}

function valuesOf(schema: Schema): readonly string[] {
  const own = [...(schema.enum ?? []), schema.minimum, schema.maximum]
    .filter((value) => value !== undefined)
    .map(String);
  return [
    ...own,
    ...(schema.anyOf ?? []).flatMap(valuesOf),
    ...(schema.items === undefined ? [] : valuesOf(schema.items)),
  ];
}
