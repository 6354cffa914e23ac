/**
 * Finds files of the running package, in a checkout as in an installed package.
 *
 * Modules run from `src/`, from a checkout's compiled program or from an installed package's `lib/`. The manifest, the
 * presets and the example lie at the same path from the package's root in all three.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, errorCode } from "../../base/errors.ts";

/** What a checkout has beside the files of an installed package: the launcher that also sets up. */
const LAUNCHER = "handrail";
/** Where an installed package has the program that its command starts. */
const COMPILED_COMMAND = "lib/handrail.js";
/** `npx` installs into such a directory of its cache, and may empty it at any time. */
const NPX_CACHE = "/_npx/";

/**
 * The root of the package that `directory` lies in; none in a program that has taken Handrail into its own files.
 * @param directory a real path
 */
export function packageRoot(directory: string): string | undefined {
  for (let root = directory; root !== dirname(root); root = dirname(root))
    if (manifestOf(root)?.["name"] === "handrail") return root;
  return undefined;
}

/** The absolute path of a file of the running package. @param path from its root */
export function packageFile(path: string): string {
  const root = packageRoot(dirname(fileURLToPath(import.meta.url)));
  assert(root !== undefined, "the program lies in no package of Handrail; install handrail again");
  return join(root, path);
}

/** The version of this package. */
export function handrailVersion(): string {
  return String(manifestOf(packageFile("."))?.["version"] ?? "unknown");
}

/**
 * The command that starts this Handrail from anywhere, and will after an upgrade.
 * @param started how this process was started: the path of its script, as Node names it
 */
export function launchCommand(started: string | undefined): readonly string[] {
  const launcher = packageFile(LAUNCHER);
  if (existsSync(launcher)) return [launcher];
  const command = resolve(started ?? "");
  if (command.includes(NPX_CACHE)) return ["npx", "-y", "handrail"];
  return basename(command) === "handrail" ? [command] : [process.execPath, packageFile(COMPILED_COMMAND)];
}

function manifestOf(directory: string): Record<string, unknown> | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    return typeof manifest === "object" && manifest !== null ? { ...manifest } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
