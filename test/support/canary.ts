/** Searches for values that nothing may hold: in files, and in whatever was answered. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The forms in which a value would most likely turn up. */
function formsOf(value: string): readonly Buffer[] {
  const bytes = Buffer.from(value);
  return [bytes, Buffer.from(bytes.toString("base64").replace(/=+$/, "")), Buffer.from(bytes.toString("hex"))];
}

/** Files below `directory` that hold one of `values`. */
export function filesWith(directory: string, values: readonly string[]): readonly string[] {
  const forms = values.flatMap(formsOf);
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => {
      if (!lstatSync(path).isFile()) return false;
      const bytes = readFileSync(path);
      return forms.some((form) => bytes.includes(form));
    });
}

/** Whether what was answered holds one of `values`. */
export function isToldIn(answers: unknown, values: readonly string[]): boolean {
  const text = Buffer.from(JSON.stringify(answers) ?? "");
  return values.flatMap(formsOf).some((form) => text.includes(form));
}
