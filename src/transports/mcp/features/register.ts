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
import { CURSOR_REFUSED, type ListPages, type Page } from "./pages.ts";
import { ResourceSubscriptions, SUBSCRIPTIONS_MAX } from "./resource-subscriptions.ts";

/** Values of one completion. */
const COMPLETIONS_MAX = 100;

/** How lists are cut, and the era, which says how a missing resource is refused. */
export interface FeatureEra {
  readonly pages: ListPages;
  readonly isModern: boolean;
  /** Calls `listener` after each change of the session's tools, until the returned function is called. */
  readonly watchTools: (listener: () => void) => () => void;
}

/** Registers what `features` has. */
export function registerFeatures(server: Server, features: McpFeatures, era: FeatureEra): void {
  const { resources, prompts, complete, logs } = features;
  const { pages, isModern } = era;
  if (resources !== undefined) registerResources(server, resources, era);
  if (prompts !== undefined) registerPrompts(server, prompts, pages);
  if (complete !== undefined) registerCompletions(server, complete);
  // The level is kept where calls are made: the library itself sends no log messages.
  if (logs === true && !isModern) server.setRequestHandler("logging/setLevel", () => ({}));
}

function registerResources(server: Server, resources: ResourceSource, era: FeatureEra): void {
  const { pages, isModern } = era;
  let unwatch: (() => void) | undefined;
  server.setRequestHandler("resources/list", async ({ params }) => {
    // A modern client subscribes to hear of changes; a legacy one has asked for the list.
    if (!isModern) unwatch ??= resources.watchList?.(() => void server.sendResourceListChanged());
    const { entries, ...next } = pageAt({ pages, name: "resources/list" }, await resources.list(), params);
    return { resources: entries, ...next } as never;
  });
  server.setRequestHandler("resources/templates/list", async ({ params }) => {
    const { entries, ...next } = pageAt(
      { pages, name: "resources/templates/list" },
      await resources.templates(),
      params,
    );
    return { resourceTemplates: entries, ...next } as never;
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const contents = await explained(resources.read(uri, context.mcpReq.signal));
    if (contents !== undefined) return { contents } as never;
    const code = isModern ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
    throw new ProtocolError(code, "there is no such resource", { uri: shortened(uri) });
  });
  if (isModern) return;
  const subscriptions = new ResourceSubscriptions({
    resources,
    watchTools: era.watchTools,
    send: (uri) => void server.sendResourceUpdated({ uri }),
  });
  server.onclose = () => {
    unwatch?.();
    subscriptions.close();
  };
  if (resources.subscribe === true) registerSubscriptions(server, subscriptions);
}

function registerSubscriptions(server: Server, subscriptions: ResourceSubscriptions): void {
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    const problem = subscriptions.add(uri);
    if (problem === undefined) return {};
    throw problem === "unknown"
      ? new ProtocolError(RESOURCE_NOT_FOUND, "there is no such resource", { uri: shortened(uri) })
      : new ProtocolError(INVALID_PARAMS, `at most ${SUBSCRIPTIONS_MAX} resources are watched; unsubscribe from some`);
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscriptions.remove(uri);
    return {};
  });
}

function registerPrompts(server: Server, prompts: PromptSource, pages: ListPages): void {
  server.setRequestHandler("prompts/list", async ({ params }) => {
    const { entries, ...next } = pageAt({ pages, name: "prompts/list" }, await prompts.list(), params);
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

/** The page that `params` ask for. @throws ProtocolError where their cursor is none */
export function pageAt({ pages, name }: ListOf, all: readonly JsonObject[], params: Asked): Page {
  const page = pages.page(name, all, params?.cursor);
  if (page !== undefined) return page;
  throw new ProtocolError(INVALID_PARAMS, CURSOR_REFUSED);
}

/** A list by its method, and how it is cut. */
export interface ListOf {
  readonly pages: ListPages;
  readonly name: string;
}

/** Parameters of a list. */
type Asked = { readonly cursor?: string | undefined } | undefined;
