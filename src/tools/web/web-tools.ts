/** The tools that reach the web. */
import type { Tool } from "../../model/tool/tool.ts";
import { webFetch } from "./web-fetch.ts";

/** All of them. */
export const webTools: readonly Tool[] = [webFetch as Tool];
