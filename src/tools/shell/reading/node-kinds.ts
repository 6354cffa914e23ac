/** Sorts the kinds of nodes, builtins and dangers that the reader of commands meets. */
import type { CommandDanger } from "../../../model/place/command.ts";

/** What other shells read as something else: `((rm))` are two subshells for them. */
export const BASH_ALONE = new Set<string>([
  ...["ArithmeticCommand", "ArithmeticFor", "TestCommand", "Select", "Coproc", "ProcessSubstitution", "HereString"],
  ...["AnsiCQuoted", "LocaleString", "BraceExpansion", "ArrayValue", "FileDescriptorVariable"],
]);
/** Builtins that change the directory. */
export const MOVES = new Set(["cd", "pushd", "popd"]);

/** Kinds of node that count as a level. */
const LEVELS = new Set<string>(["Script", "CompoundList", "Subshell", "BraceGroup", "Redirected"]);
/** Levels that a kind of node adds. */
export const DEPTHS = { has: (type: string): 0 | 1 => (LEVELS.has(type) ? 1 : 0) };

/** Dangers that are about the named command alone; after any other, more may run than what was found. */
export const BOUNDED: ReadonlySet<CommandDanger> = new Set(["lookalike", "dynamic_binary"]);
