/** Says how a person calls this program again, here or from a client's settings. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { quoted } from "../../model/place/command.ts";

/** The program's absolute path, which is right from every directory and on every later day. */
export const LAUNCHER = fileURLToPath(new URL("../../../handrail", import.meta.url));

/** `handrail` where the shell finds it, else its path as one word of a shell. */
export function ownName(environment: Readonly<Record<string, string | undefined>>): string {
  const places = (environment["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  return places.some((directory) => isProgram(join(directory, "handrail"))) ? "handrail" : quoted(LAUNCHER);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // it is not there, or nobody may start it
  }
}
