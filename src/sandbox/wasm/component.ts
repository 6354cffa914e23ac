/**
 * Runs one WebAssembly component in processes of its own.
 *
 * One prepares it and ends, with all that the transpiler took. Another runs its calls: it is started with a call, and
 * ended after a while without one. INVARIANTS: whatever a component does, its process is all that it ends; each call is
 * answered once. A process keeps no kernel alive, and ends with it.
 */
import { configInvalid } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import { ForkedProgram } from "../ports/forked-program.ts";
import type {
  ComponentCall,
  ComponentLimits,
  DescribedComponent,
  HostReply,
  HostRequest,
} from "./component-messages.ts";
import type { Prepared } from "./prepare-component.ts";

/** Milliseconds for a process that prepares, beside the time of one call for what the component says of itself. */
const PREPARE_MS = 60_000;
/** Milliseconds after its last call until a process is ended. */
const IDLE_MS = 300_000;

/** A call that is not answered yet. */
interface Pending {
  readonly resolve: (text: string) => void;
  readonly reject: (error: unknown) => void;
}

type Process = ForkedProgram<HostRequest, HostReply>;

/** A process that runs the component. */
interface Host {
  readonly child: Process;
  readonly pending: Map<number, Pending>;
}

/** A component that is loaded. */
export class Component {
  readonly described: DescribedComponent;
  readonly #prepared: Prepared;
  readonly #limits: ComponentLimits;
  #host: Host | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;
  /** Whether another version has taken its place, or nobody calls it any more: no process waits for its next call. */
  #retired = false;

  private constructor({ prepared, described }: Readied, limits: ComponentLimits) {
    this.#prepared = prepared;
    this.described = described;
    this.#limits = limits;
  }

  /**
   * Prepares a component, and learns what it says of itself.
   * @throws KernelError CONFIG_INVALID where it is no component, imports what is not granted, or breaks
   */
  static async load(bytes: Uint8Array, limits: ComponentLimits, readsFiles: boolean): Promise<Component> {
    return new Component(await readied(bytes, limits, readsFiles), limits);
  }

  /** What the component answers. @throws ToolFailure where it fails, takes too long, or says too much */
  async execute(args: string, files: ComponentCall["files"], signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    const host = this.#running();
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    host.pending.set(id, { resolve, reject });
    const cancelled = () => {
      host.child.send({ kind: "cancel", id });
      reject(signal.reason);
    };
    signal.addEventListener("abort", cancelled, { once: true });
    host.child.hold(true);
    try {
      host.child.send({ kind: "call", id, args, files });
      return await promise;
    } finally {
      signal.removeEventListener("abort", cancelled);
      host.pending.delete(id);
      this.#rest();
    }
  }

  /** Ends its process once no call is in flight. Whoever still has it can call it. */
  retire(): void {
    this.#retired = true;
    this.#rest();
  }

  /** The process, or another where it has ended. */
  #running(): Host {
    if (!this.#host?.child.isRunning) this.#host = startHost(this.#prepared, this.#limits);
    return this.#host;
  }

  #rest(): void {
    const host = this.#host;
    if (host === undefined || host.pending.size > 0) return;
    host.child.hold(false);
    clearTimeout(this.#idle);
    const end = () => {
      host.child.end();
      if (this.#host === host) this.#host = undefined;
    };
    if (this.#retired) end();
    else this.#idle = setTimeout(end, IDLE_MS).unref();
  }
}

/** What a process that prepares answers. */
type Readied = HostReply & { readonly kind: "prepared" };

/** Prepares a component in a process that ends with its answer. */
async function readied(bytes: Uint8Array, limits: ComponentLimits, readsFiles: boolean): Promise<Readied> {
  const child = started();
  const { promise, resolve, reject } = Promise.withResolvers<Readied>();
  const refuse = (problem: string) => reject(configInvalid(problem));
  const late = () => refuse("it takes too long; build it so that it says what it is");
  const timer = setTimeout(late, PREPARE_MS + limits.timeMs);
  const ended = () => refuse("it ended its process; build it so that it takes less memory");
  const reply = (reply: HostReply) => {
    if (reply.kind === "prepared") return resolve(reply);
    return refuse("problem" in reply ? reply.problem : "it answers what was not asked");
  };
  child.listen({ reply, ended });
  child.send({ kind: "prepare", bytes, limits, readsFiles });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.end();
  }
}

/** A process that runs a prepared component; where it ends, its calls fail. */
function startHost(prepared: Prepared, limits: ComponentLimits): Host {
  const child = started();
  const pending = new Map<number, Pending>();
  const ended = () => {
    for (const { reject } of pending.values()) reject(lost());
  };
  const reply = (reply: HostReply) => {
    if (!("id" in reply)) return;
    const call = pending.get(reply.id);
    if (reply.kind === "answer") call?.resolve(reply.text);
    else call?.reject(new ToolFailure(reply.code, reply.problem, reply.next));
  };
  child.listen({ reply, ended });
  child.send({ kind: "start", prepared, limits });
  return { child, pending };
}

function started(): Process {
  return new ForkedProgram(ownProgram(import.meta.url, "./component-host.ts"), {});
}

function lost(): ToolFailure {
  const next = "ask for less, or tell the operator";
  return new ToolFailure("IO_ERROR", "the component ended its process, as when it fills its memory", next);
}
