/** Sessions: the identity under which an agent's calls are judged. Only the token's hash is ever kept. */

import type { IsolationLevel } from "../place/workspace.ts";
import type { DialectName } from "./dialect.ts";
import type { Role } from "./role.ts";

/** A session as stored. Times are milliseconds since the Unix epoch. */
export interface Session {
  readonly id: string;
  /** BLAKE3-256 of the token, hexadecimal. */
  readonly tokenHash: string;
  readonly userId: string;
  /** With user and workspace whose freezes, marks and budgets hold: it stays the same when a client is restarted. */
  readonly agentId: string;
  /**
   * The process that serves the agent, where it is named after its client: tells equal names apart, for people alone.
   */
  readonly process?: number;
  readonly role: Role;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly isolationLevel: IsolationLevel;
  readonly leaseId: string;
  readonly mode: string;
  readonly skill?: string;
  /** The source system whose words it speaks; Handrail's own when absent. */
  readonly dialect?: DialectName;
  readonly preset: string;
  /** The branch of the workspace that it sees and changes; the workspace itself when absent. */
  readonly branchId?: string;
  /** Whether it was made for that branch, and cannot leave it. */
  readonly isBranchBound?: boolean;
  /** Whether it was made for one call and ends with it: its requests for approval outlive it. */
  readonly isOneCall?: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs?: number;
  readonly frozenAtMs?: number;
}

/** The agent as people see it: its name, and the process behind `#` where the name may be that of several. */
export function agentLabel({ agentId, process }: Pick<Session, "agentId" | "process">): string {
  return process === undefined ? agentId : `${agentId}#${process}`;
}
