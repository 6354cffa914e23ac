/**
 * Sends the requests of a provider's client: to that provider alone, with its secret, each try judged and recorded.
 *
 * Clients get a `fetch` of their own, and see good answers alone: what a provider refuses is told to the agent from
 * here, the same for every protocol. INVARIANTS: nothing goes anywhere but to the server that the operator named. The
 * key is put in behind the client, which never has it. What is read is bounded.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { KIB, MIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { ModelProvider } from "../../../model/reach/models.ts";
import { type WebAddress, webAddress } from "../../../names/web-address.ts";
import { visibleLine } from "../../../text/foreign-text.ts";
import type { SecretBroker } from "../broker/broker.ts";
import { Scrubber } from "../broker/scrub.ts";
import { filled, replacementsOf } from "../fetch/hop-secrets.ts";
import { requestFailure } from "../fetch/request-failure.ts";
import { waitOf } from "../fetch/retry-after.ts";
import { type Attempt, AttemptLog, type EgressAttempt } from "../gate/attempt.ts";

/** Bytes of an answer: a million tokens, each as an event of its own. */
const MODEL_ANSWER_BYTES_MAX = 512 * MIB;
/** Bytes that are read of an answer which is none. */
const REFUSAL_BYTES_MAX = 64 * KIB;
/** Characters that the agent is told of it. */
const REFUSAL_CHARACTERS_MAX = 500;
/** Milliseconds before the first further try where the provider names none; each next one waits twice as long. */
const RETRY_MS = 1000;
/** Milliseconds that a call waits at most before it tries again; the agent is told of longer ones. */
const RETRY_WAIT_MAX_MS = 30_000;
/** Milliseconds after which the agent may try again where the provider does not say. */
const RETRY_LATER_MS = 5000;

/** What a call says of its requests. */
export interface ProviderRules {
  /** Throws where the call may not go on. Asked before each try. */
  readonly judge: () => Promise<void>;
  /** Called with each try when it has ended; must not throw. */
  readonly record: (attempt: EgressAttempt) => void;
  /** Has the provider's secret, where it has one. */
  readonly broker?: SecretBroker | undefined;
  readonly signal: AbortSignal;
}

/** The requests of one call to one provider. */
export class ProviderRequests {
  readonly #agent: Dispatcher;
  readonly #provider: ModelProvider;
  readonly #rules: ProviderRules;
  readonly #log: AttemptLog;
  readonly #late: AbortSignal;
  readonly #signal: AbortSignal;
  readonly #endsMs: number;
  #failure: unknown;
  #hasAnswer = false;

  constructor(agent: Dispatcher, provider: ModelProvider, rules: ProviderRules) {
    this.#agent = agent;
    this.#provider = provider;
    this.#rules = rules;
    this.#log = new AttemptLog(rules.record);
    this.#late = AbortSignal.timeout(provider.timeoutMs);
    this.#signal = AbortSignal.any([rules.signal, this.#late]);
    this.#endsMs = performance.now() + provider.timeoutMs;
  }

  /** What went wrong first, whatever a client made of it. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether the provider has begun to answer, so that it may have counted tokens. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  /** As clients call it. Rejects with the failure that the agent is told. */
  readonly fetch = async (to: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    try {
      return await this.#answered(to, init);
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  };

  async #answered(to: string | URL | Request, { method = "GET", headers, body }: RequestInit): Promise<Response> {
    const address = webAddress(to instanceof Request ? to.url : String(to));
    if ("problem" in address || !isOf(this.#provider, address) || method !== "POST" || typeof body !== "string")
      throw new Error(`a client of \`${this.#provider.name}\` sent another request than one to its models`);
    const request = { address, headers: namedHeaders(headers), body };
    for (let tried = 0; ; tried += 1) {
      const answer = await this.#once(request);
      if (answer instanceof Response) return answer;
      const waitMs = answer.isTransient ? (answer.waitMs ?? RETRY_MS * 2 ** tried) : Number.POSITIVE_INFINITY;
      const isTooLong = waitMs > RETRY_WAIT_MAX_MS || performance.now() + waitMs >= this.#endsMs;
      if (tried >= this.#provider.retries || isTooLong) throw this.#refused(answer);
      await pause(waitMs, undefined, { signal: this.#signal }).catch((error: unknown) => {
        throw this.#late.aborted || this.#rules.signal.aborted ? this.#refused(answer) : error;
      });
    }
  }

  async #once({ address, headers, body }: ProviderRequest): Promise<Response | Refused> {
    await this.#rules.judge();
    const attempt = this.#log.begin("request");
    const { host } = address.host;
    attempt.to(host, address.port);
    try {
      const hop = { method: "POST", address, headers, body };
      const sent = filled(hop, this.#rules.broker);
      const name = host.includes(":") ? `[${host}]` : host;
      const response = await this.#agent.request({
        origin: `${address.scheme}://${name}:${address.port}`,
        path: sent.path,
        method: "POST",
        headers: { ...sent.headers, "accept-encoding": "identity" },
        ...(sent.body !== undefined && { body: sent.body }),
        signal: this.#signal,
      });
      const received = new Received(attempt, {
        sent: Buffer.byteLength(body),
        secrets: sent.used,
        failed: (error) => this.#failed(error, attempt, host),
      });
      const replacements = replacementsOf(address, this.#rules.broker);
      const packing = String(response.headers["content-encoding"] ?? "identity");
      if (response.statusCode !== 200 || packing !== "identity") {
        const text = await received.beginning(response.body);
        return {
          status: response.statusCode,
          isTransient: isTransient(response.statusCode),
          waitMs: waitOf(one(response.headers["retry-after"])),
          text: replacements === undefined ? text : replacements.in(text),
        };
      }
      this.#hasAnswer = true;
      const scrubber = replacements === undefined ? undefined : new Scrubber(replacements);
      return new Response(ReadableStream.from(received.all(response.body, scrubber)), {
        headers: { "content-type": one(response.headers["content-type"]) ?? "" },
      });
    } catch (error) {
      throw this.#failed(error, attempt, host);
    }
  }

  #failed(error: unknown, attempt: Attempt, host: string): unknown {
    if (error instanceof ToolFailure) return error;
    const failure = requestFailure(error, {
      attempt,
      host,
      isFirst: true,
      isLate: this.#late.aborted,
      isCancelled: this.#rules.signal.aborted,
    });
    this.#failure ??= failure;
    return failure;
  }

  /** What the agent is told of an answer that is none. */
  #refused({ status, isTransient: mayRetry, waitMs, text }: Refused): ToolFailure {
    const { name } = this.#provider;
    const said = saidBy(text);
    const words = `\`${name}\` answers ${status}${said === "" ? "" : `: ${said}`}`;
    if (status === 429)
      return new ToolFailure("RATE_LIMITED", words, {
        suggestion: "wait, then try again, or ask another model",
        retryAfterMs: waitMs ?? RETRY_LATER_MS,
      });
    if (mayRetry)
      return new ToolFailure("IO_ERROR", words, {
        suggestion: "try again later, or ask another provider",
        retryAfterMs: waitMs ?? RETRY_LATER_MS,
      });
    if (status === 401 || status === 403)
      return new ToolFailure(
        "PERMISSION_DENIED",
        words,
        "tell the operator: `handrail secrets check` says whether the key can be read",
      );
    if (status === 404) return new ToolFailure("NOT_SUPPORTED", words, "ask a model that the provider has");
    return new ToolFailure("IO_ERROR", words, "change the request as the provider says");
  }
}

