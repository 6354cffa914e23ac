/** Says the answer to a call, and the tools on offer, in the dialect of the session. */
import * as z from "zod";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { DialectName } from "../../model/people/dialect.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import type { Dialect } from "../../wire/dialects/dialect.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Known } from "../call/stages.ts";
import type { ToolDefinition } from "../declared/registry.ts";
import { loadDialect } from "./load.ts";

/**
 * The answer to a call in the words of its session. An answer that cannot be translated is given as it is, because
 * its call was made and recorded.
 */
export async function inWordsOf(
  { onInternalError }: Pick<KernelParts, "onInternalError">,
  { session, spokenAs: name, call }: Known,
  response: CallResponse,
): Promise<CallResponse> {
  const dialect = session?.dialect;
  if (dialect === undefined || name === undefined || call === undefined) return response;
  try {
    return await speak({ dialect, name, tool: call.tool }, response);
  } catch (error) {
    onInternalError(error);
    return response;
  }
}

/** A call as it was made, and as the kernel understood it. */
interface SpokenCall {
  readonly dialect: DialectName;
  /** The name that the caller used. */
  readonly name: string;
  /** The kernel's name. */
  readonly tool: string;
}

/** The answer in the words of the dialect; what it says has been redacted before. */
async function speak({ dialect, name, tool }: SpokenCall, response: CallResponse): Promise<CallResponse> {
  const { data, ...words } = (await loadDialect(dialect)).answer({ name, tool, response });
  const { outcome } = response;
  return {
    ...response,
    outcome: outcome.kind === "success" && data !== undefined ? { ...outcome, data } : outcome,
    spoken: { tool, ...words },
  };
}

/** The tools that the dialect has of those on offer. */
export async function spokenTools(
  name: DialectName,
  offered: readonly ToolDefinition[],
): Promise<readonly ToolDefinition[]> {
  const dialect = await loadDialect(name);
  if (dialect.tools === undefined) return offered;
  const definitions = describe(dialect);
  const byName = new Map(offered.map((definition) => [definition.name, definition]));
  return definitions.flatMap(({ tool, ...definition }) => {
    const own = byName.get(tool);
    return own === undefined ? [] : [{ ...definition, effect: own.effect }];
  });
}

type Described = Omit<ToolDefinition, "effect"> & { readonly tool: string };

const described = new WeakMap<Dialect, readonly Described[]>();

function describe(dialect: Dialect): readonly Described[] {
  const known = described.get(dialect);
  if (known !== undefined) return known;
  const made = (dialect.tools ?? [])
    .map(({ name, description, parameters, tool }) => ({
      name,
      title: name,
      description,
      inputSchema: schemaOf(z.toJSONSchema(parameters, { io: "input", unrepresentable: "any" })),
      tool,
    }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  described.set(dialect, made);
  return made;
}

function schemaOf(schema: unknown): JsonObject {
  return isJsonObject(schema) ? schema : {};
}
