/**
 * The secrets of a command: what it sees of them, and how the proxy makes its requests with them.
 *
 * INVARIANT: a command knows placeholders alone, and only those of secrets that are bound to servers which it may
 * reach.
 */
import { SecretBroker } from "../../../sandbox/net/broker/broker.ts";
import type { SecretWay } from "../../../sandbox/net/broker/secret-way.ts";
import { trustedFiles } from "../../../sandbox/net/broker/trusted-files.ts";
import type { SandboxFile } from "../../../sandbox/sandbox.ts";
import type { HandleParts } from "../handle-parts.ts";

/** What a command gets, and its way out. */
export interface CommandSecrets {
  readonly way: SecretWay;
  readonly files: readonly SandboxFile[];
  /** Placeholders, over which a command may set values of its own. */
  readonly variables: Readonly<Record<string, string>>;
  /** By which its programs believe the proxy. */
  readonly trust: Readonly<Record<string, string>>;
}

/** The secrets of a command that may reach `hosts`, as `host:port`; nothing where the operator names none. */
export async function commandSecrets(
  { kernel, running }: HandleParts,
  hosts: readonly string[],
): Promise<CommandSecrets | undefined> {
  const { secrets } = kernel.parts;
  const all = secrets.brokerBy(running.redaction.by);
  if (all === undefined) return undefined;
  const authorities = secrets.authorities();
  const bound = all.secrets.filter(({ bindings }) =>
    bindings.some(({ host, port }) => hosts.includes(`${host}:${port}`)),
  );
  const authority = () => secrets.authorityOf(running.session.id);
  // also of what is bound to nothing here: its placeholder must not go anywhere else
  const way = { broker: all, authority, ...(authorities !== undefined && { authorities }) };
  if (bound.length === 0) return { way, files: [], variables: {}, trust: {} };
  const { files, environment } = trustedFiles((await authority()).certificate);
  return { way, files, variables: new SecretBroker(bound).variables(), trust: environment };
}
