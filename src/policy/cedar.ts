/** The Cedar engine: loaded on first use, because its WebAssembly takes about 25 ms that not every command needs. */
import { KernelError } from "../base/errors.ts";

/** The module of the Cedar engine. */
export type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs");
/** An entity's type and id, as Cedar's JSON names it. */
export interface EntityUid {
  readonly type: string;
  readonly id: string;
}

/** Loads the engine. @throws KernelError INTERNAL when it cannot be loaded */
export async function loadCedar(): Promise<Cedar> {
  try {
    return await import("@cedar-policy/cedar-wasm/nodejs");
  } catch (cause) {
    throw new KernelError("INTERNAL", "the policy engine cannot be loaded; reinstall the package", cause);
  }
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
