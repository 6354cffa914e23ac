/**
 * Lists the tools that a configuration has, for whoever judges it without a kernel.
 *
 * These are the kernel's own, and the upstream tools as a person approved them: no server is started.
 */
import { existsSync } from "node:fs";
import type { Tool } from "../../model/tool/tool.ts";
import { ownTools } from "../operator/built-in-tools.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { upstreamDirectory } from "./records/upstream-files.ts";

/** The tools. @throws KernelError CONFIG_INVALID where the file of a server is not valid */
export async function knownTools(operator: OperatorDirectory): Promise<readonly Tool[]> {
  const own = ownTools(operator.settings);
  if (!existsSync(upstreamDirectory(operator.path))) return own;
  const { Upstreams } = await import("./upstreams.ts");
  const nothing = { operator: () => operator, broker: async () => undefined, record: () => undefined };
  const places = { operatorPath: operator.path, stateDirectory: "", hidden: [], means: nothing };
  const { tools } = await Upstreams.open({ ...places, listMax: operator.settings.upstream.list_max });
  return [...own, ...tools];
}
