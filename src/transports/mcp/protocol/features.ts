/** Defines what an MCP server offers beside tools: resources, prompts and completions, each by the session's rights. */
import type { JsonObject } from "../../../base/json.ts";

/** Resources of a session. */
export interface ResourceSource {
  /** Those that can be listed. */
  readonly list: () => Promise<readonly JsonObject[]>;
  /** Families of addresses that can be read. */
  readonly templates: () => Promise<readonly JsonObject[]>;
  /** The contents of one; `undefined` where there is no such thing. Rejects with `ResourceProblem`. */
  readonly read: (uri: string, signal: AbortSignal) => Promise<readonly JsonObject[] | undefined>;
  /** Whether clients hear of changes to one. */
  readonly subscribe?: boolean;
  /** What changes one: the session's tools, or nothing; `undefined` where there is no such resource. */
  readonly changesWith?: (uri: string) => "tools" | "never" | undefined;
  /** Calls `listener` after each change of the list, until the returned function is called. */
  readonly watchList?: (listener: () => void) => () => void;
}

/** What a round of a prompt brings. */
export interface PromptRound {
  readonly responses: unknown;
}

/** Prompts for common work. */
export interface PromptSource {
  readonly list: () => Promise<readonly JsonObject[]>;
  /** The result of `prompts/get`; `undefined` where there is no such prompt. Rejects with `PromptProblem`. */
  readonly get: (
    name: string,
    args: Readonly<Record<string, string>>,
    round: PromptRound,
  ) => Promise<JsonObject | undefined>;
}

/** A prompt's arguments that do not do, with what is wrong. */
export class PromptProblem extends Error {
  override readonly name = "PromptProblem";
}

/** A resource that cannot be read, with why. */
export class ResourceProblem extends Error {
  override readonly name = "ResourceProblem";
}

/** What is being completed. */
export interface Completing {
  readonly ref: JsonObject;
  readonly argument: string;
  readonly value: string;
}

/** What a server offers beside tools. */
export interface McpFeatures {
  readonly resources?: ResourceSource;
  readonly prompts?: PromptSource;
  readonly complete?: (completing: Completing) => Promise<readonly string[]>;
  /** Told of each link that a result of the session has. */
  readonly onLink?: (link: JsonObject) => void;
  /** Whether tools send log messages. */
  readonly logs?: boolean;
}
