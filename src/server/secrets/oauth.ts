/**
 * Gets tokens from OAuth servers (RFC 6749): by a refresh token, or for the client itself.
 *
 * A token is used until shortly before it ends, and got anew then. INVARIANTS: one request at a time for one secret. A
 * refresh token that takes the place of another is written where that one is kept before the new token is used; where
 * it cannot be written, the secret is not used. Nothing is sent but to the server that the operator names.
 */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { KIB } from "../../base/bytes.ts";
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

/** A token, or why there is none. */
export interface Tokens {
  readonly read: Read;
  /** What else must be hidden wherever it turns up. */
  readonly hides: readonly string[];
  /** Until when that counts, on the clock of `performance`. */
  readonly untilMs: number;
}

/** With what tokens are asked for. */
export interface TokenMeans {
  readonly environment: Environment;
  readonly connections: Pick<ConnectionRules, "network" | "authorities">;
}

const got = new WeakMap<OAuthSource, Promise<Tokens>>();

/** A token of `source` that counts now. */
export async function tokensOf(source: OAuthSource, means: TokenMeans): Promise<Tokens> {
  const before = got.get(source);
  if (before !== undefined && (await before).untilMs > performance.now()) return await before;
  const since = got.get(source);
  if (since !== before && since !== undefined) return await since; // somebody else has just asked
  const asked = ask(source, means);
  got.set(source, asked);
  return await asked;
}

async function ask(source: OAuthSource, means: TokenMeans): Promise<Tokens> {
  const secret = await kept(source.client_secret, means);
  let refresh = await kept(source.refresh_token, means);
  const hides = new Set<string>();
  const ended = (read: Read, forMs: number): Tokens => ({
    read,
    hides: [...hides],
    untilMs: performance.now() + forMs,
  });
  for (;;) {
    for (const one of [secret, refresh]) if (one?.kind === "read") hides.add(one.text);
    const lacking = [secret, refresh].find((one) => one?.kind === "problem");
    if (lacking !== undefined) return ended(lacking, TOKEN_AGAIN_MS);
    const answer = await requested(source, { secret: textIn(secret), refresh: textIn(refresh) }, means);
    if (typeof answer !== "string") return await taken(answer, { source, refresh: textIn(refresh), hides, ended });
    // another kernel may have used it, and written the next one
    const again = answer.includes("invalid_grant") ? await kept(source.refresh_token, means) : undefined;
    if (again?.kind !== "read" || again.text === textIn(refresh)) return ended(problem(answer), TOKEN_AGAIN_MS);
    refresh = again;
  }
}

interface Taking {
  readonly source: OAuthSource;
  readonly refresh: string | undefined;
  readonly hides: Set<string>;
  readonly ended: (read: Read, forMs: number) => Tokens;
}

async function taken(answer: JsonObject, { source, refresh, hides, ended }: Taking): Promise<Tokens> {
  const { access_token: token, expires_in: seconds, refresh_token: next } = answer;
  if (typeof token !== "string" || token === "")
    return ended(problem(`${sourceName({ oauth: source })}: the answer holds no \`access_token\``), TOKEN_AGAIN_MS);
  hides.add(token);
  if (typeof next === "string" && next !== "" && next !== refresh) {
    hides.add(next);
    const why = source.refresh_token === undefined ? undefined : await keepNext(source.refresh_token, next);
    if (why !== undefined) return ended(problem(why), TOKEN_AGAIN_MS);
  }
  const lifeMs = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : TOKEN_KEPT_MS;
  return ended({ kind: "read", text: token }, lifeMs - Math.min(TOKEN_MARGIN_MS, lifeMs / 10));
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

/** A file of the operator's own, with another content, whole or not at all. */
function replaceOwn(file: string, text: string): void {
  const made = `${file}.${process.pid}.new`;
  const descriptor = openSync(made, "wx", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(made, file);
}
