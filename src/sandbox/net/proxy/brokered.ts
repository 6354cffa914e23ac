/**
 * A request to a server that a secret is bound to, made by the kernel over TLS, and its answer.
 *
 * The request is written anew out of what was read and judged. INVARIANTS: secrets are put in last, and what the server
 * answers has none of them when the client gets it; an answer that cannot be looked through is not passed on.
 */
import type { IncomingMessage } from "node:http";
import { Readable, Transform } from "node:stream";
import type { Client, Dispatcher } from "undici";
import { MIB } from "../../../base/bytes.ts";
import type { PlannedRequest, SecretBroker } from "../broker/broker.ts";
import type { SecretProblem } from "../broker/substitute.ts";
import { ACCEPTED_PACKINGS } from "../fetch/packings.ts";
import { type EgressRefusal, failed, refused } from "../gate/admission.ts";
import { passAnswer } from "./brokered-answer.ts";
import type { ClientExchange } from "./forward.ts";
import { type ForwardTarget, keptHeaders } from "./proxy-request.ts";
import type { Held, Upstreams } from "./upstreams.ts";

/** Bytes of a body that is read before it is sent, because a secret goes into it or signs it. */
const BROKERED_BODY_BYTES_MAX = 2 * MIB;

/** The server, and the way to it. */
export interface BrokeredRoute {
  readonly target: ForwardTarget;
  readonly broker: SecretBroker;
  /** Its one connection. */
  readonly client: Client;
  /** For the record. */
  readonly detail: { readonly address?: string };
}

/** Sends the client's request, and passes the answer on. */
export async function passBrokered(
  exchange: ClientExchange,
  route: BrokeredRoute,
  upstreams: Upstreams,
): Promise<void> {
  const { request, response, attempt, refuse } = exchange;
  const { target, broker, client, detail } = route;
  const { host, port, path, authority } = target;
  const method = request.method ?? "GET";
  const server = { method, host: host.host, port, path };
  const replacements = broker.replacementsFor(host.host, port);
  const kept = keptHeaders(request.rawHeaders, authority);
  const headers = replacements === undefined ? kept : readable(kept); // before they are signed
  const planned = broker.plan({ ...server, headers }, authority);
  if (planned.kind !== "request") return refuse(refusalOf(planned));
  const held = upstreams.held();
  const ready = await bodied(planned, { request, broker, held });
  if (ready.kind !== "ready") held.free();
  if (ready.kind !== "ready") return refuse(ready.kind === "refusal" ? ready : refusalOf(ready));
  const { used } = ready;
  const carried = used.length === 0 ? detail : { ...detail, secrets: used };
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  let [sent, received] = [0, 0];
  const counting = (side: "sent" | "received") => (piece: Buffer) => {
    if (side === "sent") sent += piece.length;
    else received += piece.length;
    upstreams.count(side, piece.length);
  };
  // also where it ended before anybody read it
  ready.body?.on("data", counting("sent")).once("error", () => gone.abort());
  try {
    if (ready.body?.errored) throw ready.body.errored;
    const answer: Dispatcher.ResponseData = await client.request({
      method: method as Dispatcher.HttpMethod,
      path: planned.path,
      headers: [...ready.headers],
      body: ready.body ?? null,
      signal: gone.signal,
      responseHeaders: "raw",
    });
    answer.body.on("data", counting("received")).on("error", () => undefined); // whoever reads it is told
    const unpassable = await passAnswer(answer, { response, replacements, isHead: method === "HEAD" });
    if (unpassable !== undefined) return refuse({ ...unpassable, ...carried });
    attempt.moved(sent, received);
    attempt.end("allowed", response.writableFinished ? undefined : "no_answer", carried);
  } catch (error) {
    attempt.moved(sent, received);
    const seen = error instanceof PlaceholderSeen ? error.problem : seenBy(ready.body);
    if (seen !== undefined) return refuse(refusalOf(seen));
    refuse({ ...failed("no_answer", `\`${host.host}\` gave no answer that can be read; try again later`), ...carried });
  } finally {
    held.free();
  }
}

