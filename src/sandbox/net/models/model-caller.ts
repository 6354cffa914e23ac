/**
 * Asks models for completions, for one kernel: by the protocol of their provider, over connections that the gate makes.
 *
 * INVARIANTS: a completion without its end is none. What an agent is told of an answer that cannot be read is short,
 * and of visible characters.
 */
import type { Agent } from "undici";
import { MIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { ModelFinish, ModelProvider, ModelUsage, ServiceAddress } from "../../../model/reach/models.ts";
import { visibleLine } from "../../../text/foreign-text.ts";
import { type ConnectionRules, webConnections } from "../fetch/connections.ts";
import { SecretMisplaced } from "../fetch/hop-secrets.ts";
import type { CompletionClient, CompletionRequest } from "./completion.ts";
import type { EmbeddingRequest } from "./ollama-embedder.ts";
import { ProviderRequests, type ProviderRules } from "./provider-requests.ts";
import type { ServiceQuestion } from "./service-question.ts";

/** Characters of a completion. */
const COMPLETION_CHARACTERS_MAX = 4 * MIB;
/** Notes of one answer. */
const NOTES_MAX = 8;
/** Characters of a note, and of what is said of an answer that cannot be read. */
const WORDS_CHARACTERS_MAX = 500;

/** How a call asks. */
export interface CompletionRules extends ProviderRules {
  /** Called with each piece of text as it comes. */
  readonly onText: (text: string) => void;
}

/** A whole completion. */
export interface Completion {
  readonly text: string;
  readonly finish: ModelFinish;
  readonly usage?: ModelUsage;
  readonly notes: readonly string[];
}

/** What went wrong, and whether the provider may have counted tokens for it. */
export class CompletionFailed extends Error {
  override readonly cause: unknown;
  readonly mayHaveCost: boolean;

  constructor(cause: unknown, mayHaveCost: boolean) {
    super("no completion came", { cause });
    this.name = "CompletionFailed";
    this.cause = cause;
    this.mayHaveCost = mayHaveCost;
  }
}

/** Models, for one kernel. */
export class ModelCaller {
  readonly #agent: Agent;

  constructor(rules: ConnectionRules) {
    this.#agent = webConnections(rules);
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /**
   * Asks for vectors.
   * @throws ToolFailure, or what `judge` threw
   */
  async embed(
    provider: ModelProvider,
    request: EmbeddingRequest,
    rules: ProviderRules,
  ): Promise<readonly Float32Array[]> {
    const { embedByOllama } = await import("./ollama-embedder.ts");
    const requests = new ProviderRequests(this.#agent, provider, rules);
    try {
      return await embedByOllama(provider, request, requests);
    } catch (error) {
      throw requests.failure ?? unreadable(provider, requests, error);
    } finally {
      requests.close();
    }
  }

  /**
   * Asks a service that is no model, with one JSON text, for another.
   * @throws ToolFailure, or what `judge` threw
   */
  async ask(service: ServiceAddress, question: ServiceQuestion, rules: ProviderRules): Promise<unknown> {
    const { askService } = await import("./service-question.ts");
    const requests = new ProviderRequests(this.#agent, service, rules);
    try {
      return await askService(service, question, requests);
    } catch (error) {
      throw requests.failure ?? unreadable(service, requests, error);
    } finally {
      requests.close();
    }
  }

  /**
   * Asks for a completion.
   * @throws CompletionFailed caused by a ToolFailure, by SecretMisplaced, by what `judge` threw, or by a bug
   */
  async complete(provider: ModelProvider, request: CompletionRequest, rules: CompletionRules): Promise<Completion> {
    const requests = new ProviderRequests(this.#agent, provider, rules);
    try {
      const client = await clientOf(provider);
      const completion = await whole(provider, client(provider, request, requests), rules.onText);
      return { ...completion, notes: completion.notes.map((note) => shortWords(requests, note)) };
    } catch (error) {
      const cause = requests.failure ?? (requests.hasAnswer ? unreadable(provider, requests, error) : error);
      throw new CompletionFailed(cause, requests.mayHaveCost);
    } finally {
      requests.close();
    }
  }
}

async function clientOf({ protocol }: ModelProvider): Promise<CompletionClient> {
  if (protocol === "ollama") return (await import("./ollama-client.ts")).completeByOllama;
  return (await import("./ai-sdk-client.ts")).completeByAiSdk;
}

async function whole(
  { name }: ModelProvider,
  parts: ReturnType<CompletionClient>,
  onText: CompletionRules["onText"],
): Promise<Completion> {
  const texts: string[] = [];
  const notes: string[] = [];
  let length = 0;
  for await (const part of parts) {
    if (part.kind === "end") {
      const { finish, usage } = part;
      return { text: texts.join(""), finish, notes, ...(usage && { usage }) };
    }
    if (part.kind === "note") {
      if (notes.length < NOTES_MAX) notes.push(part.text);
      continue;
    }
    length += part.text.length;
    if (length > COMPLETION_CHARACTERS_MAX)
      throw new ToolFailure("OUTPUT_LIMIT", `the completion of \`${name}\` does not end`, "ask for fewer tokens");
    texts.push(part.text);
    onText(part.text);
  }
  throw new Error("the answer ended before the completion did");
}

/** An answer that began well and went on in a way that nobody can read, or with an error of the provider's. */
function unreadable({ name }: ServiceAddress, requests: ProviderRequests, error: unknown): unknown {
  if (error instanceof ToolFailure || error instanceof SecretMisplaced) return error;
  const said = shortWords(requests, error instanceof Error ? error.message : String(error));
  return new ToolFailure("IO_ERROR", `the answer of \`${name}\` broke off or cannot be read: ${said}`, {
    suggestion: "try again, or ask another model",
    retryAfterMs: 1000,
  });
}

/** Foreign words, short and visible, cut only once the key is out of them. */
function shortWords(requests: ProviderRequests, words: string): string {
  return visibleLine(requests.clean(words).slice(0, WORDS_CHARACTERS_MAX));
}
