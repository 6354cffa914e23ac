/**
 * The registry of tools: unique names, a deterministic order, a canonical hash that says exactly what was on offer.
 *
 * The JSON Schema shown to clients comes from the very schema that arguments are checked with, and is made once.
 */
import * as z from "zod";
import { configInvalid } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import { CUT_RESULT_SCHEMA } from "../../cas/preview.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import type { ToolSpec } from "../../model/people/gates.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { preparePatterns } from "./danger-patterns.ts";

/** Names of tools. */
export const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
/** The name that calls of other tools bear until the tool is known. */
export const NAMES_A_TOOL = "call_tool";
/** The name of the tool that searches those which no list shows. */
export const FINDS_TOOLS = "find_tools";
/** Names of the tools of upstream servers, which no other tool can have. */
const UPSTREAM_TOOL = /^mcp\.[a-z][a-z0-9]{0,31}\.[A-Za-z0-9_-]{1,64}$/;

/** What clients are told about a tool. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effect: EffectClass;
  readonly inputSchema: JsonObject;
  /** Of the tool's data as a whole, or of what is shown of it when it is too large. */
  readonly outputSchema?: JsonObject;
  /** The data as a model reads it. */
  readonly toText?: Tool["toText"];
}

/** The tools of one kernel. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly #definitions = new Map<string, ToolDefinition>();

  /**
   * Adds a tool.
   * @throws KernelError CONFIG_INVALID for a bad or duplicate name, a schema that lets unknown properties through,
   *   `logOutput`, or a danger pattern that could be slow
   */
  register(tool: Tool): void {
    if (!TOOL_NAME.test(tool.name) && !(UPSTREAM_TOOL.test(tool.name) && tool.isUpstream === true))
      throw configInvalid(`tool name \`${tool.name}\` must match ${TOOL_NAME.source}`);
    if (tool.name === NAMES_A_TOOL)
      throw configInvalid(`no tool can be called \`${tool.name}\`: it stands for the tool that a call of it names`);
    if (this.#tools.has(tool.name)) throw configInvalid(`tool \`${tool.name}\` is already registered`);
    if (tool.capability.audit?.logOutput) {
      throw configInvalid(`tool \`${tool.name}\` wants its output logged; output is never logged`);
    }
    this.#define(tool);
    preparePatterns(tool.name, tool.capability.approval.dangerPatterns ?? []);
    this.#tools.set(tool.name, tool);
  }

  /** The tool of that name. */
  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /**
   * Whether a call that began with `tool` may go on with it: it is registered still, or a later version is that may do
   * no less and no more.
   */
  continues(tool: Tool): boolean {
    const now = this.#tools.get(tool.name);
    if (now === undefined || now === tool) return now === tool;
    const isVersion = tool.lineage !== undefined && now.lineage === tool.lineage;
    return isVersion && canonicalJson(plainCapability(now)) === canonicalJson(plainCapability(tool));
  }

  /** What clients are shown of the tool of that name. */
  definition(name: string): ToolDefinition | undefined {
    return this.#definitions.get(name);
  }

  /** Lets the tool of that name, if there is one, load what its analysis needs. */
  prepare(name: string): undefined | Promise<void> {
    return this.#tools.get(name)?.prepare?.();
  }

  /** All tools, sorted by name. */
  getAll(): readonly Tool[] {
    return [...this.#tools.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** What clients are shown, sorted by name. */
  getToolDefinitions(): readonly ToolDefinition[] {
    return this.getAll().map((tool) => this.#define(tool));
  }

  /**
   * BLAKE3 over the canonical form of all definitions and capabilities, and of the specs that the operator has of them.
   */
  hash(specs: ReadonlyMap<string, ToolSpec> = new Map()): string {
    if (specs.size > 0)
      return blake3Hex(canonicalJson({ tools: this.hash(), specs: [...specs.values()].map(specFacts) }));
    const tools = this.getAll().map((tool) => {
      const { toText: _, ...definition } = this.#define(tool);
      return { ...definition, capability: plainCapability(tool) } as unknown as JsonObject;
    });
    return blake3Hex(canonicalJson(tools));
  }

  #define(tool: Tool): ToolDefinition {
    const known = this.#definitions.get(tool.name);
    if (known) return known;
    const inputSchema = z.toJSONSchema(tool.parameters, { io: "input", unrepresentable: "any" }) as JsonObject;
    if (inputSchema["type"] !== "object" || inputSchema["additionalProperties"] !== false) {
      throw configInvalid(`parameters of tool \`${tool.name}\` must be an object that refuses unknown properties`);
    }
    const definition: ToolDefinition = {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      effect: tool.capability.effect,
      inputSchema,
      ...(tool.outputSchema && { outputSchema: { anyOf: [tool.outputSchema, CUT_RESULT_SCHEMA] } }),
      ...(tool.toText && { toText: (data) => tool.toText?.(data) ?? "" }),
    };
    this.#definitions.set(tool.name, definition);
    return definition;
  }
}

function specFacts({ id, requiresApproval, requiresArming, input }: ToolSpec): JsonObject {
  return { id, requiresApproval, requiresArming, ...(input && { input: input.schema }) };
}

function plainCapability(tool: Tool): JsonObject {
  const { approval } = tool.capability;
  const patterns = approval.dangerPatterns?.map(String);
  return JSON.parse(
    JSON.stringify({ ...tool.capability, approval: { ...approval, dangerPatterns: patterns } }),
  ) as JsonObject;
}
