/**
 * The values of the operator's secrets, each read where it is kept, and the broker that makes requests with them.
 *
 * One reading serves whoever hides values and whoever sends them, so that what is sent is what is hidden. Values are
 * read again where a file has changed, and now and then where a program or the keyring keeps them. INVARIANT: a value
 * that cannot be read, or that others can read, is not used; its placeholder is refused, and the operator is told why.
 */
import type { OAuthSource, OneSecretSettings, SecretSource } from "../../config/sections/secrets.ts";
import type { BrokeredSecret } from "../../model/reach/secrets.ts";
import type { KnownSecret } from "../../redact/kinds/known-secret.ts";
import { SecretBroker } from "../../sandbox/net/broker/broker.ts";
import type { EgressNetwork } from "../../sandbox/net/gate/admission.ts";
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import type { Tokens } from "./oauth.ts";
import { markOf, problem, type Read } from "./own-file.ts";
import { readSource, sourceName } from "./secret-sources.ts";
import { webAuthorities } from "./web-authorities.ts";

/** Milliseconds for which what a program or the keyring said counts. */
const SECRET_KEPT_MS = 300_000;
/** Characters of a value at least: a shorter one could not be hidden. */
const SECRET_CHARACTERS_MIN = 8;
/** Values that are hidden at once: those of now, and as many of before as fit. */
const SECRETS_HIDDEN_MAX = 512;

/** What a configuration says of secrets. */
export interface OpenedSecrets {
  readonly broker: SecretBroker;
  /** What is hidden wherever it turns up: also values of before. */
  readonly known: readonly KnownSecret[];
  /** What cannot be used, and why, for the operator; by the secret's name. */
  readonly problems: ReadonlyMap<string, string>;
  /** Whether the values are still those that are kept. */
  readonly isCurrent: () => boolean;
}

const opened = new WeakMap<object, Promise<OpenedSecrets>>();

/** What secrets are read with besides the environment. */
export interface SecretMeans {
  /** What was hidden before, and is still said by what was started then. */
  readonly before?: readonly KnownSecret[];
  /** By which servers that give tokens are reached; the machine's own when absent. */
  readonly network?: EgressNetwork;
}

/** What `operator` says of secrets; the same again for the same configuration and values. */
export async function secretsOf(
  operator: Pick<OperatorDirectory, "settings">,
  environment: Environment,
  means: SecretMeans = {},
): Promise<OpenedSecrets> {
  const known = await opened.get(operator)?.catch(() => undefined);
  if (known?.isCurrent() === true) return known;
  const now = open(operator, environment, means);
  opened.set(operator, now);
  return await now;
}

async function open(
  { settings }: Pick<OperatorDirectory, "settings">,
  environment: Environment,
  { before = [], network }: SecretMeans,
): Promise<OpenedSecrets> {
  const entries = Object.entries(settings.secrets);
  const sources = entries.map(([, { from }]) => from);
  const tokens: TokenReader = async (oauth) => {
    const { tokensOf } = await import("./oauth.ts");
    const { MACHINE_NETWORK } = await import("../../sandbox/net/egress.ts");
    const authorities = () => webAuthorities(settings);
    return tokensOf(oauth, { environment, connections: { network: network ?? MACHINE_NETWORK, authorities } });
  };
  const files = sources.flatMap((source) => ("file" in source ? [source.file] : []));
  // before they are read: what changes meanwhile is read again
  const marks = files.map((file) => [file, markOf(file)] as const);
  const isBrief = sources.some((source) => "command" in source || "keyring" in source);
  const readAtMs = performance.now();
  const read = await Promise.all(
    entries.map(async ([name, secret]) => ({
      name,
      secret,
      ...(await readValue(name, secret, { environment, tokens })),
    })),
  );
  const values = read.flatMap(({ found }) => (found.kind === "read" ? [found.text] : []));
  const beside = read.flatMap(({ hides }) => hides);
  const hidden = [...new Set([...values, ...beside, ...before.map(({ value }) => value)])].slice(0, SECRETS_HIDDEN_MAX);
  const untilMs = Math.min(...read.map((one) => one.untilMs));
  return {
    broker: new SecretBroker(
      read.map(
        ({ name, secret: { placeholder, bindings }, found }): BrokeredSecret => ({
          name,
          placeholder,
          bindings,
          ...(found.kind === "read" && { value: found.text }),
        }),
      ),
    ),
    known: hidden.map((value) => ({ rule: "brokered-secret", value })),
    problems: new Map(read.flatMap(({ name, found }) => (found.kind === "problem" ? [[name, found.problem]] : []))),
    isCurrent: () =>
      marks.every(([file, mark]) => markOf(file) === mark) &&
      !(isBrief && performance.now() - readAtMs > SECRET_KEPT_MS) &&
      performance.now() < untilMs,
  };
}

type TokenReader = (oauth: OAuthSource) => Promise<Tokens>;

async function readValue(
  name: string,
  { from }: OneSecretSettings,
  { environment, tokens }: { readonly environment: Environment; readonly tokens: TokenReader },
) {
  const got = "oauth" in from ? await tokens(from.oauth) : undefined;
  const { hides = [], untilMs = Number.POSITIVE_INFINITY } = got ?? {};
  const found = "oauth" in from ? (got?.read ?? problem("no token")) : await readSource(from, environment);
  return { hides, untilMs, found: wellFormed(found, name, from) };
}

function wellFormed(found: Read, name: string, from: SecretSource): Read {
  if (found.kind === "problem") return found;
  const text = found.text.trim();
  if (text.length >= SECRET_CHARACTERS_MIN && !/\p{Cc}/u.test(text)) return { kind: "read", text };
  return problem(
    `${sourceName(from)} holds no value of ${SECRET_CHARACTERS_MIN} or more characters in one line for \`${name}\``,
  );
}
