/** Writes a file of policies or examples into the operator's directory. */
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { configInvalid } from "../../base/errors.ts";
import { writeNewFile } from "../../stores/embedded/state/own-file.ts";

/** Writes it. @param file relative to the operator's directory @throws KernelError CONFIG_INVALID */
export async function writePolicyFile(operatorPath: string, file: string, text: string): Promise<void> {
  const path = join(operatorPath, file);
  try {
    await mkdir(join(operatorPath, "policy"), { mode: 0o700, recursive: true });
    // A file that is read while it is written would be an invalid policy, and refuse every call: it comes by one step.
    await writeNewFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch (cause) {
    throw configInvalid(
      `the permit cannot be written to \`${path}\`; look whether a \`.new\` file is left there`,
      cause,
    );
  }
}