/** A request that can be sent. */
interface Ready {
  readonly kind: "ready";
  readonly headers: readonly string[];
  readonly body?: Readable;
  readonly used: readonly string[];
}

async function bodied(
  planned: PlannedRequest,
  { request, broker, held }: { readonly request: IncomingMessage; readonly broker: SecretBroker; readonly held: Held },
): Promise<Ready | EgressRefusal | SecretProblem> {
  const { headers, used, finish } = planned;
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  const hasBody = encoding !== undefined || (length !== undefined && length !== "0");
  if (finish === undefined) {
    if (!hasBody) return { kind: "ready", headers, used };
    return { kind: "ready", headers, used, body: watched(request, broker) };
  }
  const body = await whole(request, held);
  if ("kind" in body) return body;
  const finished = finish(body);
  if (finished.kind !== "finished") return finished;
  const without = finished.headers.filter((_, at) => !/^content-length$/i.test(finished.headers[at - (at % 2)] ?? ""));
  const measured = hasBody ? [...without, "Content-Length", String(finished.body.length)] : without;
  const sentBody = hasBody ? { body: Readable.from([finished.body], { objectMode: false }) } : {};
  return { kind: "ready", headers: measured, used: finished.used, ...sentBody };
}

/** The body as it comes. What ends it leaves the client's connection, over which it is told why. */
function watched(request: IncomingMessage, broker: SecretBroker): Watch {
  const watch = new Watch(broker);
  watch.once("error", () => request.unpipe(watch).resume());
  request.once("close", () => {
    if (!request.complete) watch.destroy();
  });
  return request.pipe(watch);
}

/** The whole body, as far as it and what else is held may take memory. */
async function whole(request: IncomingMessage, held: Held): Promise<Buffer | EgressRefusal> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > BROKERED_BODY_BYTES_MAX)
        return refused("secret_binding", `a body that a secret goes into has at most ${BROKERED_BODY_BYTES_MAX} bytes`);
      if (!held.take(piece.length)) return failed("too_many_bytes", "too many such bodies at once; send fewer");
      pieces.push(piece);
    }
  } catch {
    return failed("closed", "the body broke off"); // the client is gone, and hears nothing of it
  }
  return Buffer.concat(pieces, length);
}

/** A placeholder in a body that no binding names. */
class PlaceholderSeen extends Error {
  readonly problem: SecretProblem;

  constructor(problem: SecretProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Passes a body on until a placeholder stands in it, in whatever pieces it comes. */
class Watch extends Transform {
  readonly #broker: SecretBroker;
  #tail = "";
  seen: SecretProblem | undefined;

  constructor(broker: SecretBroker) {
    super();
    this.#broker = broker;
  }

  override _transform(piece: Buffer, _: BufferEncoding, done: (error: Error | null, piece?: Buffer) => void): void {
    const text = this.#tail + piece.toString("latin1");
    this.seen = this.#broker.seenIn(text);
    this.#tail = text.slice(Math.max(0, text.length - this.#broker.placeholders.longest + 1));
    if (this.seen === undefined) done(null, piece);
    else done(new PlaceholderSeen(this.seen));
  }
}

function seenBy(body: Readable | undefined): SecretProblem | undefined {
  return body instanceof Watch ? body.seen : undefined;
}

/** Only what can be unpacked is asked for, and all of it: from two parts nobody could tell what stands in the whole. */
function readable(headers: readonly string[]): string[] {
  const whole = headers.filter((_, at) => !/^(?:range|if-range)$/i.test(headers[at - (at % 2)] ?? ""));
  return whole.map((text, at) =>
    at % 2 === 1 && /^accept-encoding$/i.test(whole[at - 1] ?? "") ? ACCEPTED_PACKINGS : text,
  );
}

/** How a request that a secret stands wrongly in is answered. */
export function refusalOf({ kind, message }: SecretProblem): EgressRefusal {
  return kind === "mismatch" ? refused("secret_binding", message) : failed("secret_unavailable", message);
}
