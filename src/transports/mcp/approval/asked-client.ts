/**
 * Detects whether a client can show a form to the person at it, and its name.
 *
 * Both are the client's own word. The operator decides by that name whether anybody is asked there.
 */
import { isJsonObject } from "../../../base/json.ts";
import { ELICITATION_REVISIONS, META_CLIENT_CAPABILITIES, META_CLIENT_INFO } from "../protocol/revisions.ts";

/** The name of a legacy client that can be asked, from its `initialize`; `undefined` when it cannot. */
export function askedInSession(handshake: unknown, revision: string | undefined): string | undefined {
  if (!isJsonObject(handshake) || revision === undefined || !ELICITATION_REVISIONS.has(revision)) return undefined;
  return asked(handshake["clientInfo"], handshake["capabilities"]);
}

/** The name of the client of a modern request, if it can be asked between the rounds of a call. */
export function askedBetweenRounds(meta: unknown): string | undefined {
  return isJsonObject(meta) ? asked(meta[META_CLIENT_INFO], meta[META_CLIENT_CAPABILITIES]) : undefined;
}

function asked(client: unknown, capabilities: unknown): string | undefined {
  const name = isJsonObject(client) ? client["name"] : undefined;
  const elicitation = isJsonObject(capabilities) ? capabilities["elicitation"] : undefined;
  if (typeof name !== "string" || !isJsonObject(elicitation)) return undefined;
  // Without modes it has the one that was there first: forms.
  return "form" in elicitation || !("url" in elicitation) ? name : undefined;
}
