/** The tools that search in files. */
import type { Tool } from "../../model/tool/tool.ts";
import { countMatches } from "./count-matches.ts";
import { searchFile } from "./search-file.ts";

export { countMatches, searchFile };

/** `search_file` and `count_matches`. */
export const searchTools: readonly Tool[] = [searchFile, countMatches];
