// The completion scripts of bash, zsh and fish, as `handrail completion` writes them.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

/** Each script's name is the one by which its shell finds it. */
const SCRIPTS = { bash: "handrail.bash", zsh: "_handrail", fish: "handrail.fish" };

/**
 * The scripts by their names.
 *
 * @param {string} root
 * @returns {[string, string][]}
 * @throws {Error} when the command line does not write one
 */
export function completionScripts(root) {
  return Object.entries(SCRIPTS).map(([shell, name]) => {
    const words = ["--disable-warning=ExperimentalWarning", join(root, "src/cli/main.ts"), "completion", shell];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
    if (status !== 0) throw new Error(`handrail completion ${shell} failed: ${stderr}`);
    return [name, stdout];
  });
}
