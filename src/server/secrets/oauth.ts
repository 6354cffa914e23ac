/**
 * Gets tokens from OAuth servers (RFC 6749): by a refresh token, or for the client itself.
 *
 * A token is renewed shortly before it expires, while calls go on using the old one.
 *
 * INVARIANTS: one request at a time for one refresh token. One that takes the place of another is written where that
 * one is kept before the new token is used; where it cannot be written, the secret is not used, and no spent one is
 * sent again. Nothing is sent but to the server that the operator names.
 */
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { KIB } from "../../base/bytes.ts";
import { systemRandom } from "../../base/ids.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { OAuthSource, PlainSource } from "../../config/sections/secrets.ts";
import { webAddress } from "../../names/web-address.ts";
import type { ConnectionRules } from "../../sandbox/net/fetch/connections.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { writeKeyring } from "./keyring.ts";
import { problem, type Read } from "./own-file.ts";
import { readSource, sourceName } from "./secret-sources.ts";

/** Milliseconds that a server may take to give a token. */
const TOKEN_REQUEST_MS = 15_000;
/** Bytes of its answer. */
const TOKEN_ANSWER_BYTES_MAX = 64 * KIB;
/** Milliseconds before its end from which on a token is not used any more; of a short one a tenth of its time. */
const TOKEN_MARGIN_MS = 60_000;
/** Milliseconds for which a token counts whose server does not say how long. */
const TOKEN_KEPT_MS = 300_000;
/** Milliseconds after which a server that gave none is asked again. */
const TOKEN_AGAIN_MS = 30_000;
/** Milliseconds after which it is looked whether a token that was asked for has come; no token is asked for sooner. */
const TOKEN_LOOK_MS = 5000;

/** A token, or why there is none. */
export interface Tokens {
  readonly read: Read;
  /** What else must be hidden wherever it turns up. */
  readonly hides: readonly string[];
  /** Until when it is not asked for again, on the clock of `performance`. */
  readonly untilMs: number;
}

/** With what tokens are asked for. */
export interface TokenMeans {
  readonly environment: Environment;
  readonly connections: Pick<ConnectionRules, "network" | "authorities">;
}

/** What is known of one place where tokens come from. */
interface Known {
  /** The last answer, and when its token ends; what is wrong is wrong until it is known to be right. */
  last?: Tokens & { readonly endsMs: number };
  asking?: Promise<Tokens & { readonly endsMs: number }>;
  /** A refresh token that could not be written, or must not be. */
  unwritten?: string;
}

const places = new WeakMap<Environment, Map<string, Known>>();

/**
 * A token of `source`, as of now. While a new one is on its way, the one of before counts until it ends; only where
 * there is none at all is waited for.
 */
export async function tokensOf(source: OAuthSource, means: TokenMeans): Promise<Tokens> {
  const known = placeOf(source, means);
  const { last } = known;
  const nowMs = performance.now();
  if (last !== undefined && last.untilMs > nowMs) return last;
  known.asking ??= ask(source, known, means).then((tokens) => {
    known.last = tokens;
    delete known.asking;
    return tokens;
  });
  if (last !== undefined && last.endsMs > nowMs) return { ...last, untilMs: nowMs + TOKEN_LOOK_MS };
  return await known.asking;
}

/** The same for the same tokens, whatever configuration names them: one refresh token is used by one request. */
function placeOf(
  { token_url: url, client_id: id, refresh_token: refresh, scope }: OAuthSource,
  { environment }: TokenMeans,
) {
  const all = places.get(environment) ?? new Map<string, Known>();
  places.set(environment, all);
  const key = JSON.stringify([url, id, refresh ?? scope ?? ""]);
  const known = all.get(key) ?? {};
  all.set(key, known);
  return known;
}

type Answered = Tokens & { readonly endsMs: number };

async function ask(source: OAuthSource, known: Known, means: TokenMeans): Promise<Answered> {
  const hides = new Set<string>();
  const wrong = (text: string): Answered => {
    const nowMs = performance.now();
    return {
      read: problem(text),
      hides: [...hides],
      untilMs: nowMs + TOKEN_AGAIN_MS,
      endsMs: Number.POSITIVE_INFINITY,
    };
  };
  const secret = await kept(source.client_secret, means);
  let refresh = known.unwritten === undefined ? await kept(source.refresh_token, means) : await written(source, known);
  for (;;) {
    for (const one of [secret, refresh]) if (one?.kind === "read") hides.add(one.text);
    const lacking = [secret, refresh].find((one) => one?.kind === "problem");
    if (lacking?.kind === "problem") return wrong(lacking.problem);
    const answer = await requested(source, { secret: textIn(secret), refresh: textIn(refresh) }, means);
    if (typeof answer !== "string")
      return await taken(answer, { source, known, refresh: textIn(refresh), hides, wrong });
    // another kernel may have used it, and written the next one
    const again = answer.includes("invalid_grant") ? await kept(source.refresh_token, means) : undefined;
    if (again?.kind !== "read" || again.text === textIn(refresh)) return wrong(answer);
    refresh = again;
  }
}

interface Taking {
  readonly source: OAuthSource;
  readonly known: Known;
  readonly refresh: string | undefined;
  readonly hides: Set<string>;
  readonly wrong: (text: string) => Answered;
}

