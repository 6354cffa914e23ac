/**
 * Implements the thread that prepares a component or runs its calls, each in a fresh instance.
 *
 * It reaches nothing but its port. Code of the component runs as WebAssembly; the JavaScript around it is the
 * transpiler's.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/errors.ts";
import type { ComponentCall, ComponentReply, ComponentTask, DescribedComponent } from "./component-messages.ts";
import { FILES_IMPORT, type Prepared } from "./prepare-component.ts";
import { type CoreModule, engine } from "./web-assembly.ts";

/** Characters of an error's text that are passed on. */
const PROBLEM_CHARACTERS_MAX = 1_000;

interface Instance {
  readonly name: () => unknown;
  readonly description: () => unknown;
  readonly inputSchema: () => unknown;
  readonly execute: (args: string) => unknown;
}

type Instantiate = (
  core: (name: string) => CoreModule | undefined,
  imports: object,
  instantiateCore: (module: CoreModule, imports?: object) => object,
) => Instance;

/** Memories of one instance: each is limited by itself, and a module may be instantiated several times. */
const MEMORIES_MAX = 4;

const port = parentPort;
assert(port, "components run in a worker");
const task = workerData as ComponentTask;

if (task.kind === "prepare") {
  try {
    const { prepareComponent } = await import("./prepare-component.ts");
    const prepared = await prepareComponent(task.bytes, task);
    port.postMessage({ kind: "prepared", prepared, described: await describe(prepared) } satisfies ComponentReply);
  } catch (error) {
    port.postMessage({ kind: "failed", problem: problemOf(error) } satisfies ComponentReply);
  }
} else {
  const instantiate = await load(task.prepared);
  port.on("message", (call: ComponentCall) => port.postMessage(run(instantiate, task.prepared, call)));
}

/** The glue is loaded from its text: it comes from the transpiler, by way of memory alone. */
async function load({ glue }: Prepared): Promise<Instantiate> {
  const module = await import(`data:text/javascript;base64,${Buffer.from(glue).toString("base64")}`);
  return module.instantiate as Instantiate;
}

async function describe(prepared: Prepared): Promise<DescribedComponent> {
  const instantiate = await load(prepared);
  const instance = instanceOf(instantiate, prepared, new Map());
  return {
    name: String(instance.name()),
    description: String(instance.description()),
    inputSchema: String(instance.inputSchema()),
  };
}

function run(instantiate: Instantiate, prepared: Prepared, call: ComponentCall): ComponentReply {
  try {
    const instance = instanceOf(instantiate, prepared, call.files);
    const text = String(instance.execute(call.args)).toWellFormed();
    if (Buffer.byteLength(text) > call.outputBytes) return { kind: "too_large" };
    return { kind: "done", text };
  } catch (error) {
    const said = error instanceof Error && "payload" in error && typeof error.payload === "string";
    return { kind: said ? "said" : "failed", problem: problemOf(error) };
  }
}

/** A fresh instance, whose memories are counted while its modules are put together. */
function instanceOf(instantiate: Instantiate, prepared: Prepared, files: ComponentCall["files"]): Instance {
  const { modules, withMemory } = prepared;
  const owners = new Set([...withMemory].map((name) => modules.get(name)));
  let memories = 0;
  return instantiate(
    (name) => modules.get(name),
    importsOf(files),
    (module, imports) => {
      if (owners.has(module)) memories += 1;
      if (memories > MEMORIES_MAX) throw new Error(`it has more than ${MEMORIES_MAX} memories; build it with fewer`);
      return new engine.Instance(module, imports);
    },
  );
}

function importsOf(files: ComponentCall["files"]): object {
  const read = (path: string): Uint8Array => {
    const found = files.get(path);
    if (found instanceof Uint8Array) return found;
    const problem = found ?? "no argument of this call names this file";
    throw Object.assign(new Error(problem), { payload: problem });
  };
  return { [FILES_IMPORT]: { read } };
}

function problemOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, PROBLEM_CHARACTERS_MAX).toWellFormed();
}
