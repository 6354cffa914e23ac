/** Modules that misbehave in their threads: each call is answered, the kernel goes on, and nothing of it gets out. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { pluginPlace, unasked } from "../../../support/plugin-place.ts";

const PROJECT = new URL("../../../../", import.meta.url).href;

/** A module of one plugin, `own`, whose `execute` has that body. */
function moduleOf(place: Place, body: string, more = ""): string {
  return place.put(
    "config/own.mjs",
    `import { z } from "${PROJECT}node_modules/zod/index.js";
export default {
  name: "own",
  description: "Does something.",
  parameters: z.object({ word: z.string().default("none") }),
  capability: { approval: { level: "auto" }, labels: { outputTrust: "verified" } },
  ${more}
  async execute(args, context) { ${body} },
};
`,
  );
}

async function threaded(body: string, more = "") {
  const place = freshPlace();
  moduleOf(place, body, more);
  return pluginPlace([], { place, settings: `plugins:\n  - module: own.mjs\n${unasked("own")}` });
}

test("a module of the operator's runs in a thread of its own, with the facts of its call and an empty environment", async () => {
  const { place, call, session, kernel } = await threaded(
    "await context.audit.log('own', 'began', { severity: 'info', metadata: { word: args.word } });" +
      "return { success: true, output: JSON.stringify([args, context.sessionId, Object.keys(process.env), context.workDir]) };",
  );
  const outcome = await call("own", { word: "given" });
  expect(outcome).toMatchObject({ kind: "success" });
  expect(JSON.parse(String(outcome.kind === "success" && outcome.data["output"]))).toEqual([
    { word: "given" },
    session.session.id,
    [],
    place.workspace,
  ]);
  await kernel.close();
  const evidence = await readEvidence(place.state);
  const loaded = evidence.find(({ entry }) => entry.eventType === "plugin_loaded");
  expect(loaded?.payload).toMatchObject({
    module: "own.mjs",
    tools: ["own"],
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(evidence.some(({ payload }) => JSON.stringify(payload).includes('"began"'))).toBe(true);
});

test.each([
  ["throws", "throw new Error('broken');", { kind: "success", data: { success: false, error: "broken" } }],
  ["answers another shape", "return 7;", { kind: "error" }],
  [
    "answers what cannot be sent",
    "return { success: true, output: '', f() {} };",
    { kind: "success", data: { success: false } },
  ],
  ["ends its thread", "process.exit(3);", { kind: "error" }],
  [
    "throws outside of its call",
    "setTimeout(() => { throw new Error('late'); }, 0); return new Promise(() => {});",
    { kind: "error" },
  ],
  ["takes all memory", "const all = []; for (;;) all.push(new Array(1e6).fill(all.length));", { kind: "error" }],
  [
    "notes without end",
    "for (let i = 0; i < 5000; i += 1) context.audit.log('own', 'x'); return new Promise(() => {});",
    { kind: "error" },
  ],
  [
    "sends answers that are none",
    "(await import('node:worker_threads')).parentPort.postMessage({ kind: 'plugins', plugins: [] }); return new Promise(() => {});",
    { kind: "error" },
  ],
  ["wants files", "await context.files.read('a.txt');", { kind: "success", data: { success: false } }],
  [
    "wants a command",
    "await context.sandbox.runContainer({ command: 'ls' });",
    { kind: "success", data: { success: false } },
  ],
])("one that %s fails alone, and the next call gets another thread", async (_, body, outcome) => {
  const { call } = await threaded(`if (args.word === "fine") return { success: true, output: "fine" }; ${body}`);
  expect(await call("own", { word: "wrong" })).toMatchObject(outcome);
  expect(await call("own", { word: "fine" })).toMatchObject({ kind: "success", data: { output: "fine" } });
});

test("one that forges an answer forges its own call's alone", async () => {
  const { call } = await threaded(
    "const { parentPort } = await import('node:worker_threads');" +
      "parentPort.postMessage({ kind: 'answer', answer: { success: true, output: 'forged ' + args.word } });" +
      "return { success: true, output: 'second' };",
  );
  const both = await Promise.all([call("own", { word: "a" }), call("own", { word: "b" })]);
  expect(both).toMatchObject([{ data: { output: "forged a" } }, { data: { output: "forged b" } }]);
  expect(await call("own", { word: "c" })).toMatchObject({ data: { output: "forged c" } });
});

test("a loop without end is ended with its call, while others are answered", async () => {
  const { call, session } = await threaded("for (;;);");
  const abort = new AbortController();
  const looping = session.call("own", {}, { signal: abort.signal });
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ kind: "success" });
  abort.abort();
  expect((await looping).response.outcome.kind).toBe("error");
});

test("what a module prints goes nowhere", async () => {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const { call } = await threaded("console.log('to a protocol'); return { success: true, output: 'x' };");
    await call("own", {});
    expect(written.mock.calls.flat().join("")).not.toContain("to a protocol");
  } finally {
    written.mockRestore();
  }
});

test.each([
  ["../outside/own.mjs", "leads out of the operator's directory"],
  ["none.mjs", "there is no `none.mjs`"],
])("a module %s is not loaded", async (module, words) => {
  const place = freshPlace();
  place.put("outside/own.mjs", readFileSync(moduleOf(place, "")));
  await expect(pluginPlace([], { place, settings: `plugins:\n  - module: ${module}\n` })).rejects.toThrow(words);
});

test.each([
  ["one that cannot be read", "export default {", "own.mjs"],
  ["one that throws", "throw new Error('at once');", "at once"],
  ["one without plugins", "export const nothing = 1;", "neither a plugin nor a list"],
  ["one that never ends to load", "await new Promise(() => {}); export default 1;", "ended"],
])("%s keeps the kernel from starting, and says which", async (_, text, words) => {
  const place = freshPlace();
  place.put("config/own.mjs", text);
  await expect(pluginPlace([], { place, settings: "plugins:\n  - module: own.mjs\n" })).rejects.toThrow(words);
});

test("a module with an analysis is refused in a thread, and runs in the kernel's where the operator says so", async () => {
  const place = freshPlace();
  moduleOf(
    place,
    "const { bytes } = await context.files.read('a.txt', { bytesMax: 9 }); return { success: true, output: String(bytes.length) };",
    "analyse: () => [{ resource: { kind: 'file', path: 'a.txt' }, effect: 'read' }],",
  );
  await expect(pluginPlace([], { place, settings: "plugins:\n  - module: own.mjs\n" })).rejects.toThrow(
    "in_process: true",
  );
  const { call } = await pluginPlace([{ module: join(place.config, "own.mjs"), inProcess: true }], { place });
  expect(await call("own", {})).toMatchObject({ data: { output: "4" } });
});
