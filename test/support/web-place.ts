/** A kernel with `web_fetch`, and an internet of its own whose hosts that tool knows. */
import type { RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { webTools } from "../../src/tools/web/web-tools.ts";
import { Internet, PUBLIC_ADDRESS } from "./egress.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "./memory-kernel.ts";

/** A host that `web_fetch` knows. */
export const KNOWN = "api.github.com";
/** Another one. */
export const OTHER = "registry.npmjs.org";

/** Nobody is asked because an answer before was untrusted, as every answer is. */
const AFTER_UNTRUSTED = `@id("test.again")
@message("m")
@waives("FC-3")
permit (principal, action == Handrail::Action::"web_fetch", resource is Handrail::Host);
`;

/** What a call of `web_fetch` came to. */
export interface Fetched {
  readonly outcome: Record<string, unknown>;
  /** Of a success. */
  readonly data: Record<string, unknown>;
  /** Code and message of a failure, or rule and message of a refusal. */
  readonly why: string;
}

/** The place. */
export interface WebPlace {
  readonly kernel: MemoryKernel;
  readonly internet: Internet;
  /** Opens one more server at port 80. */
  readonly serve: (name: string, listener: RequestListener) => Promise<void>;
  /** Fetches by GET as Markdown unless told otherwise. */
  readonly fetch: (url: string, more?: object, options?: Parameters<MemoryKernel["call"]>[2]) => Promise<Fetched>;
}

/** Opens a place. @param servers by host what answers at port 80 */
export async function webPlace(
  servers: Readonly<Record<string, RequestListener>> = {},
  options: MemoryKernelOptions = {},
): Promise<WebPlace> {
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const serve: WebPlace["serve"] = async (name, listener) => {
    await internet.http(name, 80, listener);
    // each has an address of its own
    const address = `93.184.217.${internet.servers.size}`;
    internet.names.set(name, [address]);
    internet.servers.set(`${address}:80`, internet.servers.get(`${PUBLIC_ADDRESS}:80`) ?? 0);
  };
  for (const [name, listener] of Object.entries(servers)) await serve(name, listener);
  const kernel = await memoryKernel({
    tools: webTools,
    network: internet.network,
    ...options,
    policies: `${AFTER_UNTRUSTED}${options.policies ?? ""}`,
  });
  return {
    kernel,
    internet,
    serve,
    async fetch(url, more = {}, callOptions) {
      const { outcome } = await kernel.call("web_fetch", { url, ...more }, callOptions);
      const [unexpected] = kernel.internalErrors;
      if (unexpected !== undefined) throw unexpected;
      const all = outcome as unknown as Record<string, unknown> & { readonly kind: string };
      return {
        outcome: all,
        data: (all["data"] ?? {}) as Record<string, unknown>,
        why: all.kind === "success" ? "success" : JSON.stringify(all),
      };
    },
  };
}
