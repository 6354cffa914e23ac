/**
 * Compiles the operator's patterns that short texts have to match as a whole.
 *
 * They run on the engine whose time is linear in the text.
 *
 * INVARIANT: a text that cannot be tried does not match.
 */
import { configInvalid } from "../../base/errors.ts";

import type { WholePattern } from "../../names/whole-pattern.ts";
import { type LinearPattern, linearPattern } from "./linear-pattern.ts";

/** Characters of a text that an operator's pattern for names and first lines is tried on. */
const WHOLE_PATTERN_TEXT_CHARACTERS_MAX = 1024;
/** Patterns for names and first lines that are kept ready. */
const WHOLE_PATTERNS_KEPT_MAX = 256;

/** Why `source` cannot be tried in linear time; `undefined` when it can. */
export function problemOfWholePattern(source: string): string | undefined {
  const linear = linearOf(source);
  return linear.ok ? undefined : linear.problem;
}

// The engine keeps what it has compiled, and workspaces are opened again and again.
const kept = new Map<string, Promise<WholePattern>>();

/**
 * The pattern `source`, ready to be tried. The engine is loaded with the first.
 * @throws KernelError CONFIG_INVALID when it cannot be tried in linear time
 */
export function compileWholePattern(source: string): Promise<WholePattern> {
  const known = kept.get(source);
  if (known !== undefined) return known;
  if (kept.size >= WHOLE_PATTERNS_KEPT_MAX) kept.clear();
  const compiled = compile(source);
  kept.set(source, compiled);
  compiled.catch(() => kept.delete(source)); // whoever asked for it is told
  return compiled;
}

async function compile(source: string): Promise<WholePattern> {
  const linear = linearOf(source);
  if (!linear.ok) throw configInvalid(`the pattern \`${source.slice(0, 64)}\` is refused: ${linear.problem}`);
  const { RRegex } = await import("rregex");
  const engine = new RRegex(linear.text);
  return {
    source,
    matches: (text) => text.length <= WHOLE_PATTERN_TEXT_CHARACTERS_MAX && text.isWellFormed() && engine.isMatch(text),
  };
}

function linearOf(source: string): LinearPattern {
  return linearPattern({ source: `^(?:${source})$`, flags: "u" });
}
