/**
 * Judges whether a name stands for a secret and whether a value looks like one.
 *
 * This judgement is behind `probable` findings. It is tuned so that what surrounds secrets does not fire: hashes,
 * versions, identifiers, paths, names of variables, placeholders, calls. All functions are pure functions of name and
 * value.
 */

import { entropyOf, isCalledStandIn, isFiller, isPublished } from "./entropy.ts";
import type { ValuePlace } from "./named-value.ts";

/** What a name promises: a password, a secret that people may have chosen, one of machines, some key, or nothing. */
export type NameClass = "password" | "chosen" | "secret" | "key" | "none";

const PASSWORD = /^(?:pass|passw(?:or)?ds?|pwd|passwd|passphrase|passcode|userpass|dbpass(?:word)?)$/;
const SECRET =
  /^(?:secrets?|tokens?|apikeys?|credentials?|authtoken|accesstoken|clientsecret|secretkey|privatekey|accesskey|authkey|auth|pat)$/;
const KEY_QUALIFIERS =
  /^(?:api|access|secret|private|signing|encryption|encrypt|master|account|auth|service|shared|license|licence|session|deploy|app|application|storage|admin|client|crypto|cipher|hmac|jwt|aes|rsa|des|subscription|function|host|system|server|security|integration|project|org|team|user|consumer|write|read|ingest|bot|live|prod|production|root|decryption|sign)$/;
/** Words after the decisive one that do not change what the value is. */
const SUFFIX =
  /^(?:value|string|text|base|base64|b64|hex|raw|plain|prod|production|dev|development|test|testing|live|staging|stage|sandbox|main|default|old|new|current|primary|secondary|backup|v?\d{1,2}|[a-z])$/;
/** Names whose value is long and random and no secret. */
const HARMLESS =
  /public|publishable|anon|recv|receive|gpg|page|next|continuation|cursor|sync|cancel|idempotency|cache|partition|primary_?key|foreign|sort|object|csrf_?param|syntax|lexer|pub_?key|ssh_?key_?id|key_?id|fingerprint|checksum|sha\d|digest|hash|integrity|etag|commit|revision|ground|compass|bypass|buypass|surpass|minipass/i;

/** What the value of `name` is likely to be. */
export function classifyName(name: string): NameClass {
  if (HARMLESS.test(name)) return "none";
  const words = wordsOf(name);
  while (words.length > 1 && SUFFIX.test(words.at(-1) ?? "")) words.pop();
  const last = words.at(-1) ?? "";
  if (PASSWORD.test(last)) return "password";
  const before = words.at(-2) ?? "";
  if (/^secrets?$/.test(last) && before !== "") return "chosen";
  if (SECRET.test(last)) return "secret";
  if (last === "key" || last === "keys") return KEY_QUALIFIERS.test(before) ? "secret" : before === "" ? "none" : "key";
  if (last === "phrase" && before === "pass") return "password";
  if (/(?:passw(?:or)?d|passwd|pass|passphrase)$/.test(last)) return "password";
  return /(?:secret|token|apikey)$/.test(last) ? "secret" : "none";
}

