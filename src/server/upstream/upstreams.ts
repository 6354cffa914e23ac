/**
 * Brings the approved tools of upstream servers to a kernel.
 *
 * What runs the servers is loaded when it is used.
 */
import type { KernelParts } from "../../kernel/index.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { findTools } from "../../tools/upstream/find-tools.ts";
import { upstreamTool } from "../../tools/upstream/upstream-tool.ts";
import { variantOf } from "../operator/built-in-tools.ts";
import { realPath } from "../operator/real-path.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import type { UpstreamMeans } from "./reach/means.ts";
import { hashOfAll, type OfferedTool, type UpstreamRecord } from "./records/pins.ts";
import { readUpstreams } from "./records/upstream-files.ts";
import { parametersOf, requireFitting } from "./schemas.ts";
import type { UpstreamServer } from "./talk/upstream-server.ts";

/** What starts servers. */
export type UpstreamSandbox = KernelParts["sandbox"];

/** Where a kernel keeps its upstream servers, and how many of their tools it lists. */
export interface UpstreamPlaces {
  readonly operatorPath: string;
  readonly stateDirectory: string;
  /** Directories that no server may see. */
  readonly hidden: readonly string[];
  /** Above this number none of them is listed. */
  readonly listMax: number;
  readonly means: UpstreamMeans;
}

/** The upstream servers of one kernel. */
export class Upstreams {
  readonly #stateDirectory: string;
  readonly #hidden: readonly string[];
  readonly #means: UpstreamMeans;
  readonly #servers = new Map<string, Promise<UpstreamServer>>();
  #sandbox: UpstreamSandbox | undefined;
  #isUnlisted = false;
  tools: readonly Tool[] = [];
  modules: readonly LoadedModule[] = [];

  private constructor({ stateDirectory, hidden, means }: UpstreamPlaces) {
    this.#means = means;
    this.#stateDirectory = stateDirectory;
    this.#hidden = hidden.map((path) => realPath(path));
  }

  /**
   * Makes tools of what was approved; starts nothing.
   * @throws KernelError CONFIG_INVALID for a file that is not valid
   */
  static async open(places: UpstreamPlaces): Promise<Upstreams> {
    const { operatorPath, listMax } = places;
    const upstreams = new Upstreams(places);
    const records = readUpstreams(operatorPath);
    const tools: Tool[] = [];
    const modules: LoadedModule[] = [];
    const count = [...records.values()].reduce((sum, { approved }) => sum + approved.length, 0);
    upstreams.#isUnlisted = count > listMax;
    for (const [name, record] of records) {
      const own: Tool[] = [];
      for (const { hash, tool } of record.approved) own.push(await upstreams.#toolOf(name, record, { hash, tool }));
      tools.push(...own);
      const digest = hashOfAll(record.approved.map(({ tool }) => tool));
      modules.push({ module: `mcp.${name}`, digest, inProcess: false, tools: own.map((tool) => tool.name) });
    }
    upstreams.tools = upstreams.#isUnlisted ? [variantOf(findTools(tools), {}), ...tools] : tools;
    upstreams.modules = modules;
    return upstreams;
  }

  /** From now on servers can be started. */
  runIn(sandbox: UpstreamSandbox): void {
    this.#sandbox = sandbox;
  }

  /** The server of that name as `record` says; started with the first question. */
  async server(name: string, record: UpstreamRecord): Promise<UpstreamServer> {
    const known = this.#servers.get(name);
    if (known !== undefined) return await known;
    const made = this.#make(name, record);
    this.#servers.set(name, made);
    return await made;
  }

  /** Ends all servers. */
  readonly close = async (): Promise<void> => {
    for (const server of this.#servers.values()) await (await server).close();
  };

  async #toolOf(
    server: string,
    record: UpstreamRecord,
    { hash, tool }: { readonly hash: string; readonly tool: OfferedTool },
  ): Promise<Tool> {
    const name = `mcp.${server}.${tool.name}`;
    return upstreamTool({
      name,
      toolName: tool.name,
      title: tool.title ?? tool.name,
      description: tool.description,
      parameters: await parametersOf(tool, name),
      effect: record.effect,
      isUnlisted: this.#isUnlisted,
      trust: record.trust,
      call: async (toolName, args, asking) => {
        const answer = await (await this.server(server, record)).call({ name: toolName, hash }, args, asking);
        await requireFitting(tool, name, answer);
        return answer;
      },
    });
  }

  async #make(name: string, record: UpstreamRecord): Promise<UpstreamServer> {
    const { UpstreamServer: Server } = await import("./talk/upstream-server.ts");
    const means = this.#means;
    if (record.url !== undefined) {
      const { openHttpChannel } = await import("./reach/open-http.ts");
      return new Server(name, () => openHttpChannel(name, record, means));
    }
    const { openChannel } = await import("./open-channel.ts");
    const ground = {
      means,
      stateDirectory: this.#stateDirectory,
      hidden: this.#hidden,
      sandbox: () => this.#sandbox,
    };
    return new Server(name, () => openChannel(name, record, ground));
  }
}
