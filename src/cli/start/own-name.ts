/** Says how a person calls this program again, here or from a client's settings. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { quoted } from "../../model/place/command.ts";
import { launchCommand } from "../../server/operator/package-files.ts";

/** The words that start this program, which are right from every directory and on every later day. */
export const LAUNCH = launchCommand(process.argv[1]);

/** `handrail` where the shell finds it, else what starts it as words of a shell. */
export function ownName(environment: Readonly<Record<string, string | undefined>>): string {
  const places = (environment["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  return places.some((directory) => isProgram(join(directory, "handrail"))) ? "handrail" : LAUNCH.map(quoted).join(" ");
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // it is not there, or nobody may start it
  }
}
