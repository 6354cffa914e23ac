/**
 * Lists the tools that a session is offered, in its dialect, without those that clients find in another way.
 *
 * A model plans with what it is shown, so that a tool which can never run costs it tokens and calls.
 */
import { authenticate } from "../session/session.ts";
import type { KernelParts } from "./call/parts.ts";
import { FINDS_TOOLS, type ToolDefinition } from "./declared/registry.ts";
import { CALL_TOOL } from "./dialect/named-call.ts";
import { isOffered } from "./judge/offer.ts";

/** The tools that the session of `token` is offered, by name; all of them for a token that nobody may use now. */
export async function offeredTools(parts: KernelParts, token: string): Promise<readonly ToolDefinition[]> {
  const all = parts.registry.getToolDefinitions();
  const nowMs = parts.clock.nowMs();
  const authenticated = await authenticate(parts.sessions, token, nowMs);
  if (!authenticated.ok) return all;
  const { session, lease } = authenticated.value;
  const caller = { session, lease, place: await parts.workspaces.open(session), gates: parts.settings.gates };
  const offered = all.filter(({ name }) => isOffered(parts, { caller, nowMs }, name));
  const listed = withoutUnlisted(parts, offered);
  if (session.dialect === undefined) return listed;
  const { spokenTools } = await import("./dialect/speak.ts");
  return spokenTools(session.dialect, listed);
}

/** The tools that are listed, and those to find and call the others with where there are some. */
function withoutUnlisted({ registry }: KernelParts, offered: readonly ToolDefinition[]): readonly ToolDefinition[] {
  if (!registry.getAll().some(({ isUnlisted }) => isUnlisted === true)) return offered;
  const listed = offered.filter(({ name }) => registry.get(name)?.isUnlisted !== true);
  // there is nothing to be found
  if (listed.length === offered.length) return offered.filter(({ name }) => name !== FINDS_TOOLS);
  return [...listed, CALL_TOOL].sort((left, right) => (left.name < right.name ? -1 : 1));
}
