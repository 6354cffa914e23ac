/**
 * WebAssembly modules that work on a memory of their own with vectors of sixteen bytes: one function, one memory.
 *
 * INVARIANT: a module fails when it is loaded, or it works; there is nothing else to fall back to, so that what comes of it does not depend
 * on the machine.
 */
import { KernelError } from "./errors.ts";

/** A loaded module. */
export interface VectorModule {
  /** The whole memory, which stays as large as it is. */
  readonly memory: ArrayBuffer;
  /** Works on the first `length` bytes or characters of what was put into the memory. */
  readonly run: (length: number) => number;
}

/** As much of the global object as is used here: Node's types lack it. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly run: (length: number) => number } };
};

/**
 * Loads a module from its code in base64.
 * @param lost what cannot be done without it, as a clause
 * @throws {KernelError} INTERNAL where WebAssembly has no vectors
 */
export function loadVectorModule(code: string, lost: string): VectorModule {
  try {
    const { memory, run } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(code, "base64"))).exports;
    return { memory: memory.buffer, run };
  } catch (error) {
    throw new KernelError(
      "INTERNAL",
      `${lost}: this Node does not run WebAssembly with vectors (${String(error)}); use Node 22.18 or newer without \`--jitless\``,
    );
  }
}
