/**
 * Runs one WebAssembly component in a process of its own.
 *
 * The process is started with the component, ended after a while without calls, and started again with the next one.
 * INVARIANTS: whatever a component does, its process is all that it ends; each call is answered once. A process keeps
 * no kernel alive, and ends with it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { configInvalid } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import type {
  ComponentCall,
  ComponentLimits,
  DescribedComponent,
  HostReply,
  HostRequest,
} from "./component-messages.ts";

/** Milliseconds for the start of a process and its preparing, beside the time of one call for describing itself. */
const LOAD_MS = 60_000;
/** Milliseconds without calls after which a process is ended. */
const IDLE_MS = 30_000;

/** A call that is not answered yet. */
interface Pending {
  readonly resolve: (text: string) => void;
  readonly reject: (error: unknown) => void;
}

/** A process with its component. */
interface Host {
  readonly child: ChildProcess;
  readonly described: Promise<DescribedComponent>;
  readonly pending: Map<number, Pending>;
}

/** What a component is loaded from, and with. */
interface Source {
  readonly bytes: Uint8Array;
  readonly limits: ComponentLimits;
  readonly readsFiles: boolean;
}

/** A component that is loaded. */
export class Component {
  readonly described: DescribedComponent;
  readonly #source: Source;
  #host: Host | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;
  /** Whether another version has taken its place, or nobody calls it any more: no process waits for its next call. */
  #retired = false;

  private constructor(source: Source, host: Host, described: DescribedComponent) {
    this.#source = source;
    this.#host = host;
    this.described = described;
    this.#rest();
  }

  /**
   * Starts a process with the component, and learns what it says of itself.
   * @throws KernelError CONFIG_INVALID where it is no component, imports what is not granted, or breaks
   */
  static async load(bytes: Uint8Array, limits: ComponentLimits, readsFiles: boolean): Promise<Component> {
    const source = { bytes, limits, readsFiles };
    const host = startHost(source);
    return new Component(source, host, await host.described);
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
      tell(host, { kind: "cancel", id });
      reject(signal.reason);
    };
    signal.addEventListener("abort", cancelled, { once: true });
    host.child.ref();
    try {
      host.described.then(
        () => host.pending.has(id) && tell(host, { kind: "call", id, args, files }),
        () => reject(lost()),
      );
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
    const { child } = this.#host ?? {};
    const isAlive = child?.exitCode === null && child.signalCode === null && child.connected;
    if (this.#host === undefined || !isAlive) this.#host = startHost(this.#source);
    return this.#host;
  }

  #rest(): void {
    const host = this.#host;
    if (host === undefined || host.pending.size > 0) return;
    host.child.unref();
    host.child.channel?.unref();
    clearTimeout(this.#idle);
    const end = () => {
      host.child.kill("SIGKILL");
      if (this.#host === host) this.#host = undefined;
    };
    if (this.#retired) end();
    else this.#idle = setTimeout(end, IDLE_MS).unref();
  }
}

/** A process that is being told what it runs; `described` rejects where that is no component, and ends it. */
function startHost({ bytes, limits, readsFiles }: Source): Host {
  const child = fork(fileURLToPath(ownProgram(import.meta.url, "./component-host.ts")), {
    env: {},
    cwd: "/",
    execArgv: ["--disable-warning=ExperimentalWarning"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const pending = new Map<number, Pending>();
  const { promise: described, resolve, reject } = Promise.withResolvers<DescribedComponent>();
  const timer = setTimeout(
    () => refuse("it takes too long; build it so that it says what it is"),
    LOAD_MS + limits.timeMs,
  );
  const refuse = (problem: string) => {
    clearTimeout(timer);
    child.kill("SIGKILL");
    reject(configInvalid(problem));
    for (const { reject: fail } of pending.values()) fail(lost());
  };
  const ended = () => refuse("it ended its process; build it so that it takes less memory");
  child.on("error", ended).on("exit", ended);
  child.on("message", (reply: HostReply) => {
    if (reply.kind === "refused") return refuse(reply.problem);
    if (reply.kind === "loaded") {
      clearTimeout(timer);
      return resolve(reply.described);
    }
    const call = pending.get(reply.id);
    if (reply.kind === "answer") return call?.resolve(reply.text);
    return call?.reject(new ToolFailure(reply.code, reply.problem, reply.next));
  });
  described.catch(() => undefined); // whoever waits for it hears of it
  const host = { child, described, pending };
  tell(host, { kind: "load", bytes, limits, readsFiles });
  return host;
}

/** A process that cannot be told ends, which its calls hear of. */
function tell({ child }: Host, request: HostRequest): void {
  child.send(request, (error) => {
    if (error) child.kill("SIGKILL");
  });
}

function lost(): ToolFailure {
  const next = "ask for less, or tell the operator";
  return new ToolFailure("IO_ERROR", "the component ended its process, as when it fills its memory", next);
}
