/**
 * Loads the Cedar engine on first use and releases it when the kernel is idle.
 *
 * Its WebAssembly takes about 25 ms to load, which not every command needs, and it occupies some 10 MiB.
 *
 * INVARIANT: a caller gets Cedar from `loadCedar` each time and keeps no reference to it, because an engine that
 * somebody still refers to cannot be released.
 */
import { createRequire } from "node:module";
import { KernelError } from "../../base/errors.ts";

/** The module of the Cedar engine. */
export type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs");
/** An entity's type and id, as Cedar's JSON names it. */
export interface EntityUid {
  readonly type: string;
  readonly id: string;
}

const PACKAGE = "@cedar-policy/cedar-wasm/nodejs";

let present: Cedar | undefined;

/**
 * The engine; loaded when it is not there. What was prepared inside an earlier one is gone. @throws KernelError
 * INTERNAL when it cannot be loaded
 */
export function loadCedar(): Cedar {
  if (present !== undefined) return present;
  try {
    // Not by `import`, whose modules stay for ever; and anew each time, because a `require` keeps what it has loaded.
    const cedar: Cedar = createRequire(import.meta.url)(PACKAGE);
    present = cedar;
    return cedar;
  } catch (cause) {
    throw new KernelError("INTERNAL", "the policy engine cannot be loaded; reinstall the package", cause);
  }
}

/** The engine, if it is loaded. */
export function presentCedar(): Cedar | undefined {
  return present;
}

/** Lets go of the engine, so that the next collection frees its memory. @returns whether it was loaded */
export function releaseCedar(): boolean {
  if (present === undefined) return false;
  present = undefined;
  const loader = createRequire(import.meta.url);
  delete loader.cache[loader.resolve(PACKAGE)];
  return true;
}

/** `text` as a string literal of Cedar policy text. */
export function cedarString(text: string): string {
  let literal = '"';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") literal += `\\${character}`;
    else if (code < 0x20 || code === 0x7f || code > 0x7e) literal += `\\u{${code.toString(16)}}`;
    else literal += character;
  }
  return `${literal}"`;
}
