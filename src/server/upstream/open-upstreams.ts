/** Opens the upstream servers of a kernel; their code is loaded where there are any. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "../../model/tool/tool.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import { RepeatedLook } from "../reload/repeated-look.ts";
import type { UpstreamReload, UpstreamReloadParts } from "./upstream-reload.ts";
import type { UpstreamPlaces, UpstreamSandbox, Upstreams } from "./upstreams.ts";

/** What looking after the files needs, and who hears of failures. */
export interface WatchedUpstreams extends UpstreamReloadParts {
  readonly onInternalError: (error: unknown) => void;
}

/** What a kernel has of upstream servers. */
export class OpenUpstreams {
  readonly #places: UpstreamPlaces;
  #upstreams: Upstreams | undefined;
  #sandbox: UpstreamSandbox | undefined;
  #reload: UpstreamReload | undefined;
  readonly #looks = new RepeatedLook();

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

  /** Makes tools of what was approved, before the kernel serves. */
  async openNow(): Promise<void> {
    const { Upstreams: Servers } = await import("./upstreams.ts");
    this.#upstreams = await Servers.open(this.#places);
  }

  /** The servers, also where there were none at the start. */
  async opened(): Promise<Upstreams> {
    const { Upstreams: Servers } = await import("./upstreams.ts");
    this.#upstreams ??= Servers.none(this.#places);
    if (this.#sandbox !== undefined) this.#upstreams.runIn(this.#sandbox);
    return this.#upstreams;
  }

  /** Looks after the servers' files from now on. A failure that lasts is told once. */
  watch(parts: WatchedUpstreams): void {
    this.#looks.begin({ look: () => this.#look(parts), onInternalError: parts.onInternalError });
  }

  async #look(parts: WatchedUpstreams): Promise<void> {
    const directory = join(this.#places.operatorPath, "upstream");
    if (this.#upstreams === undefined && !existsSync(directory)) return;
    if (this.#reload === undefined) {
      const { UpstreamReload: Reload } = await import("./upstream-reload.ts");
      this.#reload = new Reload(directory, await this.opened(), parts);
    }
    await this.#reload.look();
  }

  readonly close = async (): Promise<void> => {
    this.#looks.close();
    await this.#upstreams?.close();
  };
}

/** @throws KernelError CONFIG_INVALID where a server's file is not valid */
export async function openUpstreams(places: UpstreamPlaces): Promise<OpenUpstreams> {
  const open = new OpenUpstreams(places);
  if (existsSync(join(places.operatorPath, "upstream"))) await open.openNow();
  return open;
}
