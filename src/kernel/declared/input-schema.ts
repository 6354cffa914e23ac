/**
 * JSON Schemas (2020-12) that the operator writes for tools' inputs: compiled once, judged with every call.
 *
 * A schema is read before it is compiled: only keywords that are enforced are accepted, references stay inside and do
 * not lead back to themselves, patterns run on a linear-time engine. Trusts the operator to mean well, not to be
 * careful. INVARIANT: judging an input takes bounded time; one that would take more is not judged, and so is refused.
 */
import type { Ajv2020 } from "ajv/dist/2020.js";
import { configInvalid, type KernelError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

import type { InputConstraint, InputProblem } from "../../model/people/gates.ts";
import { linearPattern } from "./linear-pattern.ts";

/**
 * Subschemas of one JSON Schema, with what its references lead to written out: each may be tried on every value of an
 * input.
 */
const INPUT_SCHEMA_PARTS_MAX = 1024;
/** Nested subschemas: reading them calls itself for each. */
const INPUT_SCHEMA_DEPTH_MAX = 32;
/** Items that may be compared with one another for `uniqueItems`. */
const INPUT_SCHEMA_UNIQUE_ITEMS_MAX = 256;
/**
 * States of patterns times characters that one input may cost: at worst a fifth of a second, because a match cannot be
 * interrupted.
 */
const INPUT_SCHEMA_STEPS_MAX = 4_194_304;

/** Keywords by what stands in them. Whatever is not here is refused: nothing would enforce it. */
const PLAIN = [
  "$schema", "$comment", "title", "description", "default", "examples", "type", "enum", "const", "multipleOf", "maximum",
  "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems",
  "maxContains", "minContains", "maxProperties", "minProperties", "required", "dependentRequired", "$ref",
]; // biome-ignore format: a list of words
const SCHEMA = [
  "not",
  "if",
  "then",
  "else",
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP = ["properties", "patternProperties", "$defs", "dependentSchemas"];
const KINDS = new Map<string, "plain" | "schema" | "list" | "map">([
  ...PLAIN.map((name) => [name, "plain"] as const),
  ...SCHEMA.map((name) => [name, "schema"] as const),
  ...LIST.map((name) => [name, "list"] as const),
  ...MAP.map((name) => [name, "map"] as const),
]);

/**
 * Compiles `schema`; the libraries are loaded with the first one.
 * @param place where it stands, for messages
 * @throws KernelError CONFIG_INVALID when it is not a schema, or could not be judged in bounded time
 */
export async function compileInputSchema(schema: JsonObject, place: string): Promise<InputConstraint> {
  const problem = new SchemaReader(schema).problem();
  if (problem !== undefined) throw refused(place, problem);
  compiler ??= loadCompiler();
  const { ajv, steps } = await compiler;
  let validate: ReturnType<Ajv2020["compile"]>;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    throw refused(place, error instanceof Error ? error.message : String(error), error);
  } finally {
    ajv.removeSchema(schema); // nobody asks for it again, and configurations come and go
  }
  return {
    schema,
    problemOf(input) {
      steps.left = INPUT_SCHEMA_STEPS_MAX;
      try {
        if (validate(input)) return undefined;
      } catch (error) {
        if (error instanceof TooMuch)
          return { kind: "unreadable", message: "the input is too large for the patterns of its schema" };
        throw error;
      }
      return failed(validate.errors?.at(-1));
    },
  };
}

/** The library, and what patterns may still cost the input that is being judged. */
interface Compiler {
  readonly ajv: Ajv2020;
  readonly steps: { left: number };
}

let compiler: Promise<Compiler> | undefined;

async function loadCompiler(): Promise<Compiler> {
  const [{ Ajv2020 }, { RRegex }] = await Promise.all([import("ajv/dist/2020.js"), import("rregex")]);
  const steps = { left: 0 };
  const regExp = Object.assign((pattern: string) => new LinearTest(pattern, RRegex, steps), { code: "linear" });
  const strictness = { strict: true, strictTypes: false, strictRequired: false, strictTuples: false } as const;
  return { ajv: new Ajv2020({ ...strictness, ownProperties: true, logger: false, code: { regExp } }), steps };
}

function refused(place: string, problem: string, cause?: unknown): KernelError {
  return configInvalid(`\`${place}\`: ${problem}`, cause);
}

/** The outermost of what failed; values of the input are not repeated. */
function failed(
  error:
    | {
        readonly instancePath: string;
        readonly message?: string;
        readonly keyword: string;
        readonly params: Record<string, unknown>;
      }
    | undefined,
): InputProblem {
  const where = (error?.instancePath ?? "").replace(/^\//, "").replaceAll("/", ".") || "the input";
  const unknown = error?.params["additionalProperty"] ?? error?.params["unevaluatedProperty"];
  const what =
    typeof unknown === "string"
      ? `must not have the member \`${unknown.slice(0, 64).toWellFormed()}\``
      : (error?.message ?? "does not fit").toLowerCase();
  return { kind: "failed", message: `${where} ${what}`.slice(0, PROBLEM_CHARACTERS_MAX).toWellFormed() };
}

/** The names of an input's members are the agent's, and may be long. */
const PROBLEM_CHARACTERS_MAX = 512;

class TooMuch extends Error {}

/** A pattern on the linear-time engine, in the shape that the validator takes. */
class LinearTest {
  readonly #pattern: string;
  readonly #states: number;
  readonly #engine: { isMatch(text: string): boolean };
  readonly #steps: { left: number };

  constructor(
    pattern: string,
    Engine: new (pattern: string) => { isMatch(text: string): boolean },
    steps: { left: number },
  ) {
    const linear = linearPattern({ source: pattern, flags: "u" });
    if (!linear.ok) throw new Error(`the pattern \`${pattern.slice(0, 64)}\` is refused: ${linear.problem}`);
    this.#pattern = pattern;
    this.#states = linear.states;
    this.#engine = new Engine(linear.text);
    this.#steps = steps;
  }

  test(text: string): boolean {
    this.#steps.left -= this.#states * (text.length + 1);
    if (this.#steps.left < 0 || !text.isWellFormed()) throw new TooMuch();
    return this.#engine.isMatch(text);
  }

  /** Tells patterns apart. */
  toString(): string {
    return `/${this.#pattern}/u`;
  }
}

/** Reads a schema and counts what an input may meet in it. */
class SchemaReader {
  readonly #root: JsonObject;
  /** Parts of what a reference leads to; `undefined` while it is being counted. */
  readonly #targets = new Map<string, number | undefined>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  problem(): string | undefined {
    try {
      const parts = this.#count(this.#root, "", 0);
      return parts > INPUT_SCHEMA_PARTS_MAX
        ? `stands for ${parts} subschemas, of which ${INPUT_SCHEMA_PARTS_MAX} are accepted`
        : undefined;
    } catch (error) {
      if (error instanceof Unusable) return error.message;
      throw error;
    }
  }

  #count(schema: JsonValue | undefined, at: string, depth: number): number {
    if (typeof schema === "boolean") return 1;
    if (!isJsonObject(schema))
      throw new Unusable(`${at || "the schema"}: must be a schema, which is an object, true or false`);
    if (depth > INPUT_SCHEMA_DEPTH_MAX)
      throw new Unusable(`${at}: subschemas nest more than ${INPUT_SCHEMA_DEPTH_MAX} deep`);
    let parts = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      const here = at === "" ? keyword : `${at}.${keyword}`;
      const kind = KINDS.get(keyword);
      if (kind === undefined) throw new Unusable(`${here}: the keyword is not accepted; nothing would enforce it`);
      if (keyword === "$ref") parts += this.#countTarget(value, here, depth);
      for (const [name, child] of childrenOf(kind, value))
        parts += this.#count(child, name === "" ? here : `${here}.${name}`, depth + 1);
    }
    const { uniqueItems, maxItems } = schema;
    if (uniqueItems === true && !(typeof maxItems === "number" && maxItems <= INPUT_SCHEMA_UNIQUE_ITEMS_MAX))
      throw new Unusable(
        `${at === "" ? "" : `${at}.`}uniqueItems: needs \`maxItems\` of at most ${INPUT_SCHEMA_UNIQUE_ITEMS_MAX} beside it`,
      );
    return Math.min(parts, Number.MAX_SAFE_INTEGER);
  }

  #countTarget(reference: JsonValue | undefined, at: string, depth: number): number {
    if (typeof reference !== "string" || !/^#\/\$defs\/[A-Za-z0-9_-]+$/.test(reference))
      throw new Unusable(`${at}: only references such as \`#/$defs/name\` are accepted`);
    if (this.#targets.has(reference)) {
      const known = this.#targets.get(reference);
      if (known === undefined) throw new Unusable(`${at}: leads back to itself; write it out as deep as it may go`);
      return known;
    }
    const definitions = this.#root["$defs"];
    const name = reference.slice("#/$defs/".length);
    const target = isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    if (target === undefined) throw new Unusable(`${at}: there is no \`${reference}\``);
    this.#targets.set(reference, undefined);
    const parts = this.#count(target, reference, depth + 1);
    this.#targets.set(reference, parts);
    return parts;
  }
}

class Unusable extends Error {}

function childrenOf(
  kind: "plain" | "schema" | "list" | "map",
  value: JsonValue | undefined,
): Iterable<readonly [string, JsonValue | undefined]> {
  if (kind === "schema") return [["", value]];
  if (kind === "list" && Array.isArray(value))
    return value.map((child: JsonValue, index) => [String(index), child] as const);
  if (kind === "map" && isJsonObject(value)) return Object.entries(value);
  return [];
}
