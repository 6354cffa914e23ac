/** Programs of the machine that contain commands: where they are, and what is said when they are not. */
import { accessSync, constants } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";

/** The first of `paths` that can be run. */
export function findProgram(paths: readonly string[]): string | undefined {
  return paths.find(isProgram);
}

/** Whether `path` can be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // it is not there
  }
}

/** What a command that cannot run for want of a program fails with. */
export function missingProgram(problem: string, aptPackages: string, otherwise = ""): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `${problem}; the command did not run`,
    `ask the operator to install it, for instance with \`apt-get install ${aptPackages}\`${otherwise}`,
  );
}
