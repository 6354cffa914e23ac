/** The tools for whole files and directories. */
import type { Tool } from "../../model/tool/tool.ts";
import { deleteFile } from "./delete-file.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

export { deleteFile, listFiles, readFile, writeFile };

/** `read_file`, `write_file`, `list_files` and `delete_file`. */
export const fileTools: readonly Tool[] = [readFile, writeFile, listFiles, deleteFile];
