/**
 * The operator's acts on upstream servers: adding, looking, approving, removing.
 *
 * INVARIANT: what is approved is exactly what was shown: an approval names the hash of all that was seen.
 */
import { rm } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { PackageWish } from "./packages/npm-package.ts";
import type { UpstreamWish, WishGround } from "./reach/checked-wish.ts";
import {
  hashOf,
  hashOfAll,
  invisibleIn,
  type OfferedTool,
  standingOf,
  type ToolStanding,
  UPSTREAM_NAME,
  type UpstreamRecord,
} from "./records/pins.ts";
import { readUpstreams, removeUpstream, writeUpstream } from "./records/upstream-files.ts";
import { parametersOf } from "./schemas.ts";
import type { Upstreams } from "./upstreams.ts";

export type { UpstreamWish } from "./reach/checked-wish.ts";

/** What the desk works on. */
export interface UpstreamDeskParts {
  readonly operatorPath: string;
  readonly upstreams: Upstreams;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Where the package of a server is kept. */
  readonly packageOf: (server: string) => string;
  /** What a server is checked by before it is kept, as it is now. */
  readonly ground: () => Promise<WishGround>;
}

/** What a server is given, by names alone. */
export type Given = Omit<UpstreamWish, "environment" | "effect" | "trust">;

/** What the operator says of a server; with `npm` its command is what the package's program is given. */
export type AddedUpstream = UpstreamWish & { readonly npm?: PackageWish };

/** A tool as a person decides on it. */
export interface ShownTool extends ToolStanding {
  /** Why it cannot be offered; it is left out of an approval. */
  readonly unusable?: string;
}

/** A server and what it offers now. */
export interface ShownUpstream extends Given {
  readonly name: string;
  /** The hash of all that it offers now. */
  readonly hash: string;
  readonly tools: readonly ShownTool[];
}

/** Whose act it is. */
interface ByPerson {
  readonly by: string;
}

/** Whether a server offers what was approved. */
export interface CheckedUpstream {
  readonly name: string;
  /** Tools that are new, changed or gone since a person approved them. */
  readonly differs: readonly string[];
  /** Why it gave no answer. */
  readonly problem?: string;
}

/** A server in a list. */
export interface ListedUpstream extends Given {
  readonly name: string;
  readonly approvedTools: number;
  readonly approvedAt?: string;
}

/** The operator's acts on upstream servers. */
export class UpstreamDesk {
  readonly #parts: UpstreamDeskParts;

  constructor(parts: UpstreamDeskParts) {
    this.#parts = parts;
  }

