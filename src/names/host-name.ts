/**
 * The one form of a host's name or address, in which it is compared, decided on, looked up and recorded.
 *
 * Decides what is a host at all. It trusts nothing of how the name is written. INVARIANTS: pure; a canonical host is
 * its own canonical form; an address written in a form that programs read differently (decimal, octal, hexadecimal,
 * short, with a zone) is no host.
 */

/**
 * A host in its one form: a name in lower case and ASCII without the dot of the root, or an address without brackets.
 */
export interface CanonicalHost {
  readonly kind: "name" | "address";
  readonly host: string;
}

const NAME_CHARACTERS_MAX = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** What resolvers take for a number and so the whole for an address. */
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/;
const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ADDRESS_V4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const ADDRESS_V6 = /^[0-9a-f:.]{2,45}$/;

/** `text` in its one form; `undefined` when it is no host, or not clearly one. */
export function canonicalHost(text: string): CanonicalHost | undefined {
  // letters of other scripts may need several characters here where their encoded form is shorter, never more than this
  if (text.length > NAME_CHARACTERS_MAX + 1) return undefined;
  if (text.includes(":")) return address(text.toLowerCase());
  const name = asciiName(text)?.replace(/\.$/, "");
  if (name === undefined || name === "" || name.length > NAME_CHARACTERS_MAX) return undefined;
  const labels = name.split(".");
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  if (!NUMBER.test(labels.at(-1) ?? "")) return { kind: "name", host: name };
  return ADDRESS_V4.test(name) && name === text ? { kind: "address", host: name } : undefined;
}

/** With or without brackets; a zone is none of the characters. */
function address(text: string): CanonicalHost | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const url = `http://[${bare}]/`;
  if (!ADDRESS_V6.test(bare) || !URL.canParse(url)) return undefined;
  return { kind: "address", host: new URL(url).hostname.slice(1, -1) };
}

/** Encoded names go the same way as those in other scripts, so that one that cannot be decoded is no host. */
function asciiName(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (/^[a-z0-9._-]*$/.test(lower) && !lower.includes("xn--")) return lower;
  if (/[^a-z0-9._-]/.test(lower.replace(/[^\0-\x7f]/g, ""))) return undefined;
  const url = `http://${text}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
