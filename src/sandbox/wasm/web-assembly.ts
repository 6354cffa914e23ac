/** Types what is used of the engine's `WebAssembly`, which the types of Node leave out. */

/** A compiled core module; threads pass it on without compiling it again. */
export interface CoreModule {
  readonly [Symbol.toStringTag]: string;
}

interface Engine {
  readonly Module: {
    new (bytes: Uint8Array<ArrayBuffer>): CoreModule;
    imports(module: CoreModule): readonly { readonly module: string; readonly name: string }[];
    exports(module: CoreModule): readonly { readonly name: string }[];
  };
  readonly Instance: new (module: CoreModule, imports?: object) => object;
}

/** The engine. */
export const engine = (globalThis as unknown as { readonly WebAssembly: Engine }).WebAssembly;
