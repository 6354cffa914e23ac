/** The tools that touch the machine itself, as far as the operator switches them on. */

import type { Tool } from "../../model/tool/tool.ts";
import type { SystemSettings } from "../../model/work/system.ts";
import { installPackage } from "./install-package.ts";
import { migrateConfig } from "./migrate-config.ts";
import { systemCtl } from "./system-ctl.ts";
import { verifyBinary } from "./verify-binary.ts";

/**
 * Those that have something to work on under `settings`: their schemas name nothing that the operator does not list.
 */
export function systemTools(settings: SystemSettings): readonly Tool[] {
  const tools = [installPackage(settings), verifyBinary(settings), systemCtl(settings), migrateConfig(settings)];
  return tools.filter((tool) => tool !== undefined) as readonly Tool[];
}
