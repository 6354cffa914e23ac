/**
 * Puts secrets into a request of the kernel's own, where the call wrote their names or placeholders. Pure.
 *
 * INVARIANT: a request that is wrong about a secret is not sent; none with a secret is sent but over TLS.
 */
import type { WebAddress } from "../../../names/web-address.ts";
import type { SecretBroker } from "../broker/broker.ts";
import type { Replacements } from "../broker/scrub.ts";
import type { SecretProblem } from "../broker/substitute.ts";
import type { ReadBody } from "./body.ts";

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
  // from two parts nobody could tell what stands in the whole
  const isBound = broker.isBoundTo(host, port);
  const whole = Object.entries(headers).filter(([name]) => !(isBound && /^(?:range|if-range)$/i.test(name)));
  const pairs = whole.flat();
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

/** What takes the place of values in the answer of a server. */
export function replacementsOf({ host: { host }, port }: WebAddress, broker: SecretBroker | undefined) {
  return broker?.replacementsFor(host, port);
}

/** The body of an answer without values; what could be the beginning of one, where it was cut, goes, too. */
export function withoutSecrets(
  body: Pick<ReadBody, "bytes" | "isCut">,
  replacements: Replacements | undefined,
): Buffer {
  const { bytes, isCut } = body;
  if (replacements === undefined) return bytes;
  const text = replacements.in(bytes.toString("latin1"));
  return Buffer.from(isCut ? text.slice(0, Math.max(0, text.length - replacements.longest)) : text, "latin1");
}

function named(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: pairs.length / 2 }, (_, at) => [pairs[2 * at] ?? "", pairs[2 * at + 1] ?? ""]),
  );
}