async function taken(answer: JsonObject, { source, known, refresh, hides, wrong }: Taking): Promise<Answered> {
  const { access_token: token, expires_in: seconds, refresh_token: next } = answer;
  const name = sourceName({ oauth: source });
  if (!isToken(token)) return wrong(`${name}: the answer holds no \`access_token\` that can be used`);
  hides.add(token);
  if (source.refresh_token !== undefined && next !== undefined && next !== null && next !== refresh) {
    if (!isToken(next)) return wrong(`${name}: the answer holds a \`refresh_token\` that cannot be used`);
    hides.add(next);
    known.unwritten = next;
    const read = await written(source, known);
    if (read.kind === "problem") return wrong(read.problem);
  }
  const nowMs = performance.now();
  const lifeMs = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : TOKEN_KEPT_MS;
  const untilMs = nowMs + Math.max(TOKEN_LOOK_MS, lifeMs - Math.min(TOKEN_MARGIN_MS, lifeMs / 10));
  return { read: { kind: "read", text: token }, hides: [...hides], untilMs, endsMs: nowMs + lifeMs };
}

/** What may be hidden and kept: no short word of everybody's, one line, and no more than is read again. */
function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[!-~]{8,8192}$/.test(value);
}

/** The refresh token that is kept in memory alone, once it is written where it belongs. */
async function written({ refresh_token: place }: OAuthSource, known: Known): Promise<Read> {
  const { unwritten: text = "" } = known;
  const why = place === undefined ? "nowhere to keep it" : await keepNext(place, text);
  if (why !== undefined) return problem(why);
  delete known.unwritten;
  return { kind: "read", text };
}

async function kept(source: PlainSource | undefined, { environment }: TokenMeans): Promise<Read | undefined> {
  if (source === undefined) return undefined;
  const read = await readSource(source, environment);
  if (read.kind === "problem") return read;
  const text = read.text.trim();
  return text === "" ? problem(`${sourceName(source)} is empty`) : { kind: "read", text };
}

function textIn(read: Read | undefined): string | undefined {
  return read?.kind === "read" ? read.text : undefined;
}

/** What the server answers, or what is wrong with that. */
async function requested(
  source: OAuthSource,
  { secret, refresh }: { readonly secret: string | undefined; readonly refresh: string | undefined },
  { connections }: TokenMeans,
): Promise<JsonObject | string> {
  const name = sourceName({ oauth: source });
  const address = webAddress(source.token_url);
  if ("problem" in address) return `${name}: ${address.problem}`;
  const inBody = source.client_auth === "body" || secret === undefined;
  const body = new URLSearchParams({
    ...(refresh === undefined
      ? { grant_type: "client_credentials" }
      : { grant_type: "refresh_token", refresh_token: refresh }),
    ...(source.scope !== undefined && { scope: source.scope }),
    ...(inBody && { client_id: source.client_id }),
    ...(inBody && secret !== undefined && { client_secret: secret }),
  });
  const { webConnections } = await import("../../sandbox/net/fetch/connections.ts");
  const { readBody } = await import("../../sandbox/net/fetch/body.ts");
  const isOwn = (host: string, port: number) => host === address.host.host && port === address.port;
  const agent = webConnections({ ...connections, isOpened: isOwn });
  try {
    const { host } = address.host;
    const response = await agent.request({
      origin: `https://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
      path: address.path,
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        ...(!inBody && { authorization: basic(source.client_id, secret) }),
      },
      body: body.toString(),
      signal: AbortSignal.timeout(TOKEN_REQUEST_MS),
    });
    const { bytes } = await readBody(response.body, "", TOKEN_ANSWER_BYTES_MAX);
    return readAnswer(name, response.statusCode, bytes.toString());
  } catch (error) {
    return `${name}: no answer (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    await agent.destroy();
  }
}

/** RFC 6749 §2.3.1: both are form-encoded first. */
function basic(id: string, secret: string): string {
  const form = (text: string) => new URLSearchParams({ t: text }).toString().slice(2);
  return `Basic ${Buffer.from(`${form(id)}:${form(secret)}`).toString("base64")}`;
}

function readAnswer(name: string, status: number, text: string): JsonObject | string {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return `${name}: the answer (${status}) is no JSON`;
  }
  if (!isJsonObject(read)) return `${name}: the answer (${status}) is no object`;
  const { error } = read;
  // a code of the standard's, and nothing that could hold a secret
  const code = typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? `, ${error}` : "";
  return status === 200 ? read : `${name}: the server refuses (${status}${code})`;
}

/** Writes a refresh token that takes the place of another; why it cannot be kept, where it cannot. */
async function keepNext(source: PlainSource, next: string): Promise<string | undefined> {
  const why = "the server gives a new refresh token each time, which";
  try {
    if ("keyring" in source) await writeKeyring(source.keyring, next);
    else if ("file" in source) replaceOwn(source.file, `${next}\n`);
    else return `${why} cannot be kept in ${sourceName(source)}; keep it in a file or the keyring`;
    return undefined;
  } catch (error) {
    return `${why} cannot be written to ${sourceName(source)} (${error instanceof Error ? error.message : String(error)})`;
  }
}

/** A file of the operator's own, also behind a link, with another content, whole or not at all. */
function replaceOwn(file: string, text: string): void {
  const at = realpathSync(file);
  const made = `${at}.${Buffer.from(systemRandom(12)).toString("hex")}`;
  const descriptor = openSync(made, "wx", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
    renameSync(made, at);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  const directory = openSync(dirname(at), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
