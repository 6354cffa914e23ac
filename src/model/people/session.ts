/** Sessions: the identity under which an agent's calls are judged. Only the token's hash is ever kept. */

import type { IsolationLevel } from "../place/workspace.ts";
import type { Role } from "./role.ts";

/** A session as stored. Times are milliseconds since the Unix epoch. */
export interface Session {
  readonly id: string;
  /** BLAKE3-256 of the token, hexadecimal. */
  readonly tokenHash: string;
  readonly userId: string;
  readonly agentId: string;
  readonly role: Role;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly isolationLevel: IsolationLevel;
  readonly leaseId: string;
  readonly mode: string;
  readonly skill?: string;
  readonly preset: string;
  /** The branch of the workspace that it sees and changes; the workspace itself when absent. */
  readonly branchId?: string;
  /** Whether it was made for that branch, and cannot leave it. */
  readonly isBranchBound?: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs?: number;
  readonly frozenAtMs?: number;
}
