/**
 * A plain request passed on, and its answer.
 *
 * The request is written anew out of what was read, so that the server cannot read it otherwise than it was judged;
 * each has a connection of its own, so that none can leave something behind for the next. INVARIANT: the promise is
 * settled when the connection is closed and the client has its answer or is gone.
 */
import { type ClientRequest, type IncomingMessage, request as newRequest, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { KIB } from "../../../base/bytes.ts";
import { type EgressRefusal, failed } from "../gate/admission.ts";
import type { Attempt } from "../gate/attempt.ts";
import { answeredHeaders, type ForwardTarget, forwardedHeaders } from "./proxy-request.ts";
import type { Upstream, Upstreams } from "./upstreams.ts";

/** Bytes of the first line and the headers of a request or an answer. */
export const EGRESS_HEAD_BYTES_MAX = 32 * KIB;

/** A plain request of a client, and how it is answered and recorded. */
export interface ClientExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly attempt: Attempt;
  /** Answers instead of the server, which has not answered. */
  readonly refuse: (refusal: EgressRefusal) => void;
}

/** The connection over which a request goes out, and the target that it reaches. */
export interface ForwardRoute {
  readonly target: ForwardTarget;
  readonly upstream: Upstream;
  /** Headers that the request gets, each in place of the client's own. */
  readonly added?: Readonly<Record<string, string>>;
}

/** Passes the client's request on over the route. */
export async function forward(exchange: ClientExchange, route: ForwardRoute, upstreams: Upstreams): Promise<void> {
  const { request, response, attempt, refuse } = exchange;
  const { target, upstream, added = {} } = route;
  const { socket } = upstream;
  const closed = new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));
  const answered = new Promise<void>((resolve) =>
    response.closed ? resolve() : response.once("close", () => resolve()),
  );
  let hasAnswer = false;
  const outgoing = newRequest({
    createConnection: () => socket,
    method: request.method ?? "GET",
    path: target.path,
    headers: forwardedHeaders(request.rawHeaders, target.authority, added),
    insecureHTTPParser: false,
    maxHeaderSize: EGRESS_HEAD_BYTES_MAX,
  });
  const noAnswer = () => {
    if (hasAnswer) return;
    hasAnswer = true;
    request.unpipe(outgoing);
    upstream.cut("no_answer");
    refuse(noAnswerOf(target, upstream));
  };
  outgoing.once("error", noAnswer);
  outgoing.once("close", noAnswer);
  outgoing.once("response", (answer) => {
    if (hasAnswer) return;
    hasAnswer = pass(answer, exchange, upstreams);
    if (!hasAnswer) noAnswer();
  });
  if (response.closed) upstream.cut("closed");
  response.once("close", () => upstream.cut("closed"));
  send(request, outgoing, upstreams);
  await Promise.all([closed, answered]);
  attempt.moved(socket.bytesWritten, socket.bytesRead);
  attempt.end("allowed", response.writableFinished ? undefined : (upstream.cutBy ?? "no_answer"), upstream.detail);
}

/** Begins the answer; `false` when it cannot be one. */
function pass(answer: IncomingMessage, { request, response }: ClientExchange, upstreams: Upstreams): boolean {
  const { statusCode = 0 } = answer;
  if (statusCode < 200) return false;
  const headers = answeredHeaders(answer.rawHeaders);
  // what is left of the request has no reader any more
  if (!request.complete) headers.push("Connection", "close");
  response.sendDate = false;
  try {
    response.writeHead(statusCode, headers);
  } catch {
    return false; // it holds what no answer may, though it could be read
  }
  answer.on("data", (piece: Buffer) => upstreams.count("received", piece.length));
  pipeline(answer, response, () => undefined); // both are watched by whoever opened them
  return true;
}

function send(request: IncomingMessage, outgoing: ClientRequest, upstreams: Upstreams): void {
  request.on("data", (piece: Buffer) => upstreams.count("sent", piece.length));
  request.once("error", () => outgoing.destroy());
  request.pipe(outgoing);
}

function noAnswerOf({ host, port }: ForwardTarget, { cutBy }: Upstream): EgressRefusal {
  const isLate = cutBy === "timeout";
  const what = isLate ? "did not answer in time" : "gave no answer that can be read";
  return failed(cutBy ?? "no_answer", `\`${host.host}\` ${what} at port \`${port}\`; try again later, or use https`);
}