  /** Keeps how a server is started, and nothing where it cannot be shown. Its tools are offered once approved. */
  async add(name: string, { by, npm, ...given }: AddedUpstream & ByPerson): Promise<ShownUpstream> {
    if (!UPSTREAM_NAME.test(name)) throw usageError(`a server's name must match ${UPSTREAM_NAME.source}`);
    const { operatorPath, random } = this.#parts;
    if (readUpstreams(operatorPath).has(name))
      throw usageError(`there is a server \`${name}\` already; remove it first, or take another name`);
    const id = newId("ins", random);
    try {
      const wish = npm === undefined ? given : await this.#installed(name, given, npm);
      const { checkedWish } = await import("./reach/checked-wish.ts");
      const record = { ...checkedWish(wish, await this.#parts.ground()), id };
      await this.#record("upstream_added", { server: name, by, ...factsOf(record) });
      await writeUpstream(operatorPath, { name, record }, random);
      return await this.show(name);
    } catch (error) {
      const kept = readUpstreams(operatorPath).get(name);
      if (kept === undefined) await this.#removePackage(name);
      else if (kept.id === id) await this.remove(name, by); // another one may have been added meanwhile
      throw error;
    }
  }

  async #installed(name: string, wish: UpstreamWish, npm: PackageWish): Promise<UpstreamWish> {
    const { installNpmPackage } = await import("./packages/npm-package.ts");
    const { program, ...installed } = await installNpmPackage(npm, this.#parts.packageOf(name));
    return { ...wish, command: [program, ...wish.command], package: installed };
  }

  async #removePackage(name: string): Promise<void> {
    await rm(this.#parts.packageOf(name), { recursive: true, force: true });
  }

  /** Shows one server, or each; what cannot be shown is named with why. */
  async check(name?: string): Promise<readonly CheckedUpstream[]> {
    const checked: CheckedUpstream[] = [];
    for (const each of name === undefined ? this.list().map((server) => server.name) : [name])
      checked.push(await this.#checked(each));
    return checked;
  }

  /** All servers; starts none. */
  list(): readonly ListedUpstream[] {
    return [...readUpstreams(this.#parts.operatorPath)].map(
      ([name, { approved, approved_at: approvedAt, ...record }]) => ({
        name,
        ...givenOf(record),
        approvedTools: approved.length,
        ...(approvedAt !== undefined && { approvedAt }),
      }),
    );
  }

  /** Starts the server and compares what it offers with what was approved. */
  async show(name: string): Promise<ShownUpstream> {
    const record = this.#server(name);
    const offered = await this.#offered(name, record);
    const unusable = await unusableOf(name, offered);
    const tools = standingOf(record, offered).map((tool) => {
      const why = unusable.get(tool.name);
      return { ...tool, ...(why !== undefined && { unusable: why }) };
    });
    return { name, ...givenOf(record), hash: hashOfAll(offered), tools };
  }

  /** Approves what the server offers, if it is what `seen` names. @param seen the hash that `show` gave */
  async approve(name: string, { seen, by }: { readonly seen: string } & ByPerson): Promise<ShownUpstream> {
    const record = this.#server(name);
    const offered = await this.#offered(name, record);
    if (hashOfAll(offered) !== seen)
      throw usageError(
        `\`${name}\` offers something else than what was seen; look again with \`handrail upstream show ${name}\``,
      );
    const unusable = await unusableOf(name, offered);
    const approved = offered.filter((tool) => !unusable.has(tool.name)).map((tool) => ({ hash: hashOf(tool), tool }));
    const { operatorPath, clock, random } = this.#parts;
    const tools = Object.fromEntries(approved.map(({ hash, tool }) => [tool.name, hash]));
    await this.#record("upstream_approved", { server: name, by, seen, tools });
    const now = new Date(clock.nowMs()).toISOString();
    await writeUpstream(
      operatorPath,
      { name, record: { ...record, approved, approved_at: now, approved_by: by } },
      random,
    );
    return await this.show(name);
  }

  /** Takes a server away. */
  async remove(name: string, by: string): Promise<void> {
    this.#server(name);
    await this.#record("upstream_removed", { server: name, by });
    await removeUpstream(this.#parts.operatorPath, name);
    await this.#removePackage(name);
  }

  async #checked(name: string): Promise<CheckedUpstream> {
    try {
      const { tools } = await this.show(name);
      const differs = tools.filter(({ state, unusable }) => state !== "approved" && unusable === undefined);
      return { name, differs: differs.map((tool) => tool.name) };
    } catch (error) {
      if (error instanceof ToolFailure) return { name, differs: [], problem: error.message };
      throw error;
    }
  }

  async #record(type: EventType, payload: JsonObject): Promise<void> {
    const event = { type, ...BY_OPERATOR, timeMs: this.#parts.clock.nowMs(), payload };
    await this.#parts.ledger.record(event, "durable");
  }

  #server(name: string): UpstreamRecord {
    const record = readUpstreams(this.#parts.operatorPath).get(name);
    if (record === undefined) throw usageError(`there is no server \`${name}\`; see \`handrail upstream list\``);
    return record;
  }

  async #offered(name: string, record: UpstreamRecord): Promise<readonly OfferedTool[]> {
    const server = await this.#parts.upstreams.server(name, record);
    return await server.list(new AbortController().signal);
  }
}

function givenOf(record: Given): Given {
  const { command, directory, read, write, secrets, hosts, url, private_host, bearer, grants } = record;
  return {
    command,
    ...(record.package && { package: record.package }),
    ...(directory !== undefined && { directory }),
    ...(read && { read }),
    ...(write && { write }),
    ...(secrets && { secrets }),
    ...(hosts && { hosts }),
    ...(url !== undefined && { url }),
    ...(private_host !== undefined && { private_host }),
    ...(bearer !== undefined && { bearer }),
    ...(grants && { grants }),
  };
}

/** What is recorded of one that is added: not its arguments, which may hold anything. */
function factsOf(record: UpstreamRecord): JsonObject {
  const { command, ...given } = givenOf(record);
  return { ...(command[0] !== undefined && { program: command[0] }), ...(given as JsonObject) };
}

async function unusableOf(server: string, tools: readonly OfferedTool[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const flat = new Map<string, string>();
  for (const tool of tools) {
    const name = `mcp.${server}.${tool.name}`;
    // clients write names in fewer characters
    const key = tool.name.toLowerCase().replaceAll("-", "_");
    const twin = flat.get(key);
    if (twin !== undefined) found.set(tool.name, `its name is too like that of \`${twin}\``);
    flat.set(key, tool.name);
    const hidden = invisibleIn(tool);
    if (hidden !== undefined) found.set(tool.name, `it ${hidden}`);
    await parametersOf(tool, name).catch((error: unknown) => {
      found.set(tool.name, error instanceof Error ? error.message : String(error));
    });
  }
  return found;
}
