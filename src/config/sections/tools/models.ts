/**
 * Defines the sections `models` and `knowledge` of `handrail.yaml`: providers of models, and the model that embeds.
 *
 * INVARIANTS: each provider is one server, named by its address; a key is the name of a secret, never a value. A
 * workspace can set none. What is indexed goes to no other machine unless the operator says so in a word of its own.
 */
import * as z from "zod";
import {
  MODEL_PROTOCOLS,
  type ModelProtocol,
  type ModelProvider,
  type ServiceAddress,
} from "../../../model/reach/models.ts";
import { classOfHost } from "../../../names/address-class.ts";
import { webAddress } from "../../../names/web-address.ts";
import { baseAddress } from "../servers.ts";

/** Providers that the operator can name, and models of one that are listed. */
const PROVIDERS_MAX = 64;
const PROVIDER_MODELS_MAX = 256;
/** Characters of a provider's or a model's name (INV-0025, INV-0026). */
const NAME_CHARACTERS_MAX = 256;
/** Seconds that one call of a model may take when the operator does not say, and at most. */
const MODEL_TIMEOUT_SECONDS = 120;
const MODEL_TIMEOUT_MAX_SECONDS = 1800;
/** Further tries when the operator does not say, and at most. */
const MODEL_RETRIES = 2;
const MODEL_RETRIES_MAX = 10;
/** The most that a million tokens can cost. */
const PRICE_MAX = 1_000_000;

const ADDRESSES: Readonly<Record<ModelProtocol, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  ollama: "http://127.0.0.1:11434",
};

const model = z.string().min(1).max(NAME_CHARACTERS_MAX);
const price = z.number().min(0).max(PRICE_MAX);

const provider = z.strictObject({
  protocol: z.enum(MODEL_PROTOCOLS),
  /** Where the interface begins; that of the protocol's own provider when absent. */
  url: baseAddress.optional(),
  /** The name of a secret under `secrets`. */
  secret: z.string().optional(),
  models: z.array(model).min(1).max(PROVIDER_MODELS_MAX).optional(),
  /** What a million tokens cost, in the unit of cost budgets. */
  prices: z.record(model, z.strictObject({ input: price, output: price })).default({}),
  timeout_seconds: z.int().min(1).max(MODEL_TIMEOUT_MAX_SECONDS).default(MODEL_TIMEOUT_SECONDS),
  retries: z.int().min(0).max(MODEL_RETRIES_MAX).default(MODEL_RETRIES),
});

/** The schema of `models`: providers by their names. */
export const modelSettings = z
  .record(z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "must be lower-case letters, digits, `_` and `-`"), provider)
  .refine((all) => Object.keys(all).length <= PROVIDERS_MAX, `holds more than ${PROVIDERS_MAX} providers`);

/** Parsed `models`. */
export type ModelSettings = z.infer<typeof modelSettings>;

/** The providers that the settings name. */
export function providersOf(settings: ModelSettings): readonly ModelProvider[] {
  return Object.entries(settings).map(([name, one]) => ({
    name,
    protocol: one.protocol,
    url: one.url ?? ADDRESSES[one.protocol],
    ...(one.secret !== undefined && { secret: one.secret }),
    ...(one.models && { models: one.models }),
    prices: one.prices,
    timeoutMs: one.timeout_seconds * 1000,
    retries: one.retries,
  }));
}

/** What a provider's secret must be, for messages: known, and for that server over TLS. */
export function problemOfSecret(
  { url, secret }: Pick<ModelProvider, "url" | "secret">,
  secrets: Readonly<Record<string, { readonly bindings: readonly { readonly host: string; readonly port: number }[] }>>,
): string | undefined {
  if (secret === undefined) return undefined;
  const at = webAddress(url);
  if ("problem" in at) return undefined; // said of the address itself
  if (at.scheme !== "https") return "goes with an address that begins with `https` alone";
  const found = Object.hasOwn(secrets, secret) ? secrets[secret] : undefined;
  if (found === undefined) return `\`${secret}\` is not defined under \`secrets\`; \`handrail secrets add\` adds it`;
  const { host } = at.host;
  if (found.bindings.some((one) => one.host === host && one.port === at.port)) return undefined;
  return `\`${secret}\` is not bound to \`${host}:${at.port}\``;
}

/** Where Chroma's server listens when nobody says otherwise. */
const CHROMA_ADDRESS = "http://127.0.0.1:8000";

/** Names that stand in Chroma's paths as they are. */
const chromaName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must be letters, digits, `.`, `_` and `-`");

/** The schema of `knowledge`. */
export const knowledgeSettings = z.strictObject({
  embeddings: z
    .strictObject({
      /** A provider under `models` that speaks Ollama's protocol. */
      provider: z.string().min(1).max(64),
      model: z.string().min(1).max(256),
      allow_remote: z.boolean().default(false),
    })
    .optional(),
  /** Where vectors are kept and compared; in the index itself when absent. */
  vectors: z
    .strictObject({
      store: z.literal("chroma"),
      url: baseAddress.optional(),
      tenant: chromaName.default("default_tenant"),
      database: chromaName.default("default_database"),
      /** The name of a secret under `secrets`, sent as a bearer token. */
      secret: z.string().optional(),
      allow_remote: z.boolean().default(false),
      timeout_seconds: z.int().min(1).max(300).default(10),
    })
    .optional(),
});

/** Parsed `knowledge`. */
export type KnowledgeSettings = z.infer<typeof knowledgeSettings>;

/** Why the model cannot be used, for messages. */
export function problemOfEmbeddings(
  { embeddings }: KnowledgeSettings,
  providers: readonly ModelProvider[],
): string | undefined {
  if (embeddings === undefined) return undefined;
  const { provider: name, allow_remote: allowsRemote } = embeddings;
  const provider = providers.find((one) => one.name === name);
  if (provider === undefined) return `\`${name}\` is not defined under \`models\`; define it there`;
  if (provider.protocol !== "ollama") return `\`${name}\` does not speak \`ollama\`; name a provider that does`;
  if (allowsRemote || isLoopback(provider.url)) return undefined;
  return `\`${name}\` is on another machine, which would get what is indexed; add \`allow_remote: true\` if it may`;
}

/** Chroma's server as the settings name it, with the paths of its database; nothing where they name none. */
export function chromaOf({ vectors }: KnowledgeSettings): ChromaServer | undefined {
  if (vectors === undefined) return undefined;
  const { url = CHROMA_ADDRESS, tenant, database, secret, timeout_seconds: seconds } = vectors;
  const service = {
    name: "chroma",
    url,
    timeoutMs: seconds * 1000,
    retries: 0,
    ...(secret !== undefined && { secret }),
  };
  return { service, path: `/api/v2/tenants/${tenant}/databases/${database}` };
}

/** A server of Chroma's, and where its database lies on it. */
export interface ChromaServer {
  readonly service: ServiceAddress;
  readonly path: string;
}

/** Why vectors cannot be kept there, for messages. */
export function problemOfVectors({ vectors, embeddings }: KnowledgeSettings): string | undefined {
  if (vectors === undefined) return undefined;
  if (embeddings === undefined) return "needs a model that makes vectors; add `knowledge.embeddings`";
  if (vectors.allow_remote || vectors.url === undefined || isLoopback(vectors.url)) return undefined;
  return "is on another machine, which would get vectors of what is indexed; add `allow_remote: true` if it may";
}

function isLoopback(url: string): boolean {
  const address = webAddress(url);
  if ("problem" in address) return true; // said of the address itself
  return classOfHost(address.host) === "loopback";
}
