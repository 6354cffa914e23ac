/** Modules that misbehave in their processes: each call is answered, the kernel goes on, and nothing of it gets out. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readEvidence } from "../../../support/evidence.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { pluginPlace, unasked } from "../../../support/plugin-place.ts";

const SOON = { timeout: 60_000, interval: 100 };
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

test("a module of the operator's runs in a process of its own, with the facts of its call and an empty environment", async () => {
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
  ["ends its process", "process.exit(3);", { kind: "error" }],
  [
    "throws outside of its call",
    "setTimeout(() => { throw new Error('late'); }, 0); return new Promise(() => {});",
    { kind: "error" },
  ],
  [
    "grows a table",
    "const grown = new WebAssembly.Table({ initial: 0, element: 'anyfunc' }); for (;;) grown.grow(1e6);",
    { kind: "error" },
  ],
  ["takes all memory", "const all = []; for (;;) all.push(new Array(1e6).fill(all.length));", { kind: "error" }],
  [
    "notes without end",
    "for (let i = 0; i < 5000; i += 1) context.audit.log('own', 'x'); return new Promise(() => {});",
    { kind: "error", code: "OUTPUT_LIMIT" },
  ],
  [
    "sends answers that are none",
    "process.send({ kind: 'plugins', plugins: [] }); return new Promise(() => {});",
    { kind: "error" },
  ],
  ["wants files", "await context.files.read('a.txt');", { kind: "success", data: { success: false } }],
  [
    "wants a command",
    "await context.sandbox.runContainer({ command: 'ls' });",
    { kind: "success", data: { success: false } },
  ],
])("one that %s fails alone, and the next call gets another process", async (_, body, outcome) => {
  const { call } = await threaded(`if (args.word === "fine") return { success: true, output: "fine" }; ${body}`);
  expect(await call("own", { word: "wrong" })).toMatchObject(outcome);
  expect(await call("own", { word: "fine" })).toMatchObject({ kind: "success", data: { output: "fine" } });
});

test("one that forges an answer forges its own call's alone", async () => {
  const { call } = await threaded(
    "process.send({ kind: 'answer', answer: { success: true, output: 'forged ' + args.word } });" +
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

test("control: in a thread of the kernel's process, one that grows a table would end all of it", () => {
  const program = `
    const { Worker } = require("node:worker_threads");
    const fill = "const grown = new WebAssembly.Table({ initial: 0, element: 'anyfunc' }); for (;;) grown.grow(1e6)";
    const worker = new Worker(fill, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 64 } });
    worker.on("error", () => console.log("contained")).on("exit", () => console.log("contained"));
  `;
  const { signal, stdout } = spawnSync(process.execPath, ["-e", program], { encoding: "utf8", timeout: 120_000 });
  expect([signal, stdout]).toEqual(["SIGABRT", ""]);
});

test("one that loops ends with a kernel that is killed", async () => {
  const place = freshPlace();
  const pid = join(place.base, "pid");
  const module = place.put(
    "own.mjs",
    `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(pid)}, String(process.pid));
for (;;);`,
  );
  const kernel = spawn(process.execPath, [
    "--input-type=module",
    "-e",
    `import { PluginProcesses } from "${PROJECT}src/server/plugins/plugin-processes.ts";
await new PluginProcesses(${JSON.stringify(`file://${module}`)}).describe();`,
  ]);
  await vi.waitFor(() => expect(existsSync(pid)).toBe(true), SOON);
  const looping = `/proc/${readFileSync(pid, "utf8")}`;
  expect(existsSync(looping)).toBe(true);
  kernel.kill("SIGKILL");
  await vi.waitFor(() => expect(existsSync(looping)).toBe(false), SOON);
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

test("a module with an analysis is refused in a process of its own, and runs in the kernel's where the operator says so", async () => {
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
