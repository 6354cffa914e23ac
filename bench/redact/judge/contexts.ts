/** The contexts of secrets, of files, command lines and logs together. */
import type { Context } from "./context.ts";
import { COMMANDS } from "./contexts-commands.ts";
import { FILES } from "./contexts-files.ts";
import { LOGS } from "./contexts-logs.ts";

/** All of them. */
export const CONTEXTS: readonly Context[] = [...FILES, ...COMMANDS, ...LOGS];
