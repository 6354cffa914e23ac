/** Members of objects whose names or values are redacted: which name judges a value, and how no member is lost. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Finding } from "../../redact/redact.ts";

/** How much text and how many values went through, to know how long it may be when it is printed. */
export interface Measured {
  /** What is found does not leave to the caller, and is not counted. */
  readonly uncounted?: true;
  bytes: number;
  /** Values of every kind, containers too. */
  values: number;
}

/** The name of a pair: `{"name": "DB_PASSWORD", "value": …}`, `{"Key": …, "Value": …}`. */
export function nameBeside(object: object): string | undefined {
  for (const member of ["name", "key", "Name", "Key"]) {
    const name: unknown = Object.getOwnPropertyDescriptor(object, member)?.value;
    if (typeof name === "string") return name;
  }
  return undefined;
}

/** The members of `object` before the one at `end`, as they are. */
export function entriesBefore(object: JsonObject, names: readonly string[], end: number): [string, JsonValue][] {
  return names.slice(0, end).map((name) => [name, object[name] as JsonValue]);
}

/** Two names that look the same without their secrets stay two. */
export function uniqueName(shown: string, taken: readonly (readonly [string, JsonValue])[]): string {
  let unique = shown;
  for (let number = 2; taken.some(([other]) => other === unique) && number <= taken.length + 1; number += 1)
    unique = `${shown} (${number})`;
  return unique;
}

/** Whether any of them is certain. */
export function hasDefinite(findings: readonly Finding[]): boolean {
  return findings.some(({ kind }) => kind === "definite");
}
