/** Opens the upstream servers of a kernel; their code is loaded where there are any. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "../../model/tool/tool.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import type { UpstreamPlaces, UpstreamSandbox, Upstreams } from "./upstreams.ts";

/** What a kernel has of upstream servers. */
export class OpenUpstreams {
  readonly #places: UpstreamPlaces;
  #upstreams: Upstreams | undefined;
  #sandbox: UpstreamSandbox | undefined;

  constructor(places: UpstreamPlaces) {
    this.#places = places;
  }

  /** Tools as they were approved. */
  get tools(): readonly Tool[] {
    return this.#upstreams?.tools ?? [];
  }

  /** Servers as modules, for the evidence. */
  get modules(): readonly LoadedModule[] {
    return this.#upstreams?.modules ?? [];
  }

  /** From now on servers can be started. */
  runIn(sandbox: UpstreamSandbox): void {
    this.#sandbox = sandbox;
    this.#upstreams?.runIn(sandbox);
  }

  /** The servers, also where there were none at the start. */
  async opened(): Promise<Upstreams> {
    if (this.#upstreams === undefined) {
      const { Upstreams: Servers } = await import("./upstreams.ts");
      this.#upstreams = await Servers.open(this.#places);
      if (this.#sandbox !== undefined) this.#upstreams.runIn(this.#sandbox);
    }
    return this.#upstreams;
  }

  readonly close = async (): Promise<void> => {
    await this.#upstreams?.close();
  };
}

/** @throws KernelError CONFIG_INVALID where a server's file is not valid */
export async function openUpstreams(places: UpstreamPlaces): Promise<OpenUpstreams> {
  const open = new OpenUpstreams(places);
  if (existsSync(join(places.operatorPath, "upstream"))) await open.opened();
  return open;
}
