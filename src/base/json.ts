/**
 * Defines JSON values and prints their canonical form (RFC 8785).
 *
 * In that form members are sorted by UTF-16 code units, numbers are printed as ECMAScript prints them, and there is no
 * white space. Equal values have equal bytes, so digests of them can be compared.
 */
import { KernelError } from "./errors.ts";
import { NESTING_DEPTH_MAX } from "./limits.ts";
import { Shapes } from "./shapes.ts";

/** Up to this length looking for escapes is cheaper than escaping. */
const PLAIN_LENGTH_MAX = 256;

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object. A member that is `undefined` is absent. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}

/** Whether `value` is a plain JSON object (no array, no null). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` consists of more than `max` values, itself included; looks at no more of it than it must. */
export function hasMoreJsonValues(value: unknown, max: number): boolean {
  const open: unknown[] = [value];
  let found = 1;
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const members: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    found += members.length;
    if (found > max) return true;
    for (const member of members) open.push(member);
  }
  return false;
}

/**
 * The canonical text of `value` (RFC 8785).
 * @throws KernelError INTERNAL for a lone surrogate, a number that is not finite, or nesting beyond the limit
 */
export function canonicalJson(value: JsonValue, depth = 0): string {
  if (depth > NESTING_DEPTH_MAX) throw new KernelError("INTERNAL", "value is nested too deeply to canonicalise");
  if (typeof value === "string") return canonicalString(value);
  if (typeof value === "number") return canonicalNumber(value);
  if (value === null || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? canonicalArray(value, depth + 1) : canonicalObject(value as JsonObject, depth + 1);
}

function canonicalArray(values: readonly JsonValue[], depth: number): string {
  let text = "[";
  for (let at = 0; at < values.length; at += 1) {
    if (at > 0) text += ",";
    text += canonicalJson(values[at] as JsonValue, depth);
  }
  return `${text}]`;
}

/** How the members of an object are printed. */
interface MemberOrder {
  /** Their places in the object, ascending by name. */
  readonly places: readonly number[];
  /**
   * For each of them what stands before its value: `{"name":` where it is the first that is printed, else `,"name":`.
   */
  readonly first: readonly string[];
  readonly next: readonly string[];
}

const orders = new Shapes<MemberOrder>();

function orderOf(names: readonly string[]): MemberOrder {
  const sorted = [...names].sort();
  const printed = sorted.map(canonicalString);
  return {
    places: sorted.map((name) => names.indexOf(name)),
    first: printed.map((name) => `{${name}:`),
    next: printed.map((name) => `,${name}:`),
  };
}

function canonicalObject(value: JsonObject, depth: number): string {
  const names = Object.keys(value);
  const order = orders.of(names, orderOf);
  if (order !== undefined) return inOrder(Object.values(value), order, depth);
  let text = "{";
  for (const name of names.sort()) {
    const member = value[name];
    if (member === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${canonicalString(name)}:${canonicalJson(member, depth)}`;
  }
  return `${text}}`;
}

function inOrder(
  members: readonly (JsonValue | undefined)[],
  { places, first, next }: MemberOrder,
  depth: number,
): string {
  let text = "";
  for (let at = 0; at < places.length; at += 1) {
    const member = members[places[at] as number];
    if (member === undefined) continue;
    text += ((text === "" ? first : next)[at] as string) + canonicalJson(member, depth);
  }
  return text === "" ? "{}" : `${text}}`;
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new KernelError("INTERNAL", "a number that is not finite has no canonical form");
  const thousandths = Math.round(value * 1000);
  if (value > 0 && value < THOUSANDTHS_BELOW && thousandths / 1000 === value) return inThousandths(thousandths);
  return String(value); // of a negative zero too: 0
}

/** Far below what is exact, so that a number of so many digits has no shorter form. */
const THOUSANDTHS_BELOW = 1_000_000;

/** What stands behind the whole number, as `.5`, by thousandths; made when it is needed. */
const fractions = new Array<string | undefined>(1000).fill(undefined);

/**
 * Durations have three decimals. Put together it costs less than by the engine, which looks for the shortest form, or
 * for the number in a large cache.
 */
function inThousandths(thousandths: number): string {
  const rest = thousandths % 1000;
  fractions[rest] ??= rest === 0 ? "" : String(rest / 1000).slice(1);
  return `${(thousandths - rest) / 1000}${fractions[rest]}`;
}

/** Printable ASCII without quote and backslash: it needs no escape, and is well formed. */
const PLAIN = /^[ !#-[\]-~]*$/;

function canonicalString(value: string): string {
  if (value.length < PLAIN_LENGTH_MAX && PLAIN.test(value)) return `"${value}"`;
  if (!value.isWellFormed()) throw new KernelError("INTERNAL", "text with a lone surrogate has no canonical form");
  return JSON.stringify(value);
}
