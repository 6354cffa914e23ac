/**
 * Credentials and authorities for git's remotes, as the operator's configuration names them.
 *
 * They are read once, and again where a file has changed; whoever hides them takes the same reading as whoever sends
 * them, so that what is sent is what is hidden. INVARIANT: a secret that cannot be read, or that others can read, is
 * not used, and the call that needs it says why; nothing is sent in its place.
 */

import { X509Certificate } from "node:crypto";
import { KIB, MIB } from "../../base/bytes.ts";
import type { GitCredentialSettings } from "../../config/sections/tools/git.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import { type GitRemotes, liesBelow } from "../../model/work/git-remote.ts";
import type { KnownSecret } from "../../redact/kinds/known-secret.ts";
import type { SecretBroker } from "../../sandbox/net/broker/broker.ts";
import type { Environment, OperatorDirectory } from "../operator/operator-directory.ts";
import { markOf, problem, type Read, readOwn } from "./own-file.ts";

/** Bytes of a file with a password. */
const GIT_PASSWORD_BYTES_MAX = 8 * KIB;
/** Characters of a password at least: a shorter one could not be hidden in what git says. */
const GIT_PASSWORD_CHARACTERS_MIN = 6;
/** Passwords that are hidden at once: those of now, and as many of before as fit. */
const GIT_PASSWORDS_HIDDEN_MAX = 256;
/** Bytes of a file with certificates. */
const GIT_AUTHORITIES_BYTES_MAX = 4 * MIB;

/** What a configuration says of remotes. */
export interface OpenedRemotes {
  readonly remotes: GitRemotes;
  /** What is hidden wherever it turns up: also passwords that were in the files before. */
  readonly secrets: readonly KnownSecret[];
  /** What cannot be used, and why, for the operator. */
  readonly problems: readonly string[];
  /** Whether the files are as they were. */
  readonly isCurrent: () => boolean;
}

/** Values of secrets, by one reading of them; none when absent. */
type ReadSecrets = Pick<SecretBroker, "secrets">;

const opened = new WeakMap<
  OperatorDirectory,
  { readonly remotes: OpenedRemotes; readonly by: ReadSecrets | undefined }
>();

/** What `operator` says of remotes; the same again for the same configuration, files and secrets. */
export function gitRemotesOf(operator: OperatorDirectory, environment: Environment, by?: ReadSecrets): OpenedRemotes {
  const known = opened.get(operator);
  if (known?.by === by && known?.remotes.isCurrent() === true) return known.remotes;
  const remotes = open(operator, { environment, by }, known?.remotes.secrets ?? []);
  opened.set(operator, { remotes, by });
  return remotes;
}

function open(
  { settings }: OperatorDirectory,
  { environment, by }: { readonly environment: Environment; readonly by: ReadSecrets | undefined },
  before: readonly KnownSecret[],
): OpenedRemotes {
  const { credentials, certificate_authorities: file, limits } = settings.git;
  const files = [
    ...credentials.flatMap(({ password }) => ("file" in password ? [password.file] : [])),
    ...(file === undefined ? [] : [file]),
  ];
  // before they are read: what changes meanwhile is read again
  const marks = files.map((one) => [one, markOf(one)] as const);
  const read = credentials.map((credential) => ({ ...credential, secret: passwordOf(credential, environment, by) }));
  const authorities = file === undefined ? undefined : authoritiesOf(file);
  const results = [...read.map(({ secret }) => secret), ...(authorities === undefined ? [] : [authorities])];
  return {
    remotes: {
      limits: { receivedBytesMax: limits.received_mb * MIB, writtenBytesMax: limits.written_mb * MIB },
      authorization(place) {
        const fitting = read.filter(
          ({ host: { host, port }, path }) =>
            host === place.host && port === place.port && (path === undefined || liesBelow(place.path, path)),
        );
        const [nearest] = fitting.sort((left, right) => depthOf(right.path) - depthOf(left.path));
        if (nearest === undefined) return undefined;
        return `Basic ${Buffer.from(`${nearest.username}:${requireRead(nearest.secret)}`).toString("base64")}`;
      },
      authorities: () => (authorities === undefined ? undefined : requireRead(authorities)),
    },
    secrets: hidden(
      read.flatMap(({ secret }) => (secret.kind === "read" ? [secret.text] : [])),
      before,
    ),
    problems: results.flatMap((result) => (result.kind === "problem" ? [result.problem] : [])),
    isCurrent: () => marks.every(([one, mark]) => markOf(one) === mark),
  };
}

function hidden(now: readonly string[], before: readonly KnownSecret[]): readonly KnownSecret[] {
  const values = new Set([...now, ...before.map(({ value }) => value)]);
  return [...values].slice(0, GIT_PASSWORDS_HIDDEN_MAX).map((value) => ({ rule: "git-credential", value }));
}

function depthOf(path: string | undefined): number {
  return path === undefined ? 0 : path.split("/").filter((part) => part !== "").length;
}

function requireRead(read: Read): string {
  if (read.kind === "read") return read.text;
  throw new FailureWithoutEffect(
    "GIT_FAILED",
    `the credential for this remote cannot be used: ${read.problem}`,
    "ask the operator",
  );
}

function passwordOf({ password }: GitCredentialSettings, environment: Environment, by: ReadSecrets | undefined): Read {
  if ("secret" in password) {
    const text = by?.secrets.find(({ name }) => name === password.secret)?.value;
    if (text !== undefined) return { kind: "read", text };
    return problem(`the secret \`${password.secret}\` cannot be read; \`handrail secrets check\` says why`);
  }
  const [found, name]: readonly [Read, string] =
    "env" in password
      ? [{ kind: "read", text: environment[password.env] ?? "" }, `the variable \`${password.env}\``]
      : [readOwn(password.file, GIT_PASSWORD_BYTES_MAX, 0o077), `\`${password.file}\``];
  if (found.kind === "problem") return found;
  const text = found.text.trim();
  if (text.length >= GIT_PASSWORD_CHARACTERS_MIN && !/\p{Cc}/u.test(text)) return { kind: "read", text };
  return problem(
    `${name}, named under \`git.credentials\`, holds no password of ${GIT_PASSWORD_CHARACTERS_MIN} or more characters in one line; ` +
      ("env" in password ? "set it where the kernel is started" : "write the password there"),
  );
}

function authoritiesOf(file: string): Read {
  const found = readOwn(file, GIT_AUTHORITIES_BYTES_MAX, 0o022);
  if (found.kind === "problem") return found;
  const certificates = certificatesIn(found.text);
  if (certificates.length > 0 && certificates.every(isCertificate)) return found;
  const what = certificates.length === 0 ? "no certificates" : "a certificate that cannot be read";
  return problem(
    `\`${file}\`, named as \`git.certificate_authorities\`, holds ${what}; put the authorities' certificates there, in PEM`,
  );
}

/** Certificates of a text in PEM, each as its own text. */
export function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false; // said of the file as a whole
  }
}
