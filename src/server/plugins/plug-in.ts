/** Brings plugins to a kernel; the code that loads them is loaded where there are any. */
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import type { PluginSource } from "./load-plugins.ts";
import { NOTHING_PLUGGED, type PluggedTools } from "./plugged-tools.ts";

/** The tools of the plugins that the embedding program gives and the operator names. */
export async function plugIn(operator: OperatorDirectory, given: readonly PluginSource[] = []): Promise<PluggedTools> {
  if (given.length + operator.settings.plugins.length === 0) return NOTHING_PLUGGED;
  const { pluginTools } = await import("./load-plugins.ts");
  return pluginTools(operator, given);
}
