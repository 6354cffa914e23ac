/**
 * The values of the operator's secrets, each read where it is kept, and the broker that makes requests with them.
 *
 * One reading serves whoever hides values and whoever sends them, so that what is sent is what is hidden. Values are
 * read again where a file has changed, and now and then where a program or the keyring keeps them. INVARIANT: a value
 * that cannot be read, or that others can read, is not used; its placeholder is refused, and the operator is told why.
 */
import { KIB, textOf } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";
import type { OneSecretSettings, SecretSource } from "../../config/sections/secrets.ts";
import type { BrokeredSecret } from "../../model/reach/secrets.ts";
import type { KnownSecret } from "../../redact/kinds/known-secret.ts";
import { runHostCommand } from "../../sandbox/host-commands/run-host-command.ts";
import { trustedProgram } from "../../sandbox/host-commands/trusted-program.ts";
import { SecretBroker } from "../../sandbox/net/broker/broker.ts";
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import { readKeyring } from "./keyring.ts";
import { markOf, problem, type Read, readOwn } from "./own-file.ts";

/** Bytes of a value. */
const SECRET_BYTES_MAX = 8 * KIB;
/** Characters of a value at least: a shorter one could not be hidden. */
const SECRET_CHARACTERS_MIN = 8;
/** Milliseconds for which what a program or the keyring said counts. */
const SECRET_KEPT_MS = 300_000;
/** Milliseconds that a program may take to say it. */
const SECRET_COMMAND_MS = 30_000;
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

/**
 * What `operator` says of secrets; the same again for the same configuration and values.
 * @param before what was hidden before, and is still said by what was started then
 */
export async function secretsOf(
  operator: Pick<OperatorDirectory, "settings">,
  environment: Environment,
  before: readonly KnownSecret[] = [],
): Promise<OpenedSecrets> {
  const known = await opened.get(operator)?.catch(() => undefined);
  if (known?.isCurrent() === true) return known;
  const now = open(operator, environment, before);
  opened.set(operator, now);
  return await now;
}

async function open(
  { settings }: Pick<OperatorDirectory, "settings">,
  environment: Environment,
  before: readonly KnownSecret[],
): Promise<OpenedSecrets> {
  const entries = Object.entries(settings.secrets);
  const sources = entries.map(([, { from }]) => from);
  const files = sources.flatMap((source) => ("file" in source ? [source.file] : []));
  // before they are read: what changes meanwhile is read again
  const marks = files.map((file) => [file, markOf(file)] as const);
  const isBrief = sources.some((source) => "command" in source || "keyring" in source);
  const readAtMs = performance.now();
  const read = await Promise.all(
    entries.map(async ([name, secret]) => ({ name, secret, found: await readValue(name, secret, environment) })),
  );
  const values = read.flatMap(({ found }) => (found.kind === "read" ? [found.text] : []));
  const hidden = [...new Set([...values, ...before.map(({ value }) => value)])].slice(0, SECRETS_HIDDEN_MAX);
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
      !(isBrief && performance.now() - readAtMs > SECRET_KEPT_MS),
  };
}

async function readValue(name: string, { from }: OneSecretSettings, environment: Environment): Promise<Read> {
  const found = await readSource(from, environment);
  if (found.kind === "problem") return found;
  const text = found.text.trim();
  if (text.length >= SECRET_CHARACTERS_MIN && !/\p{Cc}/u.test(text)) return { kind: "read", text };
  return problem(
    `${sourceName(from)} holds no value of ${SECRET_CHARACTERS_MIN} or more characters in one line for \`${name}\``,
  );
}

/** Where a value is kept, in words. */
export function sourceName(from: SecretSource): string {
  if ("env" in from) return `the variable \`${from.env}\``;
  if ("file" in from) return `\`${from.file}\``;
  return "command" in from ? `\`${from.command[0] ?? ""}\`` : `the keyring's entry \`${from.keyring}\``;
}

/** The text that is kept there. */
export async function readSource(from: SecretSource, environment: Environment): Promise<Read> {
  if ("env" in from) return { kind: "read", text: environment[from.env] ?? "" };
  if ("file" in from) return readOwn(from.file, SECRET_BYTES_MAX, 0o077);
  if ("command" in from) return await said(from.command);
  try {
    return { kind: "read", text: (await readKeyring(from.keyring)) ?? "" };
  } catch (error) {
    return problem(`the keyring cannot be read (${error instanceof Error ? error.message : errorCode(error)})`);
  }
}

/** What a program of the operator's prints. */
async function said([program = "", ...more]: readonly string[]): Promise<Read> {
  const trusted = trustedProgram(program, process.geteuid?.() ?? 0);
  if (!trusted.ok) return problem(`\`${program}\` ${trusted.problem}`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const take = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes <= SECRET_BYTES_MAX) pieces.push(piece);
  };
  try {
    const { exitCode } = await runHostCommand(
      { argv: [program, ...more], environment: {}, timeoutMs: SECRET_COMMAND_MS },
      { stdout: take, stderr: () => undefined },
      new AbortController().signal,
    );
    if (exitCode !== 0) return problem(`\`${program}\` ended with ${exitCode ?? "a signal"}; run it to see why`);
    const text = bytes > SECRET_BYTES_MAX ? undefined : textOf(Buffer.concat(pieces));
    return text === undefined
      ? problem(`\`${program}\` prints no text of at most ${SECRET_BYTES_MAX} bytes`)
      : { kind: "read", text };
  } catch (error) {
    return problem(`\`${program}\` cannot be run (${error instanceof Error ? error.message : String(error)})`);
  }
}
