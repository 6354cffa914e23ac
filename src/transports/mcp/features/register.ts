/** Registers what is offered beside tools with the protocol library's server. */
import { ProtocolError, type Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../base/json.ts";
import {
  type McpFeatures,
  PromptProblem,
  type PromptSource,
  ResourceProblem,
  type ResourceSource,
} from "../protocol/features.ts";
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, shortened } from "../protocol/rpc-error.ts";
import { pageOf } from "./pages.ts";

/** Values of one completion. */
const COMPLETIONS_MAX = 100;

/** Registers what `features` has; the era says how a missing resource is refused. */
export function registerFeatures(server: Server, features: McpFeatures, isModern: boolean): void {
  const { resources, prompts, complete, logs } = features;
  if (resources !== undefined) registerResources(server, resources, isModern);
  if (prompts !== undefined) registerPrompts(server, prompts);
  if (complete !== undefined) registerCompletions(server, complete);
  // The level is kept where calls are made: the library itself sends no log messages.
  if (logs === true && !isModern) server.setRequestHandler("logging/setLevel", () => ({}));
}

function registerResources(server: Server, resources: ResourceSource, isModern: boolean): void {
  server.setRequestHandler("resources/list", async ({ params }) => {
    const { entries, ...next } = pageAt(await resources.list(), params?.cursor);
    return { resources: entries, ...next } as never;
  });
  server.setRequestHandler("resources/templates/list", async ({ params }) => {
    const { entries, ...next } = pageAt(await resources.templates(), params?.cursor);
    return { resourceTemplates: entries, ...next } as never;
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const contents = await explained(resources.read(uri, context.mcpReq.signal));
    if (contents !== undefined) return { contents } as never;
    const code = isModern ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
    throw new ProtocolError(code, "there is no such resource", { uri: shortened(uri) });
  });
  if (resources.subscribe !== true || isModern) return;
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function registerPrompts(server: Server, prompts: PromptSource): void {
  server.setRequestHandler("prompts/list", async ({ params }) => {
    const { entries, ...next } = pageAt(await prompts.list(), params?.cursor);
    return { prompts: entries, ...next } as never;
  });
  server.setRequestHandler("prompts/get", async ({ params: { name, arguments: args = {} } }, context) => {
    const got = await explained(prompts.get(name, args, { responses: context.mcpReq.inputResponses }));
    if (got !== undefined) return got as never;
    throw new ProtocolError(INVALID_PARAMS, `there is no prompt \`${shortened(name)}\`; \`prompts/list\` names them`);
  });
}

/** The same, whose refusal is one of the protocol. */
async function explained<Got>(getting: Promise<Got>): Promise<Got> {
  try {
    return await getting;
  } catch (error) {
    if (error instanceof PromptProblem || error instanceof ResourceProblem)
      throw new ProtocolError(INVALID_PARAMS, error.message);
    throw error;
  }
}

function registerCompletions(server: Server, complete: NonNullable<McpFeatures["complete"]>): void {
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    const all = await complete({ ref: ref as unknown as JsonObject, argument: argument.name, value: argument.value });
    const values = all.slice(0, COMPLETIONS_MAX);
    return { completion: { values: [...values], total: all.length, hasMore: all.length > values.length } };
  });
}

function pageAt<Entry>(all: readonly Entry[], cursor: string | undefined) {
  const page = pageOf(all, cursor);
  if (page !== undefined) return page;
  throw new ProtocolError(INVALID_PARAMS, "`cursor` is none of this list's; begin again without it");
}
