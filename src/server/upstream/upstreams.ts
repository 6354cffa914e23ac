/**
 * Brings the approved tools of upstream servers to a kernel.
 *
 * What runs the servers is loaded when it is used.
 *
 * INVARIANT: a server runs in the sandbox, with nothing of the kernel's environment, no network, and no directory but
 * the one that the operator named or its own; in that one, Handrail's own directories are hidden.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ZodType } from "zod";
import { GIB } from "../../base/bytes.ts";
import { configInvalid } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { compileInputSchema, type KernelParts } from "../../kernel/index.ts";
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { INSIDE_WORKSPACE } from "../../sandbox/plan/plan.ts";
import type { ScopeJudge } from "../../sandbox/plan/workspace-mounts.ts";
import { findTools } from "../../tools/upstream/find-tools.ts";
import { type UpstreamAnswer, upstreamTool } from "../../tools/upstream/upstream-tool.ts";
import { variantOf } from "../operator/built-in-tools.ts";
import { isWithin, realPath } from "../operator/real-path.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import { schemaInput } from "../plugins/schema-input.ts";
import { hashOfAll, type OfferedTool, type UpstreamRecord } from "./pins.ts";
import { readUpstreams } from "./upstream-files.ts";
import type { UpstreamServer } from "./upstream-server.ts";

/** Milliseconds that a server lives at most, and bytes that it may say in that time. */
const LIFE_MS = 24 * 3_600_000;
const SAID_BYTES_MAX = 64 * GIB;
/** Processes and open files of a server at least. */
const PROCESSES_MIN = 100;
const OPEN_FILES_MIN = 1024;

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
}

/** The upstream servers of one kernel. */
export class Upstreams {
  readonly #stateDirectory: string;
  readonly #hidden: readonly string[];
  readonly #servers = new Map<string, Promise<UpstreamServer>>();
  #sandbox: UpstreamSandbox | undefined;
  #isUnlisted = false;
  tools: readonly Tool[] = [];
  modules: readonly LoadedModule[] = [];

  private constructor({ stateDirectory, hidden }: UpstreamPlaces) {
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
      call: async (toolName, args, signal) => {
        const answer = await (await this.server(server, record)).call({ name: toolName, hash }, args, signal);
        await requireFitting(tool, name, answer);
        return answer;
      },
    });
  }

  async #make(name: string, record: UpstreamRecord): Promise<UpstreamServer> {
    const { UpstreamServer: Server } = await import("./upstream-server.ts");
    return new Server(name, async ({ input, output, signal }) => {
      if (this.#sandbox === undefined) throw configInvalid("this kernel runs no servers");
      const sandbox = await this.#sandbox.open();
      if (!sandbox.isContained || !sandbox.takesInput)
        throw new ToolFailure(
          "SANDBOX_UNAVAILABLE",
          "upstream servers need the sandbox backend `bwrap`",
          "ask the operator to set `sandbox.backend: bwrap`",
        );
      const root = record.directory ?? this.#ownDirectory(name);
      const limits = this.#sandbox.limits();
      const [program = "", ...rest] = record.command;
      return await sandbox.run(
        {
          root,
          judge: record.directory === undefined ? wholly(root, "write") : wholly(root, "read", this.#hidden),
          command: [program, ...rest],
          workDir: INSIDE_WORKSPACE,
          environment: record.environment,
          input,
          limits: {
            ...limits,
            timeoutMs: LIFE_MS,
            outputBytesMax: SAID_BYTES_MAX,
            processesMax: Math.max(limits.processesMax, PROCESSES_MIN),
            openFilesMax: Math.max(limits.openFilesMax, OPEN_FILES_MIN),
          },
        },
        output,
        signal,
      );
    });
  }

  #ownDirectory(name: string): string {
    const directory = join(this.#stateDirectory, "upstream", name);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  }
}

/**
 * A directory as a whole, without what is Handrail's own in it.
 * @throws ToolFailure PERMISSION_DENIED where the directory itself is Handrail's own
 */
function wholly(root: string, reach: "read" | "write", hidden: readonly string[] = []): ScopeJudge {
  if (hidden.some((own) => isWithin(own, root)))
    throw new FailureWithoutEffect(
      "PERMISSION_DENIED",
      "a server may not see a directory of Handrail's own",
      "remove the server and add it with another `--directory`",
    );
  const at = (path: string) => join(root, path);
  return {
    entry: (path) => (hidden.includes(at(path)) ? "hidden" : reach),
    below: () => reach,
    hidesRepository: () => false,
    isWhole: (directory) => !hidden.some((own) => isWithin(at(directory), own)),
  };
}

/**
 * Keywords that say something of a value and enforce nothing (JSON Schema 2020-12, 7.2 and 9). What older drafts mean
 * otherwise is no schema, or a keyword that is refused, so that which draft is named makes no difference.
 */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  "$schema format contentEncoding contentMediaType deprecated readOnly writeOnly".split(" "),
);

/** @throws KernelError CONFIG_INVALID where the schema cannot be enforced */
export async function parametersOf(tool: OfferedTool, name: string): Promise<ZodType<JsonObject>> {
  const schema = { ...enforced(tool.inputSchema, false), type: "object", additionalProperties: false };
  return await schemaInput(schema, name);
}

/** An answer that is not what the approved tool answers is none. */
async function requireFitting(tool: OfferedTool, name: string, { structured, isError }: UpstreamAnswer): Promise<void> {
  const { outputSchema } = tool;
  if (outputSchema === undefined || (isError && structured === undefined)) return;
  const constraint = await compileInputSchema(enforced(outputSchema, false), `${name}: output schema`);
  const problem = structured === undefined ? { message: "it gave no data" } : constraint.problemOf(structured);
  if (problem === undefined) return;
  throw new ToolFailure(
    "NOT_SUPPORTED",
    `\`${name}\` answered what its schema does not allow: ${problem.message.slice(0, 300)}`,
    "do without it; the server does not keep to what was approved",
  );
}

/** The schema without annotations; members of `properties` are names, not keywords. */
function enforced(schema: JsonObject, areNames: boolean): JsonObject {
  const entries = Object.entries(schema).filter(([key]) => areNames || !ANNOTATIONS.has(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, enforcedValue(value, !areNames && NAMES.has(key))]));
}

const NAMES: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"]);

function enforcedValue(value: JsonValue | undefined, areNames: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one) => enforcedValue(one, false));
  return isJsonObject(value) ? enforced(value, areNames) : (value ?? null);
}
