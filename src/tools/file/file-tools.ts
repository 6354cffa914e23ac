/** The tools for whole files and directories. */
import type { Tool } from "../../model/tool.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

export { listFiles, readFile, writeFile };

/** `read_file`, `write_file` and `list_files`. */
export const fileTools: readonly Tool[] = [readFile, writeFile, listFiles];
