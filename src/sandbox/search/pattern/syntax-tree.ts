/**
 * Reads facts about every match from a regular expression's syntax tree.
 *
 * The facts are a text that stands in every match, and whether a match can go beyond a line. Both make searching faster
 * and must never change what is found.
 *
 * INVARIANT: what is not understood yields no text, and counts as going beyond a line.
 */
import { literalInFile, literalOf, memberOf, partOf, rangesOf } from "./tree-nodes.ts";

/** What every match has in common. */
export interface PatternFacts {
  /** Bytes that every match contains. */
  readonly required?: Uint8Array;
  /** No match contains a line feed, and none depends on text beyond its line. */
  readonly withinLine: boolean;
}

/** Longer texts rule out no more files, and looking for them could take longer. */
const REQUIRED_BYTES_MAX = 32;
const NEWLINE = 10;
/** Assertions that look no further than the line. */
const LINE_ASSERTIONS = /^(?:(?:Start|End)(?:LF|CRLF)|Word.*)$/;

/** The facts about the tree that the expression's compiler gives. */
export function factsOf(tree: unknown): PatternFacts {
  const required = requiredIn(tree)?.subarray(0, REQUIRED_BYTES_MAX);
  return { ...(required && { required }), withinLine: isWithinLine(tree) };
}

/** The longest text that a match of `node` contains for certain. */
function requiredIn(node: unknown): Uint8Array | undefined {
  const { variant, value } = partOf(node);
  switch (variant) {
    case "Literal":
      return literalInFile(value);
    case "Capture":
      return requiredIn(memberOf(value, "sub"));
    case "Repetition": {
      const min = memberOf(value, "min");
      return typeof min === "number" && min >= 1 ? requiredIn(memberOf(value, "sub")) : undefined;
    }
    case "Concat": {
      let longest: Uint8Array | undefined;
      for (const part of Array.isArray(value) ? value : []) {
        const found = requiredIn(part);
        if (found && found.byteLength > (longest?.byteLength ?? 0)) longest = found;
      }
      return longest;
    }
    default:
      return undefined;
  }
}

function isWithinLine(node: unknown): boolean {
  const { variant, value } = partOf(node);
  switch (variant) {
    case "Empty":
      return true;
    case "Literal":
      return literalOf(value)?.includes(NEWLINE) === false;
    case "Look": {
      const assertion = memberOf(value, "@variant");
      return typeof assertion === "string" && LINE_ASSERTIONS.test(assertion);
    }
    case "Class":
      return !classHasNewline(value);
    case "Capture":
    case "Repetition":
      return isWithinLine(memberOf(value, "sub"));
    case "Concat":
    case "Alternation":
      return Array.isArray(value) && value.every(isWithinLine);
    default:
      return false;
  }
}

function classHasNewline(value: unknown): boolean {
  return rangesOf(value)?.some(([start, end]) => start <= NEWLINE && NEWLINE <= end) ?? true;
}
