/**
 * Offers what a session may use as a resource, which changes with its grants, its lease, plugins and components.
 *
 * Which tools these are is the kernel's to say, with each read.
 */
import type { JsonObject } from "../../../base/json.ts";
import { ResourceProblem } from "../protocol/features.ts";
import type { McpOptions } from "../protocol/options.ts";
import { SESSION_TOOLS_URI } from "../protocol/session-uri.ts";

/** The entry of the resource in the list. */
export const SESSION_TOOLS: JsonObject = {
  uri: SESSION_TOOLS_URI,
  name: "tools of this session",
  description: "The names and effects of the tools that this session may use now; subscribe to hear of changes.",
  mimeType: "application/json",
};

/** The contents of the resource. @throws ResourceProblem */
export async function readSessionTools({
  door,
  sessionToken,
}: Pick<McpOptions, "door" | "sessionToken">): Promise<readonly JsonObject[]> {
  const offered = await door.offered(sessionToken).catch(() => undefined);
  if (offered === undefined) throw new ResourceProblem("the session cannot be read; any call says what is wrong");
  const tools = offered.map(({ name, effect }) => ({ name, effect }));
  return [{ uri: SESSION_TOOLS_URI, mimeType: "application/json", text: JSON.stringify({ tools }) }];
}
