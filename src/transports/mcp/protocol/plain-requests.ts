/**
 * Recognises requests so plain that their outcome is certain without the protocol library's schemas.
 *
 * INVARIANT: what is plain here the library accepts, and answers the same (a test compares). Whatever is unusual is not
 * plain, however right it may be.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  MODERN_REVISION,
} from "./revisions.ts";

/** Legacy revisions that are agreed on when a client asks for them; for any other the library chooses. */
export const LEGACY_REVISIONS: ReadonlySet<string> = new Set([
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
]);

const LOG_LEVELS: ReadonlySet<unknown> = new Set([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]);
const CAPABILITIES = ["roots", "sampling", "elicitation", "experimental", "extensions"];
const CLIENT_WORDS = ["name", "version", "title", "websiteUrl", "description"];

/** Whether `parameters` ask for nothing: absent, or a progress token alone. */
export function isBare(parameters: unknown): boolean {
  return parameters === undefined || (hasOnly(parameters, ["_meta"]) && isPlainMeta(parameters["_meta"]));
}

/** Whether `meta` is a plain envelope of the modern era; what it says besides is not looked at. */
export function isPlainEnvelope(meta: JsonObject): boolean {
  const { [META_CLIENT_INFO]: client, [META_LOG_LEVEL]: level } = meta;
  return (
    meta[META_PROTOCOL_VERSION] === MODERN_REVISION &&
    arePlainCapabilities(meta[META_CLIENT_CAPABILITIES]) &&
    (client === undefined || isPlainClient(client)) &&
    (level === undefined || LOG_LEVELS.has(level))
  );
}

/** Whether the parameters of a modern request are its envelope alone. */
export function isEnvelopeAlone(parameters: unknown): boolean {
  return hasOnly(parameters, ["_meta"]);
}

/** The revision that a plain `initialize` with these parameters comes to; `undefined` when it is not plain. */
export function plainHandshake(parameters: unknown): string | undefined {
  if (!hasOnly(parameters, ["protocolVersion", "capabilities", "clientInfo", "_meta"])) return undefined;
  const { protocolVersion, capabilities, clientInfo, _meta } = parameters;
  if (typeof protocolVersion !== "string" || !LEGACY_REVISIONS.has(protocolVersion)) return undefined;
  return isPlainMeta(_meta) && arePlainCapabilities(capabilities) && isPlainClient(clientInfo)
    ? protocolVersion
    : undefined;
}

function isPlainMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!hasOnly(meta, ["progressToken"])) return false;
  const { progressToken } = meta;
  return progressToken === undefined || typeof progressToken === "string" || Number.isSafeInteger(progressToken);
}

/**
 * Capabilities that say little more than that they exist: `{"roots":{"listChanged":true},"elicitation":{"form":{}}}`.
 */
function arePlainCapabilities(capabilities: unknown): boolean {
  if (!hasOnly(capabilities, CAPABILITIES)) return false;
  return Object.entries(capabilities).every(
    ([capability, value]) =>
      isJsonObject(value) && Object.entries(value).every(([name, detail]) => isPlainDetail(capability, name, detail)),
  );
}

/** What clients say of an extension is short: `{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}`. */
function isPlainDetail(capability: string, name: string, detail: unknown): boolean {
  if (capability === "roots") return name === "listChanged" && typeof detail === "boolean";
  if (capability !== "extensions") return hasOnly(detail, []);
  return (
    isJsonObject(detail) &&
    Object.values(detail).every((setting) => isWord(setting) || (Array.isArray(setting) && setting.every(isWord)))
  );
}

function isWord(setting: unknown): boolean {
  return typeof setting === "string" || typeof setting === "boolean";
}

function isPlainClient(client: unknown): boolean {
  if (!hasOnly(client, CLIENT_WORDS) || client["name"] === undefined || client["version"] === undefined) return false;
  return Object.values(client).every((word) => typeof word === "string");
}

function hasOnly(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && Object.keys(value).every((name) => names.includes(name));
}
