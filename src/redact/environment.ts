/**
 * Selects the environment values that are secrets, so that they are hidden wherever they turn up.
 *
 * A variable counts by its name if the name promises a secret (`*TOKEN*`, `*SECRET*`, `*PASSWORD*`, `*_KEY` and the
 * like). Then any value of six characters or more counts that is not a word, a number, a truth value, a path or a
 * placeholder.
 *
 * Any other variable counts by its value, if that looks random, unless it is one of the variables that every process
 * has. An address with a password counts, and so does its password alone.
 */
import { loginsIn } from "./kinds/address-login.ts";
import { entropyOf, isFiller, isReference } from "./kinds/entropy.ts";
import type { KnownSecret } from "./kinds/known-secret.ts";
import { isRuleName } from "./search/marker.ts";

const NAMES =
  /(?:^|[_-])(?:PASS|PASSWD|PWD|PASSWORD|PASSPHRASE|PASSCODE|SECRETS?|TOKENS?|AUTH|CREDENTIALS?|CREDS?|COOKIE|DSN|PAT|SALT|SIGNATURE|CONNECTION_?STRING|WEBHOOK(?:_URL)?)(?:$|[_-])|(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL)|(?:^|[_-])KEY(?:$|[_-])/i;
const NOT_SECRET_NAMES =
  /(?:^|_)(?:PWD|OLDPWD|SSH_AUTH_SOCK|SSH_AGENT_PID|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|SESSION_MANAGER|COLORTERM)$|(?:_FILE|_PATH|_DIR|_URL_PREFIX|_NAME|_ID_FILE|_TYPE|_TTL|_EXPIRY|_ENABLED|_REQUIRED|_MODE|_METHOD|_PROVIDER|_HELPER|_COMMAND)$|^(?:GPG_)?KEYBOARD|PUBLIC_?KEY/i;
const COMMON_NAMES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_.{1,32}|PWD|OLDPWD|TZ|EDITOR|VISUAL|PAGER|DISPLAY|WAYLAND_DISPLAY|HOSTNAME|HOST|SHLVL|_|MAIL|TMPDIR|TEMP|TMP|XDG_.{1,64}|SSH_(?:CLIENT|CONNECTION|TTY|AUTH_SOCK|AGENT_PID)|LS_COLORS|LESS.{0,16}|MANPATH|INFOPATH|LD_LIBRARY_PATH|PYTHONPATH|NODE_PATH|NODE_OPTIONS|JAVA_HOME|GOPATH|GOROOT|CARGO_HOME|npm_(?:config|package|lifecycle|node|command|execpath).{0,64}|PS1|PS2|INVOCATION_ID|JOURNAL_STREAM|WINDOWID|DBUS_.{1,64}|GIT_(?:AUTHOR|COMMITTER)_.{1,16}|VIRTUAL_ENV|CONDA_.{1,64}|CI_COMMIT.{1,32}|GITHUB_SHA|GIT_COMMIT)$/;

const NAMED_CHARACTERS_MIN = 6;
const RANDOM_CHARACTERS_MIN = 20;
const RANDOM_BITS_MIN = 3.6;
/** Values that one environment may add. */
const VALUES_MAX = 512;

/** Variables that the operator has decided about. */
export interface EnvironmentChoice {
  /** Their values are secrets, whatever they look like. */
  readonly secret: readonly string[];
  /** Their values are none. */
  readonly harmless: readonly string[];
}

const NO_CHOICE: EnvironmentChoice = { secret: [], harmless: [] };

/** The secrets in `environment`, each under the rule `env-<name>`. */
export function secretsOfEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  choice: EnvironmentChoice = NO_CHOICE,
): readonly KnownSecret[] {
  const secrets = new Map<string, KnownSecret>();
  const add = (name: string, value: string) => {
    if (secrets.size < VALUES_MAX && !secrets.has(value)) secrets.set(value, { rule: ruleOf(name), value });
  };
  for (const [name, raw] of Object.entries(environment).sort(([left], [right]) => (left < right ? -1 : 1))) {
    const value = raw?.trim() ?? "";
    if (value === "" || choice.harmless.includes(name)) continue;
    if (choice.secret.includes(name)) add(name, value);
    const passwords = passwordsOfAddresses(value).filter((password) => !isCommonValue(password));
    if (passwords.length > 0) {
      add(name, value);
      for (const password of passwords) for (const form of [password, decoded(password)]) add(name, form);
    } else if (isSecretVariable(name, value)) add(name, value);
  }
  return [...secrets.values()];
}

