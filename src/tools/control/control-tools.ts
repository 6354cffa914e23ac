/** Lists the tools by which agents steer their own work: the end of a turn, tasks for others. */
import type { Tool } from "../../model/tool/tool.ts";
import { createTask } from "./create-task.ts";
import { done } from "./done.ts";

/** The tools that every kernel has. */
export const controlTools: readonly Tool[] = [done];

/** The tools that need to know where tasks are kept: none where the operator does not say it. */
export function taskTools(directory: string | undefined): readonly Tool[] {
  return directory === undefined ? [] : [createTask(directory) as Tool];
}
