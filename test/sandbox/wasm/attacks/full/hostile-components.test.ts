/** Components that attack who runs them: each is refused or ends alone, and a control shows what it would have done. */
import { setTimeout as wait } from "node:timers/promises";
import { $init, generate } from "@bytecodealliance/jco-transpile/component";
import { describe, expect, onTestFinished, test } from "vitest";
import { ToolFailure } from "../../../../../src/model/outcome/failure.ts";
import { Component } from "../../../../../src/sandbox/wasm/component.ts";
import type { ComponentLimits } from "../../../../../src/sandbox/wasm/component-messages.ts";
import { answers, answersAt, ECHO, type WatComponent, watComponent } from "../../../../support/wat-component.ts";

const LIMITS: ComponentLimits = { timeMs: 60_000, memoryBytes: 4_194_304, outputBytes: 100_000 };
const NO_FILES = new Map<string, Uint8Array | string>();
/** A call's own limit, beyond whatever a slow machine needs. */
const patience = () => AbortSignal.timeout(60_000);

/** A component under limits; `call` gives it a text as its arguments. */
async function limited(wish: WatComponent, limits: Partial<ComponentLimits> = {}, readsFiles = false) {
  const component = await Component.load(await watComponent(wish), { ...LIMITS, ...limits }, readsFiles);
  onTestFinished(() => component.retire());
  const call = (args: string, files = NO_FILES, signal = patience()) => component.execute(args, files, signal);
  return { component, call };
}

interface Exports {
  readonly execute: (args: string) => string;
}
type Instantiate = (core: (name: string) => object | undefined, imports: object, make?: unknown) => Exports;

/** What the component does where nobody limits it: as the transpiler makes it, with whatever it imports. */
async function unlimited(wish: WatComponent, imports: object = {}): Promise<Exports> {
  await $init;
  const { files } = generate(await watComponent(wish), {
    name: "tool",
    noTypescript: true,
    instantiation: { tag: "sync" },
    noNodejsCompat: true,
    base64Cutoff: 0,
  });
  const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } };
  const modules = new Map(files.map(([name, bytes]) => [name, bytes]));
  const glue = Buffer.from(modules.get("tool.js") ?? new Uint8Array()).toString("base64");
  const { instantiate } = (await import(`data:text/javascript;base64,${glue}`)) as { instantiate: Instantiate };
  const core = (name: string) => {
    const bytes = modules.get(name);
    return bytes && new WebAssembly.Module(bytes);
  };
  return instantiate(core, imports);
}

/** Fewer arguments than these bytes, and the component behaves. */
const WRONG = `{"word":"${"x".repeat(40)}"}`;
const FINE = '{"word":"fine"}';
/** Does `attack` for long arguments, and answers short ones. */
const whenWrong = (attack: string) =>
  `(if (result i32) (i32.gt_u (local.get $size) (i32.const 30)) (then ${attack}) (else ${ECHO}))`;

describe("imports", () => {
  const OUTSIDE =
    "package handrail:tool@0.1.0;\ninterface door { open: func() -> string; }\nworld hostile { import door;";
  const WORLD = `export name: func() -> string; export description: func() -> string; export input-schema: func() -> string;
export execute: func(args: string) -> result<string, string>; }`;
  const opening: WatComponent = {
    wit: `${OUTSIDE}\n${WORLD}`,
    world: "hostile",
    imports: '(import "handrail:tool/door@0.1.0" "open" (func $open (param i32)))',
    execute: `(call $open (i32.const 600)) ${answersAt("(i32.load (i32.const 600))", "(i32.load (i32.const 604))")}`,
  };

  test("one that is not granted is refused before anything runs", async () => {
    await expect(limited(opening)).rejects.toThrow("it imports `handrail:tool/door`, which is not granted");
  }, 60_000);

  test("control: whoever hands over what it imports is reached by it", async () => {
    const { execute } = await unlimited(opening, { "handrail:tool/door": { open: () => "from outside" } });
    expect(execute(FINE)).toBe("from outside");
  }, 60_000);

  const reading: WatComponent = {
    world: "reading-tool",
    imports: '(import "handrail:tool/files@0.1.0" "read" (func $read (param i32 i32 i32)))',
    // reads the file that is named `a`; its answer has the same form as that of the component
    fields: '(data (i32.const 700) "a")',
    execute: `(call $read (i32.const 700) (i32.const 1) (i32.const 512)) (i32.const 512)`,
  };

  test("files are granted by `path_arguments` alone, and only those that a call names", async () => {
    await expect(limited(reading)).rejects.toThrow("name the arguments that are paths in `path_arguments`");
    const { call } = await limited(reading, {}, true);
    expect(await call(FINE, new Map([["a", Buffer.from("its bytes")]]))).toBe("its bytes");
    await expect(call(FINE, new Map([["b", Buffer.from("others")]]))).rejects.toThrow("no argument of this call");
  }, 60_000);

  test("an import of another version is another import", async () => {
    const { readFileSync } = await import("node:fs");
    const wit = readFileSync(new URL("../../../../../wit/tool.wit", import.meta.url), "utf8");
    const later = {
      ...reading,
      wit: wit.replace("@0.1.0", "@0.2.0"),
      imports: reading.imports?.replace("@0.1.0", "@0.2.0") ?? "",
    };
    await expect(limited(later, {}, true)).rejects.toThrow("build it for `handrail:tool/files@0.1.0`");
  }, 60_000);

  test("names of a core module that would end a text of the generated code are refused; plain ones are not", async () => {
    const named = (name: string): WatComponent => ({ fields: `(func (export "${name}"))` });
    await expect(limited(named("a'+b+'"))).rejects.toThrow("quotes or control characters");
    await expect(limited(named("plain"))).resolves.toBeDefined();
  }, 60_000);
});

