/**
 * Checks the value of a JSON file of another system, and names every problem with its line and column.
 *
 * Keys that nobody knows are no problem here: such files have more readers than Handrail. They are handed back, so that
 * they can be reported; nothing is dropped silently.
 */
import type * as z from "zod";
import { FileError } from "../../base/errors.ts";
import { parseJson } from "../../base/json-parse.ts";
import { jsonFaultPlace } from "../../text/json-fault.ts";
import type { GateFile } from "./gate-file.ts";
import { placesIn, shortened, type TextPlace } from "./yaml.ts";

/** Problems that one message names; the rest are counted. */
const PROBLEMS_LISTED_MAX = 16;
/** Keys that nobody knows, of one file. */
const UNKNOWN_LISTED_MAX = 64;

/** A key or a value that has no meaning here, and where it stands. */
export interface UnreadKey {
  /** As `scope.colour`. */
  readonly key: string;
  readonly line: number;
  readonly column: number;
}

/** A value that fits its schema, and the keys beside it that nobody knows. */
export interface LocatedValue<T> {
  readonly value: T;
  readonly unknown: readonly UnreadKey[];
  /** Whether there are more of them than are named. */
  readonly hasMore: boolean;
}

/**
 * Parses JSON by a schema whose objects are loose where keys may be unknown.
 * @throws KernelError CONFIG_INVALID naming every problem with its line and column
 */
export async function parseLocated<T extends z.ZodType>(schema: T, file: GateFile): Promise<LocatedValue<z.output<T>>> {
  const { name, text } = file;
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const place = jsonFaultPlace(text);
    throw problemsAt(name, [{ message: parsed.problem, ...(place && { place }) }]);
  }
  const checked = schema.safeParse(parsed.value);
  if (!checked.success) {
    const listed = checked.error.issues.slice(0, PROBLEMS_LISTED_MAX);
    const places = await placesIn(
      text,
      listed.map(({ path }) => plainPath(path)),
    );
    const problems = listed.map(({ path, message, code }, index) => {
      const said = code === "custom" ? message : message.toLowerCase();
      const place = places[index];
      return { message: `${path.join(".") || "file"}: ${said}`, ...(place && { place }) };
    });
    throw problemsAt(name, problems, checked.error.issues.length - listed.length);
  }
  const paths = unknownPaths(schema, parsed.value);
  const shown = paths.slice(0, UNKNOWN_LISTED_MAX);
  const places = shown.length === 0 ? [] : await placesIn(text, shown);
  const unknown = shown.map((path, index) => ({
    key: shortened(path.join(".")),
    ...(places[index] ?? { line: 1, column: 1 }),
  }));
  return { value: checked.data, unknown, hasMore: paths.length > shown.length };
}

/** A problem of a file, with its place where it is known. */
export interface PlacedProblem {
  readonly message: string;
  readonly place?: TextPlace;
}

/** The error that names problems of a file with their lines and columns. */
export function problemsAt(name: string, problems: readonly PlacedProblem[], more = 0): FileError {
  const said = problems.map(({ message, place }) => {
    const short = shortened(message);
    return place === undefined ? short : `line ${place.line}, column ${place.column}: ${short}`;
  });
  const rest = more > 0 ? `; and ${more} more` : "";
  const found = problems.map(({ message, place }) => ({ file: name, message: shortened(message), ...place }));
  return new FileError(`\`${name}\`: ${said.join("; ")}${rest}`, found);
}

/** The paths of members that the schema does not know, down to where nothing is known. */
function unknownPaths(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  const shape = shapeOf(schema);
  if (shape === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    return known === undefined ? [[...path, key]] : unknownPaths(known, member, [...path, key]);
  });
}

/** The members that an object's schema knows, inside of defaults and options. */
function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const { def } = schema._zod as { readonly def: { readonly type: string; readonly innerType?: z.core.$ZodType } };
  if (def.innerType !== undefined) return shapeOf(def.innerType);
  return def.type === "object" ? (def as unknown as { shape: Record<string, z.core.$ZodType> }).shape : undefined;
}

function plainPath(path: readonly PropertyKey[]): readonly (string | number)[] {
  return path.map((part) => (typeof part === "symbol" ? String(part) : part));
}
