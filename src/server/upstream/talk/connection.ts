/**
 * Speaks with an upstream server over one channel, from the handshake until it ends.
 *
 * Modern servers (2026-07-28) are asked as such, older ones by the handshake of theirs.
 *
 * INVARIANTS: the server is offered nothing that the operator did not grant (`granted.ts`). A tool is called only while
 * it is offered as it was approved.
 */
import { Client } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../base/json.ts";
import type { ProgressListener } from "../../../model/outcome/progress.ts";
import type { UpstreamAnswer } from "../../../tools/upstream/upstream-tool.ts";
import { hashOf, type OfferedTool, readOffered, UPSTREAM_TOOLS_MAX, type UpstreamGrant } from "../records/pins.ts";
import { readAnswer } from "./answer.ts";
import type { Asking, PinnedTool } from "./asked-server.ts";
import type { UpstreamChannel } from "./channel.ts";
import type { UpstreamFailures } from "./failures.ts";
import { capabilitiesOf, Granted } from "./granted.ts";
import { MatchedChannel } from "./matched-channel.ts";

/** Times that a modern server may ask within one call. */
const ROUNDS_MAX = 4;
/** Pages of a list of tools. */
const PAGES_MAX = 64;

/** How long a server may take, in milliseconds. */
export interface ConnectionBounds {
  readonly startMs: number;
  /** In which it has to answer whether it speaks the modern protocol; one that does not is taken for older. */
  readonly probeMs: number;
  readonly callMs: number;
  /** In which it has to answer what was cancelled. */
  readonly stopMs: number;
  /** What it may ask of its client. */
  readonly grants?: readonly UpstreamGrant[];
}

type Hashes = ReadonlyMap<string, string>;

/** One connection. */
export class Connection {
  readonly #name: string;
  readonly #channel: UpstreamChannel;
  readonly #bounds: ConnectionBounds;
  readonly #failures: UpstreamFailures;
  readonly #matched: MatchedChannel;
  readonly #client: Client;
  readonly #granted: Granted;
  #questions = 0;
  /** Hashes of its tools by their names, as it listed them last; absent before it did, and once it says so. */
  #offered: Hashes | undefined;
  /** How often it said that its tools changed. */
  #changes = 0;
  /** Whether it would say so. */
  #isWatched = true;

  /** @param isLegacy whether it is known not to answer what is asked before `initialize` */
  constructor(
    channel: UpstreamChannel,
    parts: {
      readonly name: string;
      readonly bounds: ConnectionBounds;
      readonly failures: UpstreamFailures;
      readonly isLegacy: boolean;
    },
  ) {
    const { startMs, probeMs, stopMs, grants = [] } = parts.bounds;
    this.#name = parts.name;
    this.#channel = channel;
    this.#bounds = parts.bounds;
    this.#failures = parts.failures;
    this.#matched = new MatchedChannel(channel, stopMs);
    this.#client = new Client(
      { name: "handrail", version: "1" },
      {
        capabilities: capabilitiesOf(grants),
        versionNegotiation: {
          mode: parts.isLegacy ? "legacy" : "auto",
          probe: { timeoutMs: Math.min(probeMs, startMs) },
        },
        inputRequired: { autoFulfill: grants.length > 0, maxRounds: ROUNDS_MAX },
      },
    );
    this.#granted = new Granted(parts.name);
    this.#granted.answerFor(this.#client, grants);
    this.#client.onerror = () => channel.stray();
    this.#client.setNotificationHandler("notifications/tools/list_changed", () => this.#forget());
  }

  /** The channel that it has. */
  get channel(): UpstreamChannel {
    return this.#channel;
  }

  /** Whether it was ended because it did not end what was cancelled. */
  get wasStopped(): boolean {
    return this.#matched.wasStopped;
  }

  /** Resolves once nothing that was cancelled is worked on any more. */
  get quiet(): Promise<void> {
    return this.#matched.quiet;
  }

  /** Begins to speak. @throws what the client library throws */
  async open(): Promise<void> {
    const { startMs, probeMs } = this.#bounds;
    await this.#client.connect(this.#matched, { timeout: startMs });
    if (this.#client.getProtocolEra() !== "modern") return;
    if (this.#client.getServerCapabilities()?.tools?.listChanged !== true) return;
    // a modern server says that its tools changed only to whoever listens
    this.#isWatched = false;
    try {
      const listening = await this.#client.listen({ toolsListChanged: true }, { timeout: probeMs });
      this.#isWatched = listening.honoredFilter.toolsListChanged === true;
      void listening.closed.then(() => {
        this.#isWatched = false;
        this.#forget();
      });
    } catch {
      this.#isWatched = false; // its tools are looked at before each call
    }
  }

  /** Does `work` as one open question. */
  async during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#questions += 1;
    this.#channel.reset(this.#questions);
    try {
      return await work();
    } finally {
      this.#questions -= 1;
      this.#channel.reset(this.#questions);
    }
  }

  /** Calls a tool that has the pinned hash still. @throws ToolFailure, or what the client library throws */
  async call({ name, hash }: PinnedTool, args: JsonObject, asking: Asking): Promise<UpstreamAnswer> {
    const { signal, progress } = asking;
    const offered = this.#isWatched ? this.#offered : undefined;
    const now = (offered ?? (await this.#look(signal))).get(name);
    if (now !== hash) throw this.#failures.isAnother(name, now === undefined);
    const answer = await this.#granted.during(asking, () =>
      this.#client.request(
        { method: "tools/call", params: { name, arguments: args, ...this.#meta(progress) } },
        { signal, timeout: this.#bounds.callMs, maxTotalTimeout: this.#bounds.callMs },
      ),
    );
    return readAnswer(this.#name, answer as JsonObject);
  }

  /** What it offers now. @throws ToolFailure, or what the client library throws */
  async list(signal: AbortSignal): Promise<readonly OfferedTool[]> {
    const all: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX && all.length <= UPSTREAM_TOOLS_MAX; page += 1) {
      const { tools, nextCursor } = await this.#client.request(
        { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
        { signal, timeout: this.#bounds.startMs },
      );
      all.push(...tools);
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    if (cursor !== undefined) throw this.#failures.unusable("its list of tools has no end");
    const tools = readOffered(all);
    if (typeof tools === "string") throw this.#failures.unusable(tools);
    return tools;
  }

  #meta(progress: ProgressListener | undefined): { readonly _meta?: { readonly progressToken: string } } {
    return progress === undefined ? {} : { _meta: { progressToken: this.#matched.tokenFor(progress) } };
  }

  #forget(): void {
    this.#offered = undefined;
    this.#changes += 1;
  }

  /** Hashes by name; kept only once the whole list has come, and nothing changed meanwhile. */
  async #look(signal: AbortSignal): Promise<Hashes> {
    const changes = this.#changes;
    const listed = await this.list(signal);
    const offered = new Map(listed.map((tool) => [tool.name, hashOf(tool)]));
    if (this.#changes === changes) this.#offered = offered;
    return offered;
  }
}
