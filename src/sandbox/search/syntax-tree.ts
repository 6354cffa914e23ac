/**
 * What can be read off a regular expression's syntax tree: a text that stands in every match, and whether a match can
 * go beyond a line. Both make searching faster and must never change what is found.
 *
 * INVARIANT: what is not understood yields no text, and counts as going beyond a line.
 */

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
/** What the engine sees where a file holds other bytes, so that these are not there to be found. */
const STAND_IN = "\ufffd";
/** Assertions that look no further than the line. */
const LINE_ASSERTIONS = /^(?:(?:Start|End)(?:LF|CRLF)|Word.*)$/;

/** The facts about the tree that the expression's compiler gives. */
export function factsOf(tree: unknown): PatternFacts {
  const required = requiredIn(tree)?.subarray(0, REQUIRED_BYTES_MAX);
  return { ...(required && { required }), withinLine: isWithinLine(tree) };
}

interface Part {
  readonly variant: string;
  readonly value: unknown;
}

/** A node's kind and what belongs to it. */
function partOf(node: unknown): Part {
  const kind = memberOf(node, "kind");
  const values = memberOf(kind, "@values");
  const variant = memberOf(kind, "@variant");
  return { variant: typeof variant === "string" ? variant : "", value: Array.isArray(values) ? values[0] : undefined };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function literalOf(value: unknown): Uint8Array | undefined {
  const values = memberOf(value, "@values");
  const bytes: unknown = Array.isArray(values) ? values[0] : undefined;
  return bytes instanceof Uint8Array ? bytes : undefined;
}

/** The longest text that a match of `node` contains for certain. */
function requiredIn(node: unknown): Uint8Array | undefined {
  const { variant, value } = partOf(node);
  switch (variant) {
    case "Literal": {
      const bytes = literalOf(value);
      return bytes === undefined || Buffer.from(bytes).includes(STAND_IN) ? undefined : bytes;
    }
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
  const values = memberOf(value, "@values");
  const ranges = memberOf(Array.isArray(values) ? values[0] : undefined, "ranges");
  if (!Array.isArray(ranges)) return true;
  return ranges.some((range: unknown) => {
    const start = codeOf(memberOf(range, "start"));
    const end = codeOf(memberOf(range, "end"));
    return start === undefined || end === undefined || (start <= NEWLINE && NEWLINE <= end);
  });
}

function codeOf(bound: unknown): number | undefined {
  return typeof bound === "string" ? bound.codePointAt(0) : typeof bound === "number" ? bound : undefined;
}
