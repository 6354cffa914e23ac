/** Lists the tools that know the workspace as a whole. */
import type { Tool } from "../../model/tool/tool.ts";
import { searchKnowledge } from "./search-knowledge.ts";

/** The tools that know the workspace as a whole. */
export const knowledgeTools: readonly Tool[] = [searchKnowledge];