describe("time", () => {
  const looping: WatComponent = { execute: whenWrong("(loop $again (br $again)) unreachable") };

  test("a loop is ended by its limit, other calls go on beside it, and the next one gets another thread", async () => {
    const { call } = await limited(looping, { timeMs: 3_000 });
    await call(FINE);
    const began = performance.now();
    const [looped, fine] = await Promise.allSettled([call(WRONG), call(FINE)]);
    expect(looped).toMatchObject({ status: "rejected", reason: { code: "TIMEOUT" } });
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(fine).toMatchObject({ status: "fulfilled", value: FINE });
    expect(await call(FINE)).toBe(FINE);
  }, 60_000);

  test("control: with a long limit it loops on, until its call is cancelled", async () => {
    const { call } = await limited(looping);
    await call(FINE);
    const abort = new AbortController();
    const looped = call(WRONG, NO_FILES, abort.signal).then(
      () => "answered",
      () => "ended",
    );
    expect(await Promise.race([looped, wait(4_000, "loops")])).toBe("loops");
    abort.abort();
    expect(await looped).toBe("ended");
  }, 60_000);

  test("one that loops while it is asked for its name is refused, and holds nobody up for longer than a call", async () => {
    const began = performance.now();
    await expect(limited({ naming: "(loop $again (br $again)) unreachable" }, { timeMs: 500 })).rejects.toThrow(
      "takes too long",
    );
    expect(performance.now() - began).toBeLessThan(25_000);
  }, 60_000);
});

/** Grows its memory by 1 MiB at a time, up to `pages`, and answers how many it has, in five digits. */
function growing(pages: number): WatComponent {
  const digit = (index: number) =>
    `(i32.store8 (i32.const ${256 + index}) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (memory.size) (i32.const ${10 ** (4 - index)})) (i32.const 10))))`;
  return {
    execute: `(block $full (loop $again
      (br_if $full (i32.ge_u (memory.size) (i32.const ${pages})))
      (br_if $full (i32.eq (memory.grow (i32.const 16)) (i32.const -1)))
      (br $again)))
      ${[0, 1, 2, 3, 4].map(digit).join("")} ${answersAt("(i32.const 256)", "(i32.const 5)")}`,
  };
}

describe("memory", () => {
  test("it grows to the limit and no further", async () => {
    const { call } = await limited(growing(2_000));
    expect(Number(await call(FINE))).toBeLessThanOrEqual(LIMITS.memoryBytes / 65_536);
  }, 60_000);

  test("control: without the limit it grows to what it wants, here 125 MiB", async () => {
    expect(Number((await unlimited(growing(2_000))).execute(FINE))).toBeGreaterThanOrEqual(2_000);
  }, 60_000);

  test("one that begins with more than it may have is refused", async () => {
    await expect(limited({ pages: 100 })).rejects.toThrow("raise `memory_bytes`");
    await expect(limited({ pages: 100 }, { memoryBytes: 8_388_608 })).resolves.toBeDefined();
  }, 60_000);
});

