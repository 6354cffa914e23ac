/**
 * Sends the requests of a provider's client: to that provider alone, with its secret, each try judged and recorded.
 *
 * Clients get a `fetch` of their own, and see good answers alone: what a provider refuses is told to the agent from
 * here, the same for every protocol. INVARIANTS: nothing goes anywhere but to the server that the operator named. The
 * key is put in behind the client, which never has it. What is read is bounded.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { ModelProvider, ServiceAddress } from "../../../model/reach/models.ts";
import { type WebAddress, webAddress } from "../../../names/web-address.ts";
import type { SecretBroker } from "../broker/broker.ts";
import type { Replacements } from "../broker/scrub.ts";
import { NoConnection } from "../fetch/connections.ts";
import { filled, replacementsOf } from "../fetch/hop-secrets.ts";
import { requestFailure } from "../fetch/request-failure.ts";
import { waitOf } from "../fetch/retry-after.ts";
import { type Attempt, AttemptLog, type EgressAttempt } from "../gate/attempt.ts";
import { Received } from "./received.ts";
import { isRefusal, isTransient, type Refused, refusedBy } from "./refused.ts";

/** Milliseconds before the first further try where the provider names none; each next one waits twice as long. */
const RETRY_MS = 1000;
/** Milliseconds that a call waits at most before it tries again; the agent is told of longer ones. */
const RETRY_WAIT_MAX_MS = 30_000;

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

/** Who is asked; a service without a protocol of models answers with one JSON text. */
type RequestedService = ServiceAddress & Partial<Pick<ModelProvider, "protocol">>;

/** The requests of one call to one provider. */
export class ProviderRequests {
  readonly #agent: Dispatcher;
  readonly #provider: RequestedService;
  readonly #rules: ProviderRules;
  readonly #log: AttemptLog;
  readonly #late: AbortSignal;
  readonly #signal: AbortSignal;
  readonly #endsMs: number;
  readonly #over = new AbortController();
  readonly #open: Received[] = [];
  readonly #replacements: Replacements | undefined;
  #failure: unknown;
  #hasAnswer = false;
  #mayHaveCost = false;

  constructor(agent: Dispatcher, provider: RequestedService, rules: ProviderRules) {
    this.#agent = agent;
    this.#provider = provider;
    this.#rules = rules;
    this.#log = new AttemptLog(rules.record);
    this.#late = AbortSignal.timeout(provider.timeoutMs);
    this.#signal = AbortSignal.any([rules.signal, this.#late, this.#over.signal]);
    const address = webAddress(provider.url);
    this.#replacements = "problem" in address ? undefined : replacementsOf(address, rules.broker);
    this.#endsMs = performance.now() + provider.timeoutMs;
  }

  /** What went wrong first, whatever a client made of it. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether the provider has begun to answer. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  /** Whether the provider may have counted tokens: it got a request, and did not refuse it. */
  get mayHaveCost(): boolean {
    return this.#mayHaveCost;
  }

  /** Words of the provider's without its key; cut only afterwards. */
  clean(words: string): string {
    return this.#replacements === undefined ? words : this.#replacements.in(words);
  }

  /** Ends what is still open, and the record of it. */
  close(): void {
    this.#over.abort();
    for (const one of this.#open) one.close();
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
      const waitMs = isTransient(answer.status) ? (answer.waitMs ?? RETRY_MS * 2 ** tried) : Number.POSITIVE_INFINITY;
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
    const before = this.#mayHaveCost;
    try {
      const hop = { method: "POST", address, headers, body };
      const sent = filled(hop, this.#rules.broker);
      this.#mayHaveCost = true; // until it is known that it has not
      const name = host.includes(":") ? `[${host}]` : host;
      const response = await this.#agent.request({
        origin: `${address.scheme}://${name}:${address.port}`,
        path: sent.path,
        method: "POST",
        headers: { ...sent.headers, "accept-encoding": "identity" },
        ...(sent.body !== undefined && { body: sent.body }),
        signal: this.#signal,
      });
      const received = new Received(response.body, {
        attempt,
        sent: Buffer.byteLength(body),
        secrets: sent.used,
        replacements: this.#replacements,
        failed: (error) => this.#failed(error, attempt, host),
      });
      this.#open.push(received);
      const packing = String(response.headers["content-encoding"] ?? "identity");
      if (response.statusCode !== 200 || packing !== "identity") {
        const text = await received.beginning();
        if (isRefusal(response.statusCode)) this.#mayHaveCost = before;
        return { status: response.statusCode, waitMs: waitOf(one(response.headers["retry-after"])), text };
      }
      this.#hasAnswer = true;
      const { protocol = "ollama" } = this.#provider;
      const isEvents = protocol !== "ollama";
      return new Response(ReadableStream.from(received.all(isEvents)), {
        headers: { "content-type": one(response.headers["content-type"]) ?? "" },
      });
    } catch (error) {
      if (error instanceof NoConnection) this.#mayHaveCost = before;
      throw this.#failed(error, attempt, host);
    }
  }

  #refused(answer: Refused): ToolFailure {
    return refusedBy(this.#provider, answer, (words) => this.clean(words));
  }

  #failed(error: unknown, attempt: Attempt, host: string): unknown {
    if (error instanceof ToolFailure) {
      this.#failure ??= error;
      return error;
    }
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
}

interface ProviderRequest {
  readonly address: WebAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function isOf({ url }: ServiceAddress, { scheme, host, port, path }: WebAddress): boolean {
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
