/**
 * The registry of tools that an embedding program fills, in meao's and Brio's words.
 *
 * It offers and describes; a call goes to the session that it is bound to, and so through the kernel's pipeline.
 * INVARIANT: nothing here runs a tool.
 */
import { configInvalid, usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { ToolRegistry as KernelRegistry } from "../../kernel/index.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { fromPlugin } from "../../tools/plugin/adapt.ts";
import type { ToolPlugin } from "../../tools/plugin/plugin.ts";
import { BUILT_IN_TOOLS } from "../operator/built-in-tools.ts";
import type { ExecutorResult } from "./executor-result.ts";

/** What a model is told about a tool (meao). */
export interface PlainDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12). */
  readonly parameters: JsonObject;
}

/** One call of several (Brio). */
export interface Invocation {
  readonly name: string;
  readonly args: JsonObject;
}

/** How to make several calls. */
export interface ExecuteAllOptions {
  /** Whether the first call that does not succeed ends it; `true` where nothing is said. */
  readonly stopOnError?: boolean;
}

/** Makes one governed call. */
export type Executes = (name: string, args: JsonObject) => Promise<ExecutorResult>;

/** Tools of an embedding program. */
export class ToolRegistry {
  readonly #kernel = new KernelRegistry();
  readonly #registered = new Map<string, Tool | ToolPlugin>();
  #executes: Executes | undefined;

  /**
   * Adds a tool, or a plugin in meao's shape.
   * @throws KernelError CONFIG_INVALID for a bad or duplicate name, or a schema that cannot be used
   */
  register(tool: Tool | ToolPlugin): this {
    this.#kernel.register(isTool(tool) ? tool : fromPlugin(tool));
    this.#registered.set(tool.name, tool);
    return this;
  }

  /** The tool of that name, as it was registered. */
  get(name: string): Tool | ToolPlugin | undefined {
    return this.#registered.get(name);
  }

  /** All tools as they were registered, sorted by name. */
  getAll(): readonly (Tool | ToolPlugin)[] {
    return this.#kernel.getAll().flatMap(({ name }) => this.#registered.get(name) ?? []);
  }

  /** What a model is told, sorted by name. */
  getToolDefinitions(): readonly PlainDefinition[] {
    return this.#kernel
      .getToolDefinitions()
      .map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }));
  }

  /** All tools as the kernel takes them. */
  tools(): readonly Tool[] {
    return this.#kernel.getAll();
  }

  /** From now on calls go to a session: `new ToolExecutor(session).execute`, or what stands for it. */
  bind(executes: Executes): this {
    this.#executes = executes;
    return this;
  }

  /** Makes one governed call of the session that the registry is bound to. @throws KernelError USAGE without one */
  async execute(name: string, args: JsonObject): Promise<ExecutorResult> {
    if (this.#executes === undefined)
      throw usageError("the registry is bound to no session; open one of a kernel with `createKernel({ registry })`");
    if (!this.#registered.has(name)) throw usageError(`the registry has no tool \`${name}\``);
    return this.#executes(name, args);
  }

  /** Makes the calls one after the other. @returns their results, as far as they were made */
  async execute_all(
    invocations: readonly Invocation[],
    { stopOnError = true }: ExecuteAllOptions = {},
  ): Promise<readonly ExecutorResult[]> {
    const results: ExecutorResult[] = [];
    for (const { name, args } of invocations) {
      const result = await this.execute(name, args);
      results.push(result);
      if (stopOnError && !result.success) break;
    }
    return results;
  }

  /** The same. */
  executeAll(invocations: readonly Invocation[], options?: ExecuteAllOptions): Promise<readonly ExecutorResult[]> {
    return this.execute_all(invocations, options);
  }

  /** What all tools do and take, as text for a model (Brio). */
  help_text(): string {
    return this.#kernel
      .getToolDefinitions()
      .map(({ name, description, inputSchema }) => `${name}: ${description}\n  ${argumentsText(inputSchema)}`)
      .join("\n");
  }
}

/** Adds the tools that every kernel has. */
export function registerBuiltinTools(registry: ToolRegistry): void {
  for (const tool of BUILT_IN_TOOLS) registry.register(tool);
}

/** A tool of the kernel's says what a call touches and what it answers; a plugin in meao's shape may not. */
function isTool(tool: Tool | ToolPlugin): tool is Tool {
  return (
    "effect" in tool.capability && "risk" in tool.capability && "title" in tool && typeof tool.analyse === "function"
  );
}

function argumentsText({ properties = {}, required = [] }: JsonObject): string {
  if (typeof properties !== "object" || properties === null) throw configInvalid("a schema without properties");
  const needed = Array.isArray(required) ? required : [];
  const names = Object.keys(properties).map((name) => (needed.includes(name) ? name : `${name}?`));
  return names.length === 0 ? "takes no arguments" : `takes ${names.join(", ")}`;
}
