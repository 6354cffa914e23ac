/**
 * Describes this door to clients without a token, as RFC 9728 says: protected-resource metadata.
 *
 * Tokens are session tokens, which the operator hands out: there is no authorization server to name.
 */
import { type HttpRequest, headerOf } from "./http-types.ts";

/** Where messages are taken. */
export const MCP_PATH = "/mcp";
/** Where lines are piped. */
export const LINES_PATH = "/mcp/lines";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** Whether the metadata of this door stand at `path`. */
export function isMetadataPath(path: string): boolean {
  return path === WELL_KNOWN || path === `${WELL_KNOWN}${MCP_PATH}`;
}

/** The metadata, as JSON. */
export function resourceMetadata(request: HttpRequest): string {
  return JSON.stringify({
    resource: `${originOf(request)}${MCP_PATH}`,
    resource_name: "Handrail",
    bearer_methods_supported: ["header"],
  });
}

/** The headers that tell a client how to name itself (RFC 6750, RFC 9728). */
export function challenge(request: HttpRequest, problem?: "invalid_token"): Readonly<Record<string, string>> {
  const said = problem === undefined ? "" : `error="${problem}", `;
  const at = `${originOf(request)}${WELL_KNOWN}${MCP_PATH}`;
  return { "www-authenticate": `Bearer ${said}resource_metadata="${at}"` };
}

/** The address by which the client asked; the front has looked at its name. */
function originOf(request: HttpRequest): string {
  const host = headerOf(request, "host") ?? headerOf(request, ":authority") ?? "localhost";
  return /^[\w.:[\]-]{1,300}$/.test(host) ? `http://${host}` : "http://localhost";
}
