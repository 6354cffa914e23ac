/** Components written in WebAssembly's text format, for tests of what no toolchain would build. */
import { readFileSync } from "node:fs";
import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco-transpile/wasm-tools";

const WIT = readFileSync(new URL("../../wit/tool.wit", import.meta.url), "utf8");

/** What a component is made of; what is absent is harmless. */
export interface WatComponent {
  readonly name?: string;
  readonly description?: string;
  /** JSON. */
  readonly schema?: string;
  /** Body of `execute`: locals `$at` and `$size` are the arguments; it leaves where its answer stands. */
  readonly execute?: string;
  /** Body of `name`, in place of the text. */
  readonly naming?: string;
  /** Further fields of the module; imports come first. */
  readonly imports?: string;
  readonly fields?: string;
  /** Pages of memory at the beginning. */
  readonly pages?: number;
  /** The world, by default without imports; and another WIT. */
  readonly world?: string;
  readonly wit?: string;
}

/** A schema that takes any `word`. */
export const WORD_SCHEMA = '{"type":"object","properties":{"word":{"type":"string"}},"additionalProperties":false}';

const PLACES = { name: 1024, description: 2048, schema: 8192 };
/** Where the answer of a call stands; the heap begins behind the first page. */
const ANSWER = 512;

/** The component. */
export async function watComponent(wish: WatComponent): Promise<Uint8Array> {
  const texts = {
    name: wish.name ?? "hostile",
    description: wish.description ?? "Does what it wants.",
    schema: wish.schema ?? WORD_SCHEMA,
  };
  const data = Object.entries(texts).map(
    ([key, text]) => `(data (i32.const ${PLACES[key as keyof typeof PLACES]}) "${escaped(Buffer.from(text))}")`,
  );
  const said = (key: keyof typeof PLACES, at: number) =>
    `(i32.store (i32.const ${at}) (i32.const ${PLACES[key]}))` +
    `(i32.store (i32.const ${at + 4}) (i32.const ${Buffer.byteLength(texts[key])})) (i32.const ${at})`;
  const module = `(module
  ${wish.imports ?? ""}
  (memory (export "memory") ${wish.pages ?? 2})
  (global $next (mut i32) (i32.const 65536))
  ${wish.fields ?? ""}
  ${data.join("\n  ")}
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "name") (result i32) ${wish.naming ?? said("name", 0)})
  (func (export "description") (result i32) ${said("description", 16)})
  (func (export "input-schema") (result i32) ${said("schema", 32)})
  (func (export "execute") (param $at i32) (param $size i32) (result i32) ${wish.execute ?? answers("ok")})
)`;
  const core = await parse(module);
  const embedded = await componentEmbed({
    binary: core,
    witSource: wish.wit ?? WIT,
    world: wish.world ?? "pure-tool",
  } as never);
  return componentNew(embedded);
}

/** Code that answers a text of at most 256 bytes. */
export function answers(text: string): string {
  const bytes = Buffer.from(text);
  const stores = [...bytes].map((byte, index) => `(i32.store8 (i32.const ${256 + index}) (i32.const ${byte}))`);
  return `${stores.join("")} ${answersAt("(i32.const 256)", `(i32.const ${bytes.length})`)}`;
}

/** Code that answers the text at `at` with `size` bytes. */
export function answersAt(at: string, size: string): string {
  return `(i32.store (i32.const ${ANSWER}) (i32.const 0))
    (i32.store (i32.const ${ANSWER + 4}) ${at}) (i32.store (i32.const ${ANSWER + 8}) ${size}) (i32.const ${ANSWER})`;
}

/** Code that answers its arguments. */
export const ECHO = answersAt("(local.get $at)", "(local.get $size)");

function escaped(bytes: Buffer): string {
  return [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
}
