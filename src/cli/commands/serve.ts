/** `handrail serve`: the kernel on a framed Unix socket, for clients that bring a session token. */
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { type KernelFlags, openFromFlags, withKernelOptions } from "../kernel-options.ts";
import { say } from "../output.ts";

interface ServeFlags extends KernelFlags {
  readonly socket?: string;
}

/** Adds `handrail serve`. */
export function addServeCommand(program: Command): void {
  const command = program
    .command("serve")
    .description("serve the kernel on a framed Unix socket")
    .option("--socket <path>", "socket path (default: handrail.sock in the state directory)");
  withKernelOptions(command).action(async (flags: ServeFlags) => {
    const kernel = await openFromFlags(flags);
    try {
      const { serveSocket } = await import("../../server/serve-framed.ts");
      const path = flags.socket === undefined ? join(kernel.stateDirectory, "handrail.sock") : resolve(flags.socket);
      const server = await serveSocket(kernel, path);
      say(`handrail: listening on ${path}; make a session with \`handrail sessions create --workspace DIR\``);
      await untilStopped();
      await server.close();
    } finally {
      await kernel.close();
    }
  });
}

/** Resolves at the first signal that asks the process to end. */
export function untilStopped(): Promise<void> {
  // A pending promise alone does not keep the process alive; a timer does.
  const keepAlive = setInterval(() => undefined, 3_600_000);
  return new Promise((resolveStopped) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        clearInterval(keepAlive);
        resolveStopped();
      });
    }
  });
}
