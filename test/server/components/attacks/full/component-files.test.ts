/** Attacks by components and their files: each is refused, and a sound component beside it is loaded. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parseSettings } from "../../../../../src/config/config.ts";
import { Component } from "../../../../../src/sandbox/wasm/component.ts";
import { limitMemory, UnlimitedMemory } from "../../../../../src/sandbox/wasm/core-memory.ts";
import { refusalLine } from "../../../../../src/server/components/component-evidence.ts";
import { ComponentFolder } from "../../../../../src/server/components/component-folder.ts";

const SOUND = readFileSync(new URL("../../../../../examples/components/built/json-format.wasm", import.meta.url));
const LIMITS = { timeMs: 30_000, memoryBytes: 67_108_864, outputBytes: 1_000_000 };

let path = "";
beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), "components-"));
  await mkdir(join(path, "components"), { mode: 0o700 });
});
afterEach(() => rmSync(path, { recursive: true }));

async function load(yaml = "", isTaken = (_name: string) => false) {
  const { components } = await parseSettings(yaml, "handrail.yaml");
  const folder = new ComponentFolder(join(path, "components"));
  onTestFinished(() => folder.close());
  const plan = await folder.plan(components, isTaken);
  plan.commit();
  return { names: plan.tools.map(({ name }) => name), told: plan.refused.map(refusalLine) };
}

const put = (name: string, bytes: Uint8Array) => writeFileSync(join(path, "components", name), bytes, { mode: 0o600 });

describe("files of the folder", () => {
  test("a sound component is a tool, and a file half written is refused beside it", async () => {
    put("sound.wasm", SOUND);
    put("half.wasm", SOUND.subarray(0, SOUND.length / 2));
    const { names, told } = await load();
    expect(names).toEqual(["json_format"]);
    expect(told).toEqual([expect.stringContaining("component `half.wasm` is refused")]);
  }, 60_000);

  test("a link is refused, wherever it leads", async () => {
    writeFileSync(join(path, "elsewhere"), SOUND);
    symlinkSync(join(path, "elsewhere"), join(path, "components", "link.wasm"));
    const { names, told } = await load();
    expect([names, told.length]).toEqual([[], 1]);
  });

  test("two components of one name are one tool, the first", async () => {
    put("a.wasm", SOUND);
    put("b.wasm", SOUND);
    const { names, told } = await load();
    expect(names).toEqual(["json_format"]);
    expect(told).toEqual([expect.stringContaining("another tool is called `json_format`")]);
  }, 60_000);

  test("a file that is not the pinned one is refused", async () => {
    put("sound.wasm", SOUND);
    const { names, told } = await load(`components: { sound: { digest: "blake3:${"0".repeat(64)}" } }\n`);
    expect(names).toEqual([]);
    expect(told).toEqual([expect.stringContaining("not the pinned")]);
  });
});

describe("calls", () => {
  test("each is answered or fails by its limits, and the next is answered again", async () => {
    const component = await Component.load(SOUND, LIMITS, false);
    const call = (args: object) => component.execute(JSON.stringify(args), new Map(), AbortSignal.timeout(60_000));
    expect(await call({ json: "[1]", indent: 0 })).toBe("[1]");
    await expect(call({ json: "[" })).rejects.toThrow("`json` is not JSON");
    await component.retire();
    const terse = await Component.load(SOUND, { ...LIMITS, outputBytes: 2 }, false);
    await expect(terse.execute('{"json":"[1]","indent":0}', new Map(), AbortSignal.timeout(60_000))).rejects.toThrow(
      "answers more than 2 bytes",
    );
    await terse.retire();
  }, 60_000);

  test("one that needs more memory than it may have breaks, and with more it is answered", async () => {
    const large = JSON.stringify({ json: JSON.stringify("x".repeat(8_000_000)) });
    const small = await Component.load(SOUND, { ...LIMITS, memoryBytes: 8_388_608 }, false);
    await expect(small.execute(large, new Map(), AbortSignal.timeout(60_000))).rejects.toThrow();
    await small.retire();
    const roomy = await Component.load(SOUND, { ...LIMITS, memoryBytes: 268_435_456, outputBytes: 10_000_000 }, false);
    expect(await roomy.execute(large, new Map(), AbortSignal.timeout(60_000))).toHaveLength(8_000_002);
    await roomy.retire();
  }, 60_000);
});

test("a memory grows to the limit and no further; one that starts above it is refused", () => {
  const header = [0, 97, 115, 109, 1, 0, 0, 0];
  const module = Uint8Array.from([...header, 5, 3, 1, 0, 2]);
  expect([...limitMemory(module, 4 * 65_536)]).toEqual([...header, 5, 4, 1, 1, 2, 4]);
  expect(() => limitMemory(module, 65_536)).toThrow(UnlimitedMemory);
});
