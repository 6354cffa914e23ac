/** The web and models, for tools that reach them, by the configuration in force; loaded with the first use. */
import { chromaOf, providersOf } from "../config/sections/tools/models.ts";
import { openedWebHosts } from "../config/sections/tools/web.ts";
import type { KernelParts } from "../kernel/index.ts";
import { webAddress } from "../names/web-address.ts";
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
      isOpened(host, port) {
        const chroma = chromaOf(live.operator.settings.knowledge)?.service;
        return [...providers(), ...(chroma ? [chroma] : [])].some(({ url }) => isServer(url, host, port));
      },
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
