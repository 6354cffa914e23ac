/**
 * Opens a network proxy for each command of one kernel's sandboxes.
 *
 * Each proxy listens on a socket that only this command's processes see.
 *
 * INVARIANTS: the socket belongs to the user of the run, and nobody else may connect to it. Its directory cannot be
 * listed and its name cannot be guessed. A socket that is closed is removed.
 */
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOCKET_PATH_BYTES_MAX } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { SecretWay } from "./broker/secret-way.ts";
import { BLOCKED_PORTS, type DecideEgress, type EgressNetwork } from "./gate/admission.ts";
import { AttemptLog, type EgressAttempt, type EgressTotals } from "./gate/attempt.ts";
import { connectToAddresses } from "./gate/connection.ts";
import { lookUpAt, machineNetworks } from "./gate/lookup.ts";
import type { SecureWay } from "./gate/secure-way.ts";
import { EgressProxy } from "./proxy/egress-proxy.ts";
import { listensAt } from "./proxy/own-ports.ts";
import { Places } from "./proxy/places.ts";

/** Connections from all sandboxes of a kernel together: each takes two of its descriptors. */
export const EGRESS_KERNEL_CONNECTIONS_MAX = 512;

/** What a command may reach. */
export interface EgressGrant {
  /** Asked for each attempt, with the host in its one form. */
  readonly decide: DecideEgress;
  /** Closed whatever is decided; remote shells and mail when absent. */
  readonly blockedPorts?: readonly number[];
  /** Requests that the kernel makes over TLS in the command's place; where it is there, nothing else leaves. */
  readonly secure?: SecureWay;
  /** Secrets that requests are made with; none when absent. */
  readonly secrets?: SecretWay;
  /** Bytes of answers, all together; as many as a command may move when absent. */
  readonly receivedBytesMax?: number;
  /** Called with each attempt when it has ended; must not throw. */
  readonly record: (attempt: EgressAttempt) => void;
}

/** The way out of one command. */
export interface OpenEgress {
  readonly socketPath: string;
  /** Ends all connections; every attempt is recorded before it is settled. */
  readonly close: () => Promise<EgressTotals>;
}

/** The machine's own network. */
export const MACHINE_NETWORK: EgressNetwork = {
  lookUp: lookUpAt(),
  connect: connectToAddresses,
  ownNetworks: machineNetworks,
  isOwnPort: listensAt,
};

/** The ways out of one kernel. */
export class Egress {
  readonly #network: EgressNetwork;
  readonly #places = {
    clients: new Places(EGRESS_KERNEL_CONNECTIONS_MAX),
    upstreams: new Places(EGRESS_KERNEL_CONNECTIONS_MAX),
  };
  #directory: string | undefined;
  #opened = 0;

  constructor(network: EgressNetwork = MACHINE_NETWORK) {
    this.#network = network;
  }

  /**
   * Opens a way out.
   * @param userId as whom the command's processes count on the machine
   * @throws ToolFailure SANDBOX_UNAVAILABLE when no socket can be made
   */
  async open(
    { decide, record, secure, secrets, receivedBytesMax, blockedPorts = BLOCKED_PORTS }: EgressGrant,
    userId: number,
  ): Promise<OpenEgress> {
    const log = new AttemptLog(record);
    const proxy = new EgressProxy({
      rules: { decide, blockedPorts, ...(secure && { secure }) },
      network: this.#network,
      log,
      ...(secrets && { secrets }),
      places: this.#places,
      ...(receivedBytesMax !== undefined && { limits: { receivedBytesMax } }),
    });
    try {
      const socketPath = this.#nextPath();
      await proxy.listen(socketPath);
      chmodSync(socketPath, 0o600);
      if (process.geteuid?.() === 0) chownSync(socketPath, userId, userId);
      return {
        socketPath,
        close: async () => {
          const totals = await proxy.close();
          rmSync(socketPath, { force: true });
          return totals;
        },
      };
    } catch (error) {
      await proxy.close();
      if (error instanceof ToolFailure) throw error;
      const suggestion = "ask the operator to look at the directory for temporary files";
      throw new ToolFailure(
        "SANDBOX_UNAVAILABLE",
        "the way to the network could not be made; the command did not run",
        { suggestion, cause: error },
      );
    }
  }

  /** Removes what is left. All ways out are closed before. */
  close(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  /** The directory lets the run's user through and shows nobody what is in it. */
  #nextPath(): string {
    if (this.#directory === undefined) {
      this.#directory = mkdtempSync(join(tmpdir(), "handrail-egress-"));
      chmodSync(this.#directory, 0o711);
    }
    this.#opened += 1;
    const path = join(this.#directory, String(this.#opened));
    if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path;
    throw new ToolFailure(
      "SANDBOX_UNAVAILABLE",
      "the way to the network could not be made: the directory for temporary files has too long a name; the command did not run",
      "ask the operator to start the kernel with a shorter `TMPDIR`",
    );
  }
}
