/**
 * Reads nodes of the syntax tree that the regular expression engine gives.
 *
 * A node in a form that is not known here reads as nothing, and is then not understood.
 */

/** What the engine sees where a file holds other bytes, so that these are not there to be found. */
const STAND_IN = "\ufffd";

/** A node's kind and what belongs to it. */
export interface Part {
  readonly variant: string;
  readonly value: unknown;
}

/** The kind of `node`, and what belongs to it. */
export function partOf(node: unknown): Part {
  const kind = memberOf(node, "kind");
  const variant = memberOf(kind, "@variant");
  return { variant: typeof variant === "string" ? variant : "", value: firstValue(kind) };
}

/** The member `name` of a value, or `undefined`. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** The bytes of a literal. */
export function literalOf(value: unknown): Uint8Array | undefined {
  const bytes = firstValue(value);
  return bytes instanceof Uint8Array ? bytes : undefined;
}

/**
 * The bytes of a literal that stand in the file as well: where the engine sees a stand-in, anything may stand there.
 */
export function literalInFile(value: unknown): Uint8Array | undefined {
  const bytes = literalOf(value);
  return bytes === undefined || Buffer.from(bytes).includes(STAND_IN) ? undefined : bytes;
}

/** First and last character of each range of a class; `undefined` when it is not understood. */
export function rangesOf(value: unknown): readonly (readonly [number, number])[] | undefined {
  const ranges = memberOf(firstValue(value), "ranges");
  if (!Array.isArray(ranges)) return undefined;
  const read: [number, number][] = [];
  for (const range of ranges) {
    const start = codeOf(memberOf(range, "start"));
    const end = codeOf(memberOf(range, "end"));
    if (start === undefined || end === undefined) return undefined;
    read.push([start, end]);
  }
  return read;
}

function firstValue(value: unknown): unknown {
  const values = memberOf(value, "@values");
  return Array.isArray(values) ? values[0] : undefined;
}

function codeOf(bound: unknown): number | undefined {
  return typeof bound === "string" ? bound.codePointAt(0) : typeof bound === "number" ? bound : undefined;
}
