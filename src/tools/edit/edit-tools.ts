/** The tools that change a part of a file. */
import type { Tool } from "../../model/tool/tool.ts";
import { editFile } from "./edit-file.ts";

export { editFile };

/** `edit_file`. */
export const editTools: readonly Tool[] = [editFile];