/** `dbPassword`, `DB_PASSWORD` and `db-password` as words in lower case. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** Whether `value`, which is no reference, looks like a secret, for a name of class `name`. */
export function looksSecret(value: string, name: NameClass, place: ValuePlace): boolean {
  if (name === "none" || value.includes("\0")) return false;
  const isChosen = name === "password" || name === "chosen";
  if (value.length < (isChosen && place === "whole" ? 6 : 8)) return false;
  if (/\s/.test(value)) return isChosen && place === "whole" && isPhrase(value);
  if (isFiller(value) || isCalledStandIn(value) || isPublished(value)) return false;
  if (place === "said")
    return /^[A-Za-z0-9!#$&*]/.test(value) && /\d/.test(value) && (isChosen ? isMixed : isMachineMade)(value);
  if (isMachineMade(value)) return true;
  if (name === "password" && isWordWithNumber(value)) return true;
  if (isChosen && place === "whole" && (isMixed(value) || isWordsWithNumber(value))) return true;
  if (isPlainThing(value)) return false;
  if ((name === "password" || (isChosen && place === "whole")) && isPasswordLike(value)) return true;
  return name !== "password" && isRandomLike(value, name === "key" ? 20 : 16);
}

/** Whether `value` has a form that services give their keys: hexadecimal, a UUID, or letters and digits by chance. */
export function isKeyOfSomething(value: string): boolean {
  if (isFiller(value) || isCalledStandIn(value)) return false;
  if (UUID.test(value)) return true;
  if (!KEY_CHARACTERS.test(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(value)) return entropyOf(value) >= 2.5;
  return !isPlainThing(value) && /\d[A-Za-z]{1,8}\d/.test(value) && entropyOf(value) >= 3;
}

const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
/** Fewer characters than these are a number of a version or of a build. */
const KEY_CHARACTERS = /^[A-Za-z0-9_+/=.:-]{14,256}$/;

const PLAIN_WHOLES: readonly RegExp[] = [
  /^[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*\d{0,4}$/, // words
  /^[\d.,:+\-TZ/ _]+$/, // numbers, dates, versions
  /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
  /^v?\d+\.\d+(?:\.\d+)?(?:[-+.][\w.-]*)?$/,
  /^(?:\.{0,2}|~)\/[\w@~%+=.-]+(?:\/[\w@~%+=.,-]*)*$/, // paths
  /^[\w.-]+(?:\/[\w.-]+){2,}$/,
  /^[A-Za-z_$]\w*\$\d{1,3}$/, // what bundlers make of a name
  /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/, // members
  /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/, // addresses
  /^[a-z]+(?:[A-Z][a-z]*)*\d{0,3}$/, // identifiers in camel case
  /^(?:[A-Z][a-z]+)+\d{0,3}$/,
  /^[a-z]+\d{0,4}(?:_[a-z]+\d{0,4})+$/, // and with underscores
  /^--?[a-z][\w-]*$/, // options
  /^[A-Z][a-z]+\d{1,2}Array$/,
  /^[A-Z]+(?:_[A-Z0-9]+)*$/, // constants
  /^[a-z0-9]+(?:_[a-z]+)+\d{0,3}$/, // names with underscores
  /^(?:[a-z]+\d{0,2}[-_.])+[a-z]*\d{0,4}$/,
  /^\w+(?:::|->|=>)/,
];
/** All of them in one, which costs one call of the engine. */
const PLAIN_WHOLE = eitherOf(PLAIN_WHOLES);
const PLAIN_BEGINNING = /^(?:sha(?:1|256|384|512)[-:]|(?:https?|file|data|git|ssh|npm|urn|about|chrome|blob):)/i;
const PATTERN = /[*?]\*|\\[dwsbnt]|\(\?|\.\*|\[\^/;

function eitherOf(expressions: readonly RegExp[]): RegExp {
  return new RegExp(expressions.map(({ source }) => source).join("|"));
}

/** Whether the value is one of the things that are long, have digits, and are no secrets. */
function isPlainThing(value: string): boolean {
  return PLAIN_WHOLE.test(value) || PLAIN_BEGINNING.test(value) || PATTERN.test(value);
}

/** Base64 of random bytes: parted by its own `/` it looks like a path, without a digit like a name. */
function isMachineMade(value: string): boolean {
  if (!/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(value) || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  if (/^[a-z]+(?:[A-Z][a-z]+)+$/.test(value) && value.length < 24) return false; // `onLastEventIdUpdate`
  return transitions(value) >= MACHINE_TRANSITIONS && entropyOf(value) >= 3.3;
}

/** Of random base64, 0.65 of the characters differ in kind from the one before; of paths and names, 0.1 to 0.35. */
const MACHINE_TRANSITIONS = 0.42;

/** Some words, one of which is no word: `Tr0ub4dor & 3`. */
function isPhrase(value: string): boolean {
  if (value.length > 64 || isCalledStandIn(value)) return false;
  const words = value.split(/\s+/);
  if (words.length > 6) return false;
  if (words.some((word) => /[A-Za-z]\d+[A-Za-z]/.test(word)) && /[A-Z]/.test(value)) return true;
  return (
    words.length >= 3 &&
    words.every((word) => /^(?:[a-z]{3,12}|\d{2,6})$/.test(word)) &&
    /^\d+$/.test(words.at(-1) ?? "")
  );
}

/** `dragon42x`, `winter-dragon-2024`, `4051728396`: what people take where nothing else is asked for. */
function isWordsWithNumber(value: string): boolean {
  if (/^\d{8,20}$/.test(value)) return true;
  return (
    /^[A-Za-z]{3,24}(?:[-_.][A-Za-z]{3,24}){0,4}[-_.]?\d{2,8}[A-Za-z]{0,2}[!?.*#$@]?$/.test(value) &&
    !OF_PROGRAMS.test(value)
  );
}

/** Algorithms, protocols, types and names of variables end in numbers as well. */
const OF_PROGRAMS =
  /^(?:scram-sha|sha|md|aes|des|hs|rs|es|ps|ecdsa|ed|x|rsa|pbkdf|bcrypt|argon|scrypt|base|utf|iso|cp|int|uint|float|oauth|http|tls|ssl|pass|passwd|password|pwd|secret|token|key|v|port|user|version)[-_.]?\d|localhost/i;

/** A password with signs in it: small letters, capitals, digits and signs in turns, and nothing like code. */
function isMixed(value: string): boolean {
  if (!/^[!-~]+$/.test(value) || SYNTAX.test(value)) return false;
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((set) => set.test(value)).length;
  return classes >= 3 && transitions(value) >= 0.3 && entropyOf(value) >= 2.8;
}

const SYNTAX = eitherOf([
  /^(?:\.{0,2}|~)\//, // paths
  /:\/\/|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/, // addresses
  /\(\?|\.\*|\[\^|\\[dws][+*{?\]]/, // patterns
  /\w\(\w*\)|[!=]==|=>|&&|\|\||::/, // expressions
  /^--?[a-z][\w-]*$/, // options
  /^(?:[A-Za-z]+\d{0,4}|\d{1,4})(?:[_.-](?:[A-Za-z]+\d{0,4}|\d{1,4}))+$/, // identifiers
]);

/** `Winter2024`: what people take for a password when it must have a capital and a digit. */
function isWordWithNumber(value: string): boolean {
  return /^[A-Za-z]{4,24}\d{2,6}[!?.*#$]?$/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value);
}

/** People's passwords: some mixture, not a word with a number behind it. */
function isPasswordLike(value: string): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((set) => set.test(value)).length;
  if (classes >= 3 && /\d/.test(value)) return entropyOf(value) >= 2.7;
  return classes >= 2 && /\d[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]/.test(value) && entropyOf(value) >= 2.7;
}

/** What machines make: random over the characters it uses. */
function isRandomLike(value: string, lengthMin: number): boolean {
  if (value.length < lengthMin || !/^[\w+/=.~%!@#$^&*:-]+$/.test(value)) return false;
  if (/[/:.]/.test(value) && longestRun(value) < lengthMin) return false;
  const entropy = entropyOf(value);
  if (/^[0-9a-f]+$/i.test(value))
    return value.length >= 24 && entropy >= 2.9 && /\d/.test(value) && /[a-f]/i.test(value);
  return (
    entropy >= 3.3 &&
    transitions(value) >= 0.25 &&
    (/\d/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value) && transitions(value) >= 0.4))
  );
}

/** The length of the longest part without a separator. */
function longestRun(value: string): number {
  return Math.max(...value.split(/[/:.]/).map((part) => part.length));
}

/** How often, per character, lower case, upper case and digits change. */
function transitions(value: string): number {
  let changes = 0;
  let before = 0;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    const kind = code >= 97 ? 1 : code >= 65 ? 2 : code >= 48 && code <= 57 ? 3 : 4;
    if (before !== 0 && kind !== before) changes += 1;
    before = kind;
  }
  return changes / value.length;
}
