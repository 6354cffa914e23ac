/** Defines how a command's requests are made with secrets that it knows by placeholders alone. */
import type { SessionAuthority } from "./authority.ts";
import type { SecretBroker } from "./broker.ts";

/** The secrets of a call, and who vouches inside for the servers that they are bound to. */
export interface SecretWay {
  readonly broker: SecretBroker;
  /** Made with the first request that needs it. */
  readonly authority: () => Promise<SessionAuthority>;
  /** Authorities that are believed of servers beside those of the machine, as PEM. */
  readonly authorities?: string;
}
