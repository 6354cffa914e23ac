/**
 * Bytes handed to the regular expression engine as they are. The engine's own way in takes a text and copies it
 * character by character, which takes as long as searching it.
 *
 * Trusts what the engine's module exports for its own JavaScript: package.json names its version exactly for that
 * reason, and a property test compares what is found with the engine's own way. INVARIANT: the engine never gets bytes
 * that are not UTF-8, which it takes for granted.
 */
import { isUtf8 } from "node:buffer";
import type { RRegex } from "rregex";
import { assert } from "../../../base/errors.ts";

/** A match, in bytes. */
export interface EngineMatch {
  readonly start: number;
  readonly end: number;
}

type OfNumbers = (...numbers: number[]) => unknown;

/** The engine's module, as far as it is used. */
export interface EngineModule {
  /** Another buffer whenever it has grown. */
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Values that the engine made, by number. */
  readonly values: { readonly get: (number: number) => unknown };
  readonly allocate: OfNumbers;
  /** Takes an expression, and the place and length of bytes, which it frees. */
  readonly findAll: OfNumbers;
  readonly forget: OfNumbers;
}

/** Its members, by the names that they have in this version. */
const MEMBERS = {
  memory: "memory",
  values: "__wbindgen_export_2",
  allocate: "__wbindgen_malloc",
  findAll: "rregex_findAll",
  forget: "__externref_table_dealloc",
} as const;

/** The module behind the engine's JavaScript. @throws Error when it is not the one that is known here */
export function engineModule(engine: object): EngineModule {
  const exported: unknown = Reflect.get(engine, "__wasm");
  assert(typeof exported === "object" && exported !== null, "the regular expression engine does not show its module");
  const members = Object.entries(MEMBERS).map(([member, name]) => [member, Reflect.get(exported, name)] as const);
  for (const [member, value] of members)
    assert(value !== undefined, `the regular expression engine lacks what is \`${member}\` here`);
  return Object.fromEntries(members) as unknown as EngineModule;
}

let view = new Uint8Array();

/**
 * All matches of `regex` in `bytes`, as its own `findAll` lists them for the same text. @throws Error when they are not
 * UTF-8
 */
export function findAllIn(module: EngineModule, regex: RRegex, bytes: Uint8Array): readonly EngineMatch[] {
  assert(isUtf8(bytes), "bytes that are not UTF-8 reached the regular expression engine");
  const expression: unknown = Reflect.get(regex, "__wbg_ptr");
  assert(typeof expression === "number" && expression !== 0, "an expression was used after it was freed");
  const at = numberOf(module.allocate(bytes.byteLength, 1)) >>> 0;
  if (view.buffer !== module.memory.buffer) view = new Uint8Array(module.memory.buffer);
  view.set(bytes, at);
  const answer = module.findAll(expression, at, bytes.byteLength);
  assert(Array.isArray(answer), "the regular expression engine gave no answer");
  const [list, problem, failed]: readonly unknown[] = answer;
  const value: unknown = taken(module, numberOf(failed === 0 ? list : problem));
  if (failed !== 0 || !Array.isArray(value)) throw new Error("the regular expression engine failed", { cause: value });
  return value as readonly EngineMatch[];
}

function taken({ values, forget }: EngineModule, number: number): unknown {
  const value: unknown = values.get(number);
  forget(number);
  return value;
}

function numberOf(value: unknown): number {
  assert(typeof value === "number", "the regular expression engine gave no number");
  return value;
}
