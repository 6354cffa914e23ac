/**
 * Finds logins in addresses as a browser reads them: with any slashes or none, tabs in them, quotes and spaces.
 *
 * Text of any kind is searched by a rule instead (`url-password`): of such spellings it knows those that nobody writes
 * by chance.
 */
import type { Finding, FindingKind } from "../search/finding.ts";
import { entropyOf, isReference, looksLikeStandIn } from "./entropy.ts";

/** The rule under which passwords of addresses are hidden. */
export const URL_PASSWORD = "url-password";

const WEAK =
  /^(?:p(?:ass)?w(?:or)?d|pass(?:word|wd|phrase)?|passw0rd|secret|root|admin|user(?:name)?|test(?:ing)?|guest|postgres|mysql|mongo|redis|rabbitmq|minio(?:admin)?|docker|dev|local(?:host)?|default|example|foo|bar|baz|qux|hunter2|changeme|letmein|token|key|pwd|login|anonymous|x-oauth-basic|x-token-auth|oauth2?|git|port|host|\d{1,5})\d{0,3}$/i;

/** Whether everybody has this password. */
export function isWeakPassword(password: string): boolean {
  return WEAK.test(password);
}

/**
 * Judges what may be a password in an address: `definite` when it looks chosen by chance, nothing when it is one of
 * those in every manual.
 */
export function judgePassword(secret: string): FindingKind | undefined {
  return isReference(secret) || secret.startsWith("pserver:") || /[${}<>[\]()|]/.test(secret) || secret.startsWith("//")
    ? undefined
    : judgeCertain(secret);
}

/** The same of what certainly is one, with any characters. */
export function judgeCertain(secret: string): FindingKind | undefined {
  if (REFERENCE.test(secret) || isWeakPassword(secret) || looksLikeStandIn(secret)) return undefined;
  if (secret.length < 3 || (secret.length < 6 && !/\d/.test(secret))) return undefined;
  const mixed = /\d/.test(secret) && /[A-Za-z]/.test(secret);
  return secret.length >= 12 && mixed && entropyOf(secret) > 3 ? "definite" : "probable";
}

/** What stands for a password: the name of a variable, a place to fill in, a marker. */
const REFERENCE = /^(?:\$\w+|\$?\{[^}]*\}|\$\([^)]*\)|%\w+%|<[^>]*>|\[[^\]]*\])$/;

/** The login of an address. */
export interface Login {
  /** From here to there stands `user:password`. */
  readonly start: number;
  readonly end: number;
  readonly password: Finding;
}

/** Addresses that are looked at in one text. */
const ADDRESSES_MAX = 64;
/** Characters of the longest login and host. */
const AUTHORITY_CHARACTERS_MAX = 4096;
/** A scheme behind something that no scheme has; machines drop tabs and the ends of lines. */
const SCHEME = /(?<![a-z0-9+.-])[a-z][a-z0-9+.\t\n\r-]{0,64}:/gi;
/** Those whose slashes may be any, and none. */
const LENIENT = /^(?:https?|wss?|ftp):$/i;
const ANY_SLASHES = /[\\/\t\n\r]*/y;
const TWO_SLASHES = /[\t\n\r]*\/[\t\n\r]*\//y;
const DROPPED = /[\t\n\r]/g;
const SPACE = /\s/;

/** The logins of the addresses in `text`; where one could end at several places, it is there several times. */
export function loginsIn(text: string): readonly Login[] {
  if (!text.includes("@") || !text.includes(":")) return NONE;
  const logins: Login[] = [];
  let looked = 0;
  for (const { 0: scheme, index } of text.matchAll(SCHEME)) {
    if (index < (logins.at(-1)?.end ?? 0)) continue;
    const plain = scheme.replace(DROPPED, "");
    const isLenient = LENIENT.test(plain);
    const slashes = isLenient ? ANY_SLASHES : TWO_SLASHES;
    slashes.lastIndex = index + scheme.length;
    if (!slashes.test(text)) continue;
    const start = slashes.lastIndex;
    const rest = text.slice(start, start + AUTHORITY_CHARACTERS_MAX);
    const length = rest.search(isLenient ? /[/?#\\]/ : /[/?#]/);
    const authority = length === -1 ? rest : rest.slice(0, length);
    const before = isBlank(text.slice(0, index)) ? "" : text.slice(index - 1, index);
    logins.push(...loginsOf(authority, { start, scheme: plain, before }));
    looked += 1;
    if (looked === ADDRESSES_MAX) break;
  }
  return logins;
}

const NONE: readonly Login[] = [];

interface Place {
  readonly start: number;
  readonly scheme: string;
  /** The character before the address; empty where it begins the text. */
  readonly before: string;
}

/** It ends where the address says so; or before a quote like the one before it; or before a space. */
function loginsOf(authority: string, place: Place): readonly Login[] {
  const { before } = place;
  const ends = new Set([SPACE.test(before) ? -1 : authority.length, authority.search(SPACE)]);
  if (before !== "" && QUOTES.includes(before)) ends.add(authority.indexOf(before));
  if (!SPACE.test(authority)) ends.add(authority.length);
  return [...ends].flatMap((end) => (end < 0 ? [] : (loginOf(authority.slice(0, end), place) ?? [])));
}

const QUOTES = "\"'`";

function loginOf(authority: string, { start, scheme }: Place): Login | undefined {
  const at = authority.lastIndexOf("@");
  const colon = authority.indexOf(":");
  if (at === -1 || colon === -1 || colon > at) return undefined;
  // what nobody writes so is one only if all of it is an address
  if (ODD.test(authority.slice(0, at)) && !URL.canParse(`${scheme}//${authority}`)) return undefined;
  const password = authority.slice(colon + 1, at);
  const judged = judgeCertain(password.replace(DROPPED, ""));
  if (judged === undefined) return undefined;
  // an address in one line, and prose with another one in the next, read like that
  const kind = password.includes(" ") && /[\n\r]/.test(password) ? "probable" : judged;
  const end = start + at;
  return { start, end, password: { rule: URL_PASSWORD, kind, start: start + colon + 1, end } };
}

/** Whether it is what may stand before an address and is no part of it: spaces and control characters. */
function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > SPACE_CODE) return false;
  return true;
}

const SPACE_CODE = 32;
const ODD = /[\s"'`<>{}|^]/;
