/** Defines an attempt to reach a host, as the ledger has it. */

/** One attempt to reach a host. */
export interface NetAttempt {
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly request_id: string;
  readonly session_id: string;
  /** `USER/AGENT`. */
  readonly actor: string;
  readonly tool: string;
  /** `host:port`; empty where the request could not be read. */
  readonly host: string;
  readonly port: number;
  readonly via: string;
  readonly outcome: string;
  readonly reason?: string;
  /** The address that was connected to, or for which the host was refused. */
  readonly address?: string;
  /** Names of the secrets that went along. */
  readonly secrets: readonly string[];
  readonly bytes_out: number;
  readonly bytes_in: number;
  readonly duration_ms: number;
}
