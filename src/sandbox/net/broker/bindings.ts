/**
 * Decides which requests a binding is for. Pure.
 *
 * INVARIANT: a request whose path or method servers could take for another one is none that was bound.
 */
import type { BrokeredSecret, SecretBinding } from "../../../model/reach/secrets.ts";

/** The head of a request to one server. */
export interface SecretRequest {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Path and query, from `/` on. */
  readonly path: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
}

/** Headers by which frameworks take a request for one of another method or path. */
const OVERRIDES =
  /^x-(?:http-)?method(?:-override)?$|^x-(?:original|rewrite|forwarded)-(?:url|uri|path|prefix|host|method)$|^x-rewrite-url$/i;

/** The bindings of `secret` that allow a place in such a request. */
export function bindingsOf(
  { bindings }: Pick<BrokeredSecret, "bindings">,
  request: SecretRequest,
): readonly SecretBinding[] {
  const { host, port, method, path } = request;
  return bindings.filter(
    (binding) =>
      binding.host === host &&
      binding.port === port &&
      (binding.methods === undefined || binding.methods.includes(method)) &&
      isBelow(path, binding.path) &&
      ((binding.methods === undefined && binding.path === "/") || !isOverridden(request)),
  );
}

function isOverridden({ headers, path }: SecretRequest): boolean {
  if (headers.some((text, at) => at % 2 === 0 && OVERRIDES.test(text))) return true;
  return /[?&](?:_|%5f)method=/i.test(path);
}

/** Whether the path, as servers read it, lies at or below `base`. */
function isBelow(path: string, base: string): boolean {
  if (base === "/") return true;
  const plain = path.split("?", 1)[0] ?? "";
  const below = base.endsWith("/") ? base : `${base}/`;
  return (plain === base || plain.startsWith(below)) && isPlain(plain);
}

/** Whether every server reads the path as it stands: escapes are of characters that part no path, and of none twice. */
function isPlain(path: string): boolean {
  if (/%25|;|\\/i.test(path)) return false;
  let text: string;
  try {
    text = decodeURIComponent(path).normalize("NFKC");
  } catch {
    return false; // an escape that some programs read and others do not
  }
  if (/[\p{Cc}\p{Cf};\\#?]|\/\//u.test(text) || text.split("/").length !== path.split("/").length) return false;
  return text.split("/").every((part) => !/^\.{1,2}$/.test(part.trim()));
}
