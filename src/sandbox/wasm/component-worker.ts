/**
 * Implements the thread that prepares a component or runs its calls, each in a fresh instance.
 *
 * It reaches nothing but its port. Code of the component runs as WebAssembly; the JavaScript around it is the
 * transpiler's.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/errors.ts";
import type {
  Compiled,
  ComponentCall,
  ComponentQuestion,
  ComponentReply,
  ComponentTask,
  DescribedComponent,
} from "./component-messages.ts";
import { FILES_IMPORT } from "./prepare-component.ts";
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

/** Bytes that a component may say of itself in one text. */
const DESCRIPTION_BYTES_MAX = 1_048_576;

/** A text that comes out of a component and is too long. */
class TooMuchText extends Error {}

let textBytesMax = DESCRIPTION_BYTES_MAX;

/** Decodes no text that is too long, so that none takes several times the memory of the component. */
class BoundedDecoder extends TextDecoder {
  override decode(...input: Parameters<typeof TextDecoder.prototype.decode>): string {
    const size = input[0]?.byteLength ?? 0;
    if (size > textBytesMax) throw new TooMuchText(`it says ${size} bytes, more than ${textBytesMax}`);
    return super.decode(...input);
  }
}

globalThis.TextDecoder = BoundedDecoder;

const port = parentPort;
assert(port, "components run in a worker");
port.ref(); // while an engine compiles, nothing else may keep the thread from ending; whoever started it ends it
const task = workerData as ComponentTask;

if (task.kind === "prepare") {
  try {
    const { prepareComponent } = await import("./prepare-component.ts");
    const prepared = await prepareComponent(task.bytes, task);
    port.postMessage({ kind: "prepared", prepared } satisfies ComponentReply);
  } catch (error) {
    port.postMessage({ kind: "failed", problem: problemOf(error) } satisfies ComponentReply);
  }
} else {
  const instantiate = await load(task.compiled);
  port.on("message", (asked: ComponentQuestion) => port.postMessage(answer(instantiate, task.compiled, asked)));
}

/** The glue is loaded from its text: it comes from the transpiler, by way of memory alone. */
async function load({ glue }: Compiled): Promise<Instantiate> {
  const module = await import(`data:text/javascript;base64,${Buffer.from(glue).toString("base64")}`);
  return module.instantiate as Instantiate;
}

function answer(instantiate: Instantiate, compiled: Compiled, asked: ComponentQuestion): ComponentReply {
  try {
    if (asked !== "describe") return run(instantiate, compiled, asked);
    return { kind: "described", described: describe(instanceOf(instantiate, compiled, new Map())) };
  } catch (error) {
    if (error instanceof TooMuchText && asked !== "describe") return { kind: "too_large" };
    const said = error instanceof Error && "payload" in error && typeof error.payload === "string";
    return { kind: said ? "said" : "failed", problem: problemOf(error) };
  }
}

function describe(instance: Instance): DescribedComponent {
  return {
    name: String(instance.name()),
    description: String(instance.description()),
    inputSchema: String(instance.inputSchema()),
  };
}

function run(instantiate: Instantiate, compiled: Compiled, call: ComponentCall): ComponentReply {
  textBytesMax = call.outputBytes;
  const instance = instanceOf(instantiate, compiled, call.files);
  const text = String(instance.execute(call.args)).toWellFormed();
  if (Buffer.byteLength(text) > call.outputBytes) return { kind: "too_large" };
  return { kind: "done", text };
}

/** A fresh instance. Each module with a memory is put to use once, so that all memories together keep the limit. */
function instanceOf(instantiate: Instantiate, compiled: Compiled, files: ComponentCall["files"]): Instance {
  const { modules, withMemory } = compiled;
  const unused = new Set([...withMemory].map((name) => modules.get(name)));
  const owners = new Set(unused);
  return instantiate(
    (name) => modules.get(name),
    importsOf(files),
    (module, imports) => {
      if (owners.has(module) && !unused.delete(module))
        throw new Error("it instantiates a module with a memory several times; build it so that it does so once");
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
