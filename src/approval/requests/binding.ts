/**
 * Binds an approval to two keyed digests of a call.
 *
 * `call` covers who calls what. `binding` also covers the rules in force, the lease, what was seen before, and the
 * state of the call's targets. The digests are keyed because arguments may hold short secrets that could be guessed
 * from a plain digest.
 *
 * Pure. INVARIANT: if one byte of any of this differs, the binding differs.
 */
import { blake3KeyedHex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import type { Mark } from "../../model/outcome/label.ts";

/** Who calls what, and where. */
export interface BoundCall {
  readonly userId: string;
  readonly agentId: string;
  readonly role: string;
  readonly sessionId: string;
  readonly workspace: string;
  readonly workDir: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** By which rules the call was judged, and what it will change. */
export interface BoundFacts {
  readonly policy: string;
  /** Rules that ask. */
  readonly rules: readonly string[];
  /** The tool's declaration, regular expressions as their sources. */
  readonly capability: JsonObject;
  /** Names the workspace's own rules. */
  readonly workspaceRules: string;
  readonly mode: string;
  readonly skill: string;
  readonly lease: JsonObject;
  readonly mark: Mark;
  /** What contains the programs that the call runs; empty when it runs none. */
  readonly containedBy: string;
  /** Digest of what analysis made of the call. */
  readonly accesses: string;
  /**
   * Digest of what analysis saw of the project's files and of the operator's commands for it; empty when it did not
   * look.
   */
  readonly toolchain: string;
  /** By path: where it leads, and the digest of what is there. */
  readonly preImages: JsonObject;
}

/** The digests of one call: 64 hexadecimal digits each. */
export interface CallBinding {
  readonly call: string;
  readonly binding: string;
}

/** Binds a call. `key`: 32 secret bytes of the state directory. */
export function bindCall(key: Uint8Array, call: BoundCall, facts: BoundFacts): CallBinding {
  const named = { ...call } as JsonObject;
  const known = { ...facts, rules: [...facts.rules].sort(), mark: { ...facts.mark } } as JsonObject;
  return {
    call: digest(key, ["handrail.approval.call", named]),
    binding: digest(key, ["handrail.approval.binding", named, known]),
  };
}

function digest(key: Uint8Array, value: readonly (string | JsonObject)[]): string {
  return blake3KeyedHex(key, canonicalJson(value));
}