/** Lines of a `.env` file that are read. */
const LINES_MAX = 2048;
/** `NAME=value`, with `export`, quotes or a comment behind. */
const ENV_LINE =
  /^\s*(?:export\s+)?(?<name>[A-Za-z_][\w.]{0,127})\s*=\s*(?:"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>[^']*)'|(?<bare>[^\s#'"](?:[^#\s]|\s(?!\s*#)|(?<=\S)#)*))/;

/** The secrets of a `.env` file, by the same list as those of an environment. */
export function secretsOfEnvFile(text: string, choice: EnvironmentChoice = NO_CHOICE): readonly KnownSecret[] {
  const variables: Record<string, string> = {};
  for (const line of text.split(/\r?\n/, LINES_MAX)) {
    const { name, double, single, bare } = ENV_LINE.exec(line)?.groups ?? {};
    const value = double?.replaceAll(/\\(.)/g, "$1") ?? single ?? bare?.trimEnd();
    if (name !== undefined && value !== undefined) variables[name] = value;
  }
  return secretsOfEnvironment(variables, choice);
}

/** Whether the value of this variable is to be hidden. */
export function isSecretVariable(name: string, value: string): boolean {
  if (COMMON_NAMES.test(name) || isCommonValue(value)) return false;
  if (NAMES.test(name) && !NOT_SECRET_NAMES.test(name)) return value.length >= NAMED_CHARACTERS_MIN;
  return (value.length >= RANDOM_CHARACTERS_MIN && isRandom(value)) || isChosen(value);
}

/** Characters of a value that says nothing of itself. */
const CHOSEN_CHARACTERS_MIN = 8;

/** Letters and digits in turns, as no name, host, version or number has them: a value that somebody chose or drew. */
function isChosen(value: string): boolean {
  if (value.length < CHOSEN_CHARACTERS_MIN || /\s/.test(value) || /^[\w-]+(?:\.[\w-]+)+(?::\d+)?$/.test(value))
    return false;
  if (/^[A-Za-z]+\d{0,4}(?:[-_.:/,][A-Za-z]*\d{0,4})*$/.test(value)) return false; // words and numbers
  if (/^\d{4}-\d\d-\d\d[T ]|^[0-9a-f]{8}-[0-9a-f]{4}-|^[0-9a-f]{40}$/i.test(value)) return false; // a time, an id
  return /[A-Za-z]\d+[A-Za-z]|[^A-Za-z0-9][A-Za-z0-9]*\d/.test(value) && entropyOf(value) >= 2.7;
}

const COMMON_VALUES =
  /^(?:true|false|yes|no|on|off|none|null|undefined|nil|default|auto|enabled?|disabled?|always|never|required|optional|basic|bearer|oauth2?|password|passwd|secret|token|root|admin|administrator|user|guest|test|testing|example|changeme|development|production|staging|local|localhost|debug|info|warn(?:ing)?|error|utf-?8|xterm.{0,16}|keychain|libsecret|wincred|store|cache)$/i;

/** Whether everybody may have this value: a word, a number, a path, a placeholder. */
function isCommonValue(value: string): boolean {
  if (value.length < NAMED_CHARACTERS_MIN || COMMON_VALUES.test(value) || isFiller(value) || isReference(value))
    return true;
  if (/^[a-z]{1,12}$|^[A-Z]{1,12}$|^[A-Z][a-z]{1,11}$/.test(value)) return true; // a word
  if (/^[\d.,:+\-/ ]+$/.test(value) && value.length < 16) return true; // a number, a version, a date
  if (/^(?:~|\.{0,2})\/[^\s:]*$|^[A-Za-z]:\\|^\/[^\s]*(?::\/[^\s]*)*$/.test(value)) return true; // a path, or several
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s@]*$/i.test(value); // an address without a login
}

function isRandom(value: string): boolean {
  if (/\s/.test(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value) || /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(value))
    return false;
  if (/[:;,].*[:;,]|\//.test(value) && !/^[A-Za-z0-9+/]{24,}={0,2}$/.test(value)) return false;
  const mixed = /\d/.test(value) && /[a-z]/i.test(value) && /\d[a-z]+\d/i.test(value);
  return mixed && entropyOf(value) >= RANDOM_BITS_MIN && !/^(?:[a-z]+[-_.]?){2,}\d*$/i.test(value);
}

function passwordsOfAddresses(value: string): readonly string[] {
  const { 1: usual } = /^[a-z][a-z0-9+.-]{1,32}:\/\/[^\s:/@]{0,128}:([^\s@/]{4,255})@/i.exec(value) ?? [];
  return [usual ?? [], loginsIn(value).map(({ password }) => value.slice(password.start, password.end))].flat();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a `%` that escapes nothing is part of the password
  }
}

function ruleOf(name: string): string {
  const rule = `env-${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")}`
    .slice(0, 64)
    .replace(/-$/, "");
  return isRuleName(rule) ? rule : "environment";
}
