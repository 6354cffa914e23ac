/** The web and models, for tools that reach them, by the configuration in force; loaded with the first use. */
import { providersOf } from "../config/sections/tools/models.ts";
import { openedWebHosts } from "../config/sections/tools/web.ts";
import type { KernelParts } from "../kernel/index.ts";
import type { Embedder } from "../knowledge/embedder.ts";
import { webAddress } from "../names/web-address.ts";
import type { Redactor } from "../redact/redact.ts";
import type { SessionAuthorities } from "../sandbox/net/broker/session-authorities.ts";
import type { EgressNetwork } from "../sandbox/net/gate/admission.ts";
import { brokerBy } from "./configuration.ts";
import type { OperatorDirectory } from "./operator/operator-directory.ts";
import { webAuthorities } from "./secrets/web-authorities.ts";

/** What a kernel reaches the web with, and the end of it. */
export interface OpenWeb {
  readonly web: KernelParts["web"];
  /** Ends all connections. */
  readonly close: () => Promise<void>;
}

/** Opens nothing yet. @param network the machine's own when absent */
export function openWeb(
  live: { readonly operator: Pick<OperatorDirectory, "settings"> },
  network?: EgressNetwork,
): OpenWeb {
  let opened: ReturnType<KernelParts["web"]["open"]> | undefined;
  const open = async () => {
    const [{ WebFetcher }, { MACHINE_NETWORK }] = await Promise.all([
      import("../sandbox/net/fetch/fetcher.ts"),
      import("../sandbox/net/egress.ts"),
    ]);
    return new WebFetcher({
      network: network ?? MACHINE_NETWORK,
      isOpened: (host, port) => openedWebHosts(live.operator.settings.web).includes(`${host}:${port}`),
      authorities: () => webAuthorities(live.operator.settings),
    });
  };
  return {
    web: {
      open() {
        opened ??= open();
        return opened;
      },
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

/** What a kernel asks models with, and the end of it. */
export interface OpenModels {
  readonly models: KernelParts["models"];
  /** Ends all connections. */
  readonly close: () => Promise<void>;
}

/** Opens nothing yet; a provider's server may lie wherever it is. @param network the machine's own when absent */
export function openModels(
  live: { readonly operator: Pick<OperatorDirectory, "settings"> },
  network?: EgressNetwork,
): OpenModels {
  let opened: ReturnType<KernelParts["models"]["open"]> | undefined;
  const providers = () => providersOf(live.operator.settings.models);
  const open = async () => {
    const [{ ModelCaller }, { MACHINE_NETWORK }] = await Promise.all([
      import("../sandbox/net/models/model-caller.ts"),
      import("../sandbox/net/egress.ts"),
    ]);
    return new ModelCaller({
      network: network ?? MACHINE_NETWORK,
      isOpened: (host, port) => providers().some(({ url }) => isServer(url, host, port)),
      authorities: () => webAuthorities(live.operator.settings),
    });
  };
  return {
    models: {
      provider: (name) => providers().find((one) => one.name === name),
      open() {
        opened ??= open();
        return opened;
      },
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

/** What embeds for indexes, by the configuration in force: nothing where it names no model. */
export function embedderBy(
  {
    live,
    redactor,
  }: {
    readonly live: { readonly operator: Pick<OperatorDirectory, "settings"> };
    readonly redactor: () => Redactor | Promise<Redactor>;
  },
  models: KernelParts["models"],
): () => Embedder | undefined {
  return () => {
    const { embeddings } = live.operator.settings.knowledge;
    const provider = embeddings && models.provider(embeddings.provider);
    if (embeddings === undefined || provider === undefined) return undefined;
    const { model } = embeddings;
    return {
      name: `${provider.name}/${model}`,
      async embed(texts, signal) {
        const caller = await models.open();
        const broker = brokerBy(await redactor());
        const rules = { judge: () => Promise.resolve(), record: () => undefined, broker, signal };
        return await caller.embed(provider, { model, texts }, rules);
      },
    };
  };
}

function isServer(url: string, host: string, port: number): boolean {
  const address = webAddress(url);
  return !("problem" in address) && address.host.host === host && address.port === port;
}

/** What requests are made with that carry secrets; loaded with the first one. */
export function openSecrets(live: { readonly operator: Pick<OperatorDirectory, "settings"> }): KernelParts["secrets"] {
  let made: Promise<SessionAuthorities> | undefined;
  const load = async () => {
    const { SessionAuthorities: Opened } = await import("../sandbox/net/broker/session-authorities.ts");
    return new Opened();
  };
  return {
    brokerBy,
    async authorityOf(sessionId) {
      made ??= load();
      return (await made).of(sessionId);
    },
    authorities: () => webAuthorities(live.operator.settings),
  };
}
