/** Serves an open kernel to MCP clients over HTTP, beside RPC on the same addresses. */
import { newId, systemRandom } from "../../base/ids.ts";
import { LINE_BYTES_MAX } from "../../base/limits.ts";
import type { OtherDoor } from "../../transports/connect/index.ts";
import { sessionFeatures } from "../../transports/mcp/features/session-features.ts";
import { McpHttp } from "../../transports/mcp/http/mcp-http.ts";
import type { OpenKernel } from "../compose.ts";
import { handrailVersion } from "../operator/package-files.ts";
import { mcpInstructions } from "./mcp-instructions.ts";

/** MCP as a protocol of the HTTP front door; the longest body that it takes. */
export function mcpHttpDoor(kernel: OpenKernel): { readonly door: OtherDoor; readonly bodyBytesMax: number } {
  const { door, reportDoorError } = kernel;
  const newRequestId = () => newId("req", systemRandom);
  const onError = (error: unknown) => reportDoorError(error);
  const http = new McpHttp({
    door,
    newRequestId,
    optionsOf: (sessionToken, session) => ({
      door,
      sessionToken,
      version: handrailVersion(),
      instructions: mcpInstructions(session),
      newRequestId,
      features: sessionFeatures({ door, sessionToken, newRequestId }),
      onListed: () => void door.warmUp(sessionToken).catch(onError),
      onError,
    }),
  });
  return {
    door: { owns: (path) => http.owns(path), serve: (request) => http.serve(request), close: () => http.close() },
    bodyBytesMax: LINE_BYTES_MAX,
  };
}
