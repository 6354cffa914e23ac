/** The marks of a command: its dangers, and which part of it each comes from. */
import type { CommandDanger } from "../../../model/place/command.ts";

/** What marks a command, and why. */
export interface Marks {
  readonly dangers: readonly CommandDanger[];
  readonly reasons: readonly string[];
  /** It gets more arguments at run time. */
  readonly fed: boolean;
}

/** The reasons as a command carries them: absent where there are none. */
export function reasonsOf(reasons: readonly string[]): { readonly reasons?: readonly string[] } {
  return reasons.length === 0 ? {} : { reasons };
}
