/**
 * The program that prepares or runs one component, apart from the kernel: threads in a process of their own.
 *
 * What fills the heap of a thread at once ends its whole process, so that this one holds nothing else. It has no
 * environment, runs no code of the component in its main thread, and ends with the kernel.
 */
import process from "node:process";
import { KernelError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { HostReply, HostRequest } from "./component-messages.ts";
import { ComponentThreads, prepared } from "./component-threads.ts";

let running: ComponentThreads | undefined;
const calls = new Map<number, AbortController>();

process.on("disconnect", () => process.exit());
process.on("message", (request: HostRequest) => {
  if (request.kind === "prepare") void prepare(request);
  else if (request.kind === "start") running = new ComponentThreads(request.prepared, request.limits);
  else if (request.kind === "cancel") calls.get(request.id)?.abort();
  else void call(request);
});

function say(reply: HostReply): void {
  process.send?.(reply);
}

async function prepare({ bytes, limits, readsFiles }: HostRequest & { readonly kind: "prepare" }): Promise<void> {
  try {
    const made = await prepared(bytes, limits.memoryBytes, readsFiles);
    say({ kind: "prepared", prepared: made, described: await new ComponentThreads(made, limits).describe() });
  } catch (error) {
    say({ kind: "refused", problem: error instanceof KernelError ? error.message : "it cannot be prepared" });
  }
}

async function call({ id, args, files }: HostRequest & { readonly kind: "call" }): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  try {
    if (running === undefined) throw new ToolFailure("IO_ERROR", "the component is not started", "tell the operator");
    say({ kind: "answer", id, text: await running.execute(args, files, abort.signal) });
  } catch (error) {
    const failure =
      error instanceof ToolFailure ? error : new ToolFailure("IO_ERROR", "the call ended early", "make it again");
    say({ kind: "failure", id, code: failure.code, problem: failure.message, next: failure.suggestion });
  } finally {
    calls.delete(id);
  }
}
