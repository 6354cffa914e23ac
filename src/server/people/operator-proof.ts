/**
 * The one check of who is the operator: whoever presents the admin credential, and the program that embeds the kernel.
 *
 * Everybody else is a client, at every door alike: `mcp`, `call`, `start`, `sessions create`. Whoever runs those may be
 * an agent. INVARIANT: a proof is made here alone; a session that is asked for without one stays within what the
 * operator's directory grants.
 */
import { usageError } from "../../base/errors.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { isAdminCredential } from "./admin-credential.ts";

/** A proof that the operator asks. */
export class OperatorProof {
  // A private member makes the type nominal: nothing else fits it.
  readonly #proven = true;

  private constructor() {}

  /** Whether `value` was made here. */
  static isProof(value: unknown): value is OperatorProof {
    return typeof value === "object" && value !== null && #proven in value;
  }

  /** The proof of whoever presents the admin credential; `undefined` where `token` is another one. */
  static async byCredential(stateDirectory: string, token: string): Promise<OperatorProof | undefined> {
    return (await isAdminCredential(stateDirectory, token)) ? new OperatorProof() : undefined;
  }

  /**
   * The proof of whoever says at the command line to be the operator: the credential in `HANDRAIL_ADMIN_TOKEN`.
   * @throws KernelError USAGE without it
   */
  static async byEnvironment(stateDirectory: string, environment: Environment): Promise<OperatorProof> {
    const proof = await OperatorProof.byCredential(stateDirectory, environment["HANDRAIL_ADMIN_TOKEN"] ?? "");
    if (proof !== undefined) return proof;
    throw usageError(
      "--as-operator needs the admin credential in HANDRAIL_ADMIN_TOKEN; make one with `handrail admin token`, or leave the flag out",
    );
  }

  /** The program that embeds the kernel is its operator. */
  static ofEmbeddingProgram(): OperatorProof {
    return new OperatorProof();
  }
}
