/** Brings components to a kernel; the code that runs them is loaded where there are any. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { NOTHING_PLUGGED, type PluggedTools } from "../plugins/plugged-tools.ts";

/** Tools of the components in the operator's directory. @param tell told of each that is refused */
export async function componentTools(
  operator: OperatorDirectory,
  tell: (message: string) => void,
): Promise<PluggedTools> {
  if (!existsSync(join(operator.path, "components"))) return NOTHING_PLUGGED;
  const { loadComponents } = await import("./load-components.ts");
  return loadComponents(operator, tell);
}
