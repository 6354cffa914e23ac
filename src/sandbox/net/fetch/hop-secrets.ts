/**
 * Puts secrets into a request of the kernel's own, where the call wrote their names or placeholders. Pure.
 *
 * INVARIANT: a request that is wrong about a secret is not sent; none with a secret is sent but over TLS.
 */
import type { WebAddress } from "../../../names/web-address.ts";
import type { SecretBroker } from "../broker/broker.ts";
import type { SecretProblem } from "../broker/substitute.ts";

/** What of a request secrets may stand in. */
export interface SecretHop {
  readonly method: string;
  readonly address: WebAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The request as it is sent. */
export interface FilledHop {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Names of the secrets that it carries. */
  readonly used: readonly string[];
}

/** A secret stands where it is not for, or cannot be read. */
export class SecretMisplaced extends Error {
  readonly problem: SecretProblem;

  constructor(problem: SecretProblem) {
    super(problem.message);
    this.name = "SecretMisplaced";
    this.problem = problem;
  }
}

/** The request with its secrets. @throws SecretMisplaced */
export function filled(hop: SecretHop, broker: SecretBroker | undefined): FilledHop {
  const { method, address, headers, body } = hop;
  const { scheme, port, path } = address;
  const { host } = address.host;
  if (broker === undefined) return { path, headers, used: [], ...(body !== undefined && { body }) };
  const pairs = Object.entries(headers).flat();
  const authority = port === 443 ? host : `${host}:${port}`;
  const planned = broker.plan({ method, host, port, path, headers: pairs }, authority);
  if (planned.kind !== "request") throw new SecretMisplaced(planned);
  const finished = planned.finish?.(Buffer.from(body ?? ""));
  if (finished !== undefined && finished.kind !== "finished") throw new SecretMisplaced(finished);
  const elsewhere = finished === undefined && body !== undefined ? broker.seenIn(body) : undefined;
  if (elsewhere !== undefined) throw new SecretMisplaced(elsewhere);
  const used = finished?.used ?? planned.used;
  const [first] = used;
  if (scheme !== "https" && first !== undefined)
    throw new SecretMisplaced({
      kind: "mismatch",
      secret: first,
      message: `the secret \`${first}\` leaves over https alone`,
    });
  const sent = finished?.body ?? body;
  return {
    path: planned.path,
    headers: named(finished?.headers ?? planned.headers),
    used,
    ...(body !== undefined && sent !== undefined && { body: sent }),
  };
}

/** `bytes` of an answer without the values of secrets that are bound to its server. */
export function withoutSecrets(bytes: Buffer, { host: { host }, port }: WebAddress, broker: SecretBroker | undefined) {
  const replacements = broker?.replacementsFor(host, port);
  if (replacements === undefined) return bytes;
  return Buffer.from(replacements.in(bytes.toString("latin1")), "latin1");
}

function named(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: pairs.length / 2 }, (_, at) => [pairs[2 * at] ?? "", pairs[2 * at + 1] ?? ""]),
  );
}
