/**
 * Detects shell texts that bash 5.2 reads twice.
 *
 * Bash prints what stands in `$(…)` and `<(…)` from its syntax tree, and runs what it printed.
 *
 * INVARIANT: what bash is known to print as something else counts as misprinted: a coprocess of a simple command gets
 * the word `COPROC` before it, and what follows a here-document loses its separators. Backquotes are kept as they are
 * written.
 */
import type { ParsedScript, SyntaxNode } from "unbash";

/** Whether a text is printed and read again; `plain` where that is one simple command and nothing else. */
export type Reprinted = "no" | "plain" | "yes";

/** How what stands inside of `node` is read. */
export function reprintedIn(node: SyntaxNode, outer: Reprinted): Reprinted {
  if (!isSubstitution(node)) return outer === "plain" ? "yes" : outer;
  if (node.text.startsWith("`")) return "no";
  return isOneCommand(node.script) ? "plain" : "yes";
}

/** Whether bash prints `node` as something else than it read, or cannot read it before 5.3: `${ a; }`. */
export function isMisprinted(node: SyntaxNode, reprinted: Reprinted): boolean {
  if (isSubstitution(node)) return node.text.startsWith("${");
  if (node.type === "Coproc") return reprinted !== "no";
  return node.type === "HereDoc" && reprinted === "yes";
}

function isSubstitution(node: SyntaxNode) {
  return (
    node.type === "CommandExpansion" ||
    node.type === "ArithmeticCommandExpansion" ||
    node.type === "ProcessSubstitution"
  );
}

function isOneCommand(script: ParsedScript | undefined): boolean {
  const [statement, ...more] = script?.commands ?? [];
  return more.length === 0 && statement?.background !== true && statement?.command.type === "Command";
}