/** Fills what is no linear memory: tables, and the collected heap; the code must stop by itself in the control. */
const GROWING_ELSEWHERE: readonly (readonly [string, string, string])[] = [
  [
    "tables",
    "(table $all 0 funcref)",
    "(loop $again (br_if $again (i32.ne (table.grow $all (ref.null func) (i32.const 100000)) (i32.const -1))))",
  ],
  [
    "collected objects",
    `(type $bytes (array (mut i8))) (type $one (struct (field (ref null $one)) (field (ref $bytes))))
     (global $all (mut (ref null $one)) (ref.null $one)) (global $left (mut i32) (i32.const 1500))`,
    `(loop $again
       (global.set $all (struct.new $one (global.get $all) (array.new_default $bytes (i32.const 100000))))
       (global.set $left (i32.sub (global.get $left) (i32.const 1)))
       (br_if $again (global.get $left)))`,
  ],
];

describe.each(GROWING_ELSEWHERE)("memory of %s", (_, fields, attack) => {
  const wish = { fields, execute: whenWrong(`${attack} ${answers("grew")}`) };

  test("what fills the heap ends the component's process alone, and the next call gets another", async () => {
    const { call } = await limited(wish);
    await expect(call(WRONG)).rejects.toBeInstanceOf(ToolFailure);
    expect(await call(FINE)).toBe(FINE);
  }, 60_000);

  test("control: without a limit it grows", async () => {
    expect((await unlimited(wish)).execute(WRONG)).toBe("grew");
  }, 60_000);
});

describe("answers", () => {
  test.each([
    ["traps", "unreachable"],
    ["calls itself without end", "(call $deeper)"],
    ["answers from beyond its memory", answersAt("(i32.const -256)", "(i32.const 1000)")],
    ["answers more than there can be", answersAt("(i32.const 0)", "(i32.const 2147483647)")],
    ["answers neither a result nor an error", "(i32.store8 (i32.const 512) (i32.const 7)) (i32.const 512)"],
  ])(
    "one that %s fails alone, and the next call is answered",
    async (_, attack) => {
      const { call } = await limited({
        execute: whenWrong(attack),
        fields: "(func $deeper (result i32) (i32.add (call $deeper) (call $deeper)))",
      });
      await expect(call(WRONG)).rejects.toMatchObject({ code: "IO_ERROR" });
      expect(await call(FINE)).toBe(FINE);
    },
    60_000,
  );

  test("what it keeps of one call the next does not find", async () => {
    const counting: WatComponent = {
      fields: "(global $calls (mut i32) (i32.const 48))",
      execute: `(global.set $calls (i32.add (global.get $calls) (i32.const 1))) (i32.store8 (i32.const 256) (global.get $calls)) ${answersAt("(i32.const 256)", "(i32.const 1)")}`,
    };
    const { call } = await limited(counting);
    expect([await call(FINE), await call(FINE)]).toEqual(["1", "1"]);
    const control = await unlimited(counting);
    expect([control.execute(FINE), control.execute(FINE)]).toEqual(["1", "2"]);
  }, 60_000);

  test("a flood is cut off by its limit, and passes under a higher one", async () => {
    const flooding: WatComponent = { pages: 10, execute: answersAt("(i32.const 2048)", "(i32.const 500000)") };
    const { call } = await limited(flooding);
    await expect(call(FINE)).rejects.toMatchObject({ code: "OUTPUT_LIMIT" });
    const { call: more } = await limited(flooding, { outputBytes: 1_000_000 });
    expect(await more(FINE)).toHaveLength(500_000);
  }, 60_000);

  test("one text that is too large is cut off before it is made, an error too, beside calls that go on", async () => {
    const text = answersAt("(i32.const 131072)", "(i32.const 65000000)");
    const whole = { pages: 1_000, execute: whenWrong(text) };
    const failing = { ...whole, execute: whenWrong(text.replace("(i32.const 0)", "(i32.const 1)")) };
    for (const wish of [whole, failing]) {
      const { call } = await limited(wish, { memoryBytes: 67_108_864 });
      const [flood, fine] = await Promise.allSettled([call(WRONG), call(FINE)]);
      expect(flood).toMatchObject({ status: "rejected", reason: { code: "OUTPUT_LIMIT" } });
      expect(fine).toMatchObject({ status: "fulfilled", value: FINE });
    }
    expect((await unlimited(whole)).execute(WRONG)).toHaveLength(65_000_000); // control
  }, 60_000);

  test("bytes that are no text come as the mark for them, and nothing else", async () => {
    const { call } = await limited({
      fields: '(data (i32.const 700) "a\\ff\\c3\\28b")',
      execute: answersAt("(i32.const 700)", "(i32.const 5)"),
    });
    expect(await call(FINE)).toBe("a\uFFFD\uFFFD(b");
    expect(await (await limited({ execute: answers("plain") })).call(FINE)).toBe("plain");
  }, 60_000);
});