interface ProviderRequest {
  readonly address: WebAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer that is none. */
interface Refused {
  readonly status: number;
  readonly isTransient: boolean;
  readonly waitMs: number | undefined;
  readonly text: string;
}

/** Of these the provider itself says, or means, that a later try may do. */
function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function isOf({ url }: ModelProvider, { scheme, host, port, path }: WebAddress): boolean {
  const own = webAddress(url);
  if ("problem" in own) return false;
  const below = own.path.endsWith("/") ? own.path : `${own.path}/`;
  return own.scheme === scheme && own.host.host === host.host && own.port === port && path.startsWith(below);
}

/** What clients set, but for headers without a value: those of a key that there is none of. */
function namedHeaders(headers: RequestInit["headers"]): Readonly<Record<string, string>> {
  return Object.fromEntries([...new Headers(headers)].filter(([name, value]) => value !== "" && name !== "host"));
}

function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "object" ? header[0] : header;
}

/** What a provider says of an error, where it can be read: at `error.message`, `error` or `message`. */
function saidBy(text: string): string {
  let said: unknown = text;
  try {
    const read = JSON.parse(text) as { readonly error?: unknown; readonly message?: unknown } | null;
    const { error = read, message = error } = read ?? {};
    said = typeof error === "object" && error !== null && "message" in error ? error.message : message;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return typeof said === "string" ? visibleLine(said.trim().slice(0, REFUSAL_CHARACTERS_MAX)) : "";
}

/** Reads the body of one try, and ends the record of it. */
class Received {
  readonly #attempt: Attempt;
  readonly #sent: number;
  readonly #secrets: readonly string[];
  readonly #failed: (error: unknown) => unknown;
  #bytes = 0;

  constructor(
    attempt: Attempt,
    {
      sent,
      secrets,
      failed,
    }: {
      readonly sent: number;
      readonly secrets: readonly string[];
      readonly failed: (error: unknown) => unknown;
    },
  ) {
    this.#attempt = attempt;
    this.#sent = sent;
    this.#secrets = secrets;
    this.#failed = failed;
  }

  /** As much of the body as says what is wrong. */
  async beginning(body: Dispatcher.ResponseData["body"]): Promise<string> {
    const pieces: Buffer[] = [];
    body.on("error", () => undefined); // it is over
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      this.#bytes += piece.length;
      if (this.#bytes >= REFUSAL_BYTES_MAX) break;
    }
    body.destroy();
    this.#end();
    return Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString();
  }

  /** The body, without values of secrets. */
  async *all(body: Dispatcher.ResponseData["body"], scrubber: Scrubber | undefined): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        this.#bytes += piece.length;
        if (this.#bytes > MODEL_ANSWER_BYTES_MAX)
          throw new ToolFailure("OUTPUT_LIMIT", "the provider's answer does not end", "ask for fewer tokens");
        yield scrubber === undefined ? piece : scrubber.push(piece);
      }
      if (scrubber !== undefined) yield scrubber.flush();
      this.#end();
    } catch (error) {
      this.#attempt.moved(this.#sent, this.#bytes);
      throw this.#failed(error);
    } finally {
      body.destroy();
      this.#end();
    }
  }

  #end(): void {
    this.#attempt.moved(this.#sent, this.#bytes);
    this.#attempt.end("allowed", undefined, this.#secrets.length === 0 ? {} : { secrets: this.#secrets });
  }
}
