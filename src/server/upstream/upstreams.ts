/**
 * Brings the approved tools of upstream servers to a kernel.
 *
 * What runs the servers is loaded when it is used.
 */
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
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
import { fitting, parametersOf } from "./schemas.ts";
import type { AskedServer } from "./talk/asked-server.ts";

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

/** What a kernel would have of the servers as the operator keeps them now. */
export interface UpstreamPlan {
  readonly tools: readonly Tool[];
  /** Servers with other tools than before; each with the digest of those whose place they take. */
  readonly loaded: readonly { readonly module: LoadedModule; readonly replaces?: string }[];
  readonly withdrawn: readonly LoadedModule[];
  /** Puts it in force, and ends servers that are no longer kept so, with the calls that are under way there. */
  readonly commit: () => void;
}

/** The upstream servers of one kernel. */
export class Upstreams {
  readonly #places: UpstreamPlaces;
  readonly #hidden: readonly string[];
  /** By what they are started as, so that a changed record never has the old process. */
  readonly #servers = new Map<string, Promise<AskedServer>>();
  #kept: ReadonlySet<string> = new Set();
  /** Tools by the server, their hash and whether they are listed; an unchanged one is the same object. */
  #made = new Map<string, Tool>();
  #sandbox: UpstreamSandbox | undefined;
  tools: readonly Tool[] = [];
  modules: readonly LoadedModule[] = [];

  private constructor(places: UpstreamPlaces) {
    this.#places = places;
    this.#hidden = places.hidden.map((path) => realPath(path));
  }

  /**
   * Makes tools of what was approved; starts nothing.
   * @throws KernelError CONFIG_INVALID for a file that is not valid
   */
  static async open(places: UpstreamPlaces): Promise<Upstreams> {
    const upstreams = new Upstreams(places);
    (await upstreams.plan()).commit();
    return upstreams;
  }

  /** None at all, for a kernel that runs already: what is there is in force only once it is planned and recorded. */
  static none(places: UpstreamPlaces): Upstreams {
    return new Upstreams(places);
  }

  /** Reads what the operator keeps now. @throws KernelError CONFIG_INVALID for a file that is not valid */
  async plan(): Promise<UpstreamPlan> {
    const { operatorPath, listMax } = this.#places;
    const records = readUpstreams(operatorPath);
    const count = [...records.values()].reduce((sum, { approved }) => sum + approved.length, 0);
    const isUnlisted = count > listMax;
    const made = new Map<string, Tool>();
    const modules: LoadedModule[] = [];
    for (const [name, record] of records) {
      const names: string[] = [];
      for (const { hash, tool } of record.approved) {
        const key = [keyOf(name, record), hash, isUnlisted].join(" ");
        const one = this.#made.get(key) ?? (await this.#toolOf({ name, record, isUnlisted }, { hash, tool }));
        made.set(key, one);
        names.push(one.name);
      }
      const digest = hashOfAll(record.approved.map(({ tool }) => tool));
      modules.push({ module: `mcp.${name}`, digest, inProcess: false, tools: names });
    }
    const before = new Map(this.modules.map((one) => [one.module, one]));
    const now = new Set(modules.map(({ module }) => module));
    const tools = this.#isMade(made) ? this.tools : toolsOf([...made.values()], isUnlisted);
    return {
      tools,
      loaded: modules
        .filter(({ module, digest }) => before.get(module)?.digest !== digest)
        .map((module) => replacing(module, before.get(module.module)?.digest)),
      withdrawn: this.modules.filter(({ module }) => !now.has(module)),
      commit: () => {
        this.#made = made;
        this.tools = tools;
        this.modules = modules;
        this.#keep(new Set([...records].map(([name, record]) => keyOf(name, record))));
      },
    };
  }

  /** From now on servers can be started. */
  runIn(sandbox: UpstreamSandbox): void {
    this.#sandbox = sandbox;
  }

  /** The server of that name as `record` says; started with the first question. */
  async server(name: string, record: UpstreamRecord): Promise<AskedServer> {
    const key = keyOf(name, record);
    const known = this.#servers.get(key);
    if (known !== undefined) return await known;
    const made = this.#make(name, record);
    this.#servers.set(key, made);
    return await made;
  }

  /** Ends all servers. */
  readonly close = async (): Promise<void> => {
    for (const server of this.#servers.values()) await (await server).close();
  };

  #isMade(tools: ReadonlyMap<string, Tool>): boolean {
    return tools.size === this.#made.size && [...tools.keys()].every((key) => this.#made.has(key));
  }

  /** Ends those that were kept before; one that was added this moment is not known yet. */
  #keep(now: ReadonlySet<string>): void {
    for (const key of this.#kept) if (!now.has(key)) this.#end(key);
    this.#kept = now;
  }

  #end(key: string): void {
    const server = this.#servers.get(key);
    this.#servers.delete(key);
    void server?.then((one) => one.close());
  }

  async #toolOf(
    { name: server, record, isUnlisted }: NamedRecord,
    { hash, tool }: { readonly hash: string; readonly tool: OfferedTool },
  ): Promise<Tool> {
    const name = `mcp.${server}.${tool.name}`;
    const requireFitting = fitting(tool, name);
    return upstreamTool({
      name,
      toolName: tool.name,
      title: tool.title ?? tool.name,
      description: tool.description,
      parameters: await parametersOf(tool, name),
      effect: record.effect,
      isUnlisted,
      trust: record.trust,
      call: async (toolName, args, asking) => {
        const answer = await (await this.server(server, record)).call({ name: toolName, hash }, args, asking);
        await requireFitting(answer);
        return answer;
      },
    });
  }

  async #make(name: string, record: UpstreamRecord): Promise<AskedServer> {
    const { UpstreamServer: Server, UPSTREAM_BOUNDS } = await import("./talk/upstream-server.ts");
    const { means } = this.#places;
    const bounds = { ...UPSTREAM_BOUNDS, ...(record.grants && { grants: record.grants }) };
    if (record.url !== undefined) {
      const { openHttpChannel } = await import("./reach/open-http.ts");
      return new Server(name, () => openHttpChannel(name, record, means), bounds);
    }
    const { openChannel } = await import("./open-channel.ts");
    const ground = {
      means,
      stateDirectory: this.#places.stateDirectory,
      hidden: this.#hidden,
      sandbox: () => this.#sandbox,
    };
    return new Server(name, () => openChannel(name, record, ground), bounds);
  }
}

interface NamedRecord {
  readonly name: string;
  readonly record: UpstreamRecord;
  readonly isUnlisted: boolean;
}

/** What a server is started as: all but what was approved of it. */
function keyOf(name: string, record: UpstreamRecord): string {
  const { approved: _tools, approved_at: _when, approved_by: _who, ...started } = record;
  return blake3Hex(canonicalJson(JSON.parse(JSON.stringify({ name, ...started })) as JsonObject));
}

function replacing(module: LoadedModule, replaces: string | undefined): UpstreamPlan["loaded"][number] {
  return { module, ...(replaces !== undefined && { replaces }) };
}

function toolsOf(tools: readonly Tool[], isUnlisted: boolean): readonly Tool[] {
  return isUnlisted ? [variantOf(findTools(tools), {}), ...tools] : tools;
}
