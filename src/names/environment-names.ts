/**
 * Lists the environment variables that nobody may set for a command.
 *
 * They are refused because they decide which code a program loads or runs.
 *
 * INVARIANT: names are compared without regard to case, so that programs that ignore case are covered too.
 */

import { REFUSED_NAMES, REFUSED_PREFIXES } from "./refused-environment.ts";

/** What a name of an environment variable looks like; others would reach a shell as something else. */
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether `name` may not be set for a command. */
export function isRefusedEnvironmentName(name: string): boolean {
  if (!ENVIRONMENT_NAME.test(name)) return true;
  const upper = name.toUpperCase();
  return REFUSED_NAMES.has(upper) || REFUSED_PREFIXES.some((prefix) => upper.startsWith(prefix));
}
