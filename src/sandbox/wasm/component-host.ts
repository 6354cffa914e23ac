/**
 * The program that runs one component, apart from the kernel: threads in a process of their own.
 *
 * What fills the heap of a thread at once ends its whole process, so that this one holds nothing else. It has no
 * environment, runs no code of the component in its main thread, and ends with the kernel.
 */
import process from "node:process";
import { KernelError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { HostReply, HostRequest } from "./component-messages.ts";
import { ComponentThreads } from "./component-threads.ts";

let loaded: ComponentThreads | undefined;
const calls = new Map<number, AbortController>();

process.on("disconnect", () => process.exit());
process.on("message", (request: HostRequest) => {
  if (request.kind === "load") void load(request);
  else if (request.kind === "cancel") calls.get(request.id)?.abort();
  else void call(request);
});

function say(reply: HostReply): void {
  process.send?.(reply);
}

async function load({ bytes, limits, readsFiles }: HostRequest & { readonly kind: "load" }): Promise<void> {
  try {
    loaded = await ComponentThreads.load(bytes, limits, readsFiles);
    say({ kind: "loaded", described: loaded.described });
  } catch (error) {
    say({ kind: "refused", problem: error instanceof KernelError ? error.message : "it cannot be prepared" });
  }
}

async function call({ id, args, files }: HostRequest & { readonly kind: "call" }): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  try {
    if (loaded === undefined) throw new ToolFailure("IO_ERROR", "the component is not loaded", "tell the operator");
    say({ kind: "answer", id, text: await loaded.execute(args, files, abort.signal) });
  } catch (error) {
    const failure =
      error instanceof ToolFailure ? error : new ToolFailure("IO_ERROR", "the call ended early", "make it again");
    say({ kind: "failure", id, code: failure.code, problem: failure.message, next: failure.suggestion });
  } finally {
    calls.delete(id);
  }
}
