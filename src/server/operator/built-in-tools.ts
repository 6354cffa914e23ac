/**
 * The tools of the kernel's own: those that every kernel has, and those that the operator's configuration adds.
 *
 * The second are tools that touch the machine itself, and the one that asks models. The code of any other tool is
 * foreign to the kernel.
 */

import type { TaskSettings } from "../../config/sections/tools/added-tools.ts";
import { type ModelSettings, providersOf } from "../../config/sections/tools/models.ts";
import { type ParsedSystemSettings, systemOf } from "../../config/sections/tools/system.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { artifactTools } from "../../tools/artifact/artifact-tools.ts";
import { branchTools } from "../../tools/branch/branch-tools.ts";
import { controlTools, taskTools } from "../../tools/control/control-tools.ts";
import { editTools } from "../../tools/edit/edit-tools.ts";
import { fileTools } from "../../tools/file/file-tools.ts";
import { gitTools } from "../../tools/git/git-tools.ts";
import { inferenceTools } from "../../tools/inference/inference-tools.ts";
import { knowledgeTools } from "../../tools/knowledge/knowledge-tools.ts";
import { searchTools } from "../../tools/search/search-tools.ts";
import { shell } from "../../tools/shell/shell.ts";
import { structureTools } from "../../tools/structure/structure-tools.ts";
import { systemTools } from "../../tools/system/system-tools.ts";
import { toolchainTools } from "../../tools/toolchain/toolchain-tools.ts";
import { webTools } from "../../tools/web/web-tools.ts";

/** The tools that every kernel has. */
export const BUILT_IN_TOOLS: readonly Tool[] = [
  ...fileTools,
  ...editTools,
  ...searchTools,
  ...knowledgeTools,
  ...structureTools,
  ...artifactTools,
  shell,
  ...toolchainTools,
  ...gitTools,
  ...branchTools,
  ...controlTools,
  ...webTools,
];

const configured = new WeakSet<Tool>();

/** What of the settings switches tools on. */
export interface ToolSettings {
  readonly system?: ParsedSystemSettings | undefined;
  readonly models?: ModelSettings;
  readonly tasks?: TaskSettings | undefined;
}

/** Tools that the settings switch on: those that touch the machine, and the one that asks models. */
export function configuredTools({ system, models = {}, tasks }: ToolSettings): readonly Tool[] {
  const tools = [
    ...(system === undefined ? [] : systemTools(systemOf(system))),
    ...inferenceTools(providersOf(models)),
    ...taskTools(tasks?.directory),
  ];
  for (const tool of tools) configured.add(tool);
  return tools;
}

/** All tools of the kernel's own under `settings`. */
export function ownTools(settings: ToolSettings): readonly Tool[] {
  return [...BUILT_IN_TOOLS, ...configuredTools(settings)];
}

/** A tool of the kernel's own with some members of the embedding program's; its code counts as the kernel's. */
export function variantOf<Arguments>(tool: Tool<Arguments>, members: Partial<Tool<Arguments>>): Tool {
  const variant = { ...tool, ...members } as Tool;
  configured.add(variant);
  return variant;
}

/** Whether the code of `tool`, as its author declared it, is the kernel's own. */
export function isOwnTool(tool: Tool): boolean {
  return BUILT_IN_TOOLS.includes(tool) || configured.has(tool);
}
