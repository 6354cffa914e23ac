/**
 * Defines the section `git` of `handrail.yaml`.
 *
 * It says what is asked of branches and messages, with which credentials remotes are reached, who vouches for them,
 * which of them may lie in the operator's own network, and how much one operation may receive and write. A credential
 * is named by where it is kept and never stands here.
 *
 * INVARIANTS: Each credential is bound to one host and port, and so is each server that is opened in the operator's own
 * network. A workspace can set neither credentials, authorities, opened servers nor limits.
 */
import * as z from "zod";
import { GIT_RECEIVED_MB, GIT_WRITTEN_MB, MAX_PATH_LEN } from "../../../base/limits.ts";
import type { SecretBinding } from "../../../model/reach/secrets.ts";
import { server as host, namesOfServers } from "../servers.ts";
import { gitRuleParts } from "./git-rules.ts";

/** Credentials for remotes that the operator can name. */
const GIT_CREDENTIALS_MAX = 64;
/** Servers outside of the public internet that the operator can name. */
const GIT_PRIVATE_HOSTS_MAX = 64;

const privateHost = host.refine(
  ({ host }) => !/^(?:.*\.)?(?:localhost|localdomain)$|^127\.|^::1$/.test(host),
  "must not be this machine's own name or loopback address; name the address that it has in its network",
);
const path = z
  .string()
  .max(MAX_PATH_LEN)
  .regex(
    /^\/?[A-Za-z0-9._~+-]+(?:\/[A-Za-z0-9._~+-]+)*\/?$/,
    "must be the beginning of paths on the host, as in `team` or `team/service.git`",
  )
  .refine((text) => text.split("/").every((part) => part !== "." && part !== ".."), "must not hold `.` or `..`");
const file = z.string().startsWith("/", "must be an absolute path").max(MAX_PATH_LEN);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "must be the name of a variable");

const credential = z.strictObject({
  host,
  /** Remotes at or below it alone; all of the host when absent. */
  path: path.optional(),
  username: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[^\p{Cc}:]+$/u, "must not hold `:` or control characters"),
  /** Where the password or token is kept. */
  password: z.union([
    z.strictObject({ env: variable }),
    z.strictObject({ file }),
    /** The name of a secret under `secrets`, which is bound to the host as `basic`. */
    z.strictObject({ secret: z.string() }),
  ]),
});

/** Why a secret cannot be the password of a credential. */
export function problemOfPassword(
  { host: { host: name, port }, password }: Pick<z.infer<typeof credential>, "host" | "password">,
  secrets: Readonly<Record<string, { readonly bindings: readonly SecretBinding[] }>>,
): string | undefined {
  if (!("secret" in password)) return undefined;
  const found = Object.hasOwn(secrets, password.secret) ? secrets[password.secret] : undefined;
  if (found === undefined)
    return `\`${password.secret}\` is not defined under \`secrets\`; \`handrail secrets add\` adds it`;
  const isBound = found.bindings.some((one) => one.host === name && one.port === port && one.place.kind === "basic");
  return isBound ? undefined : `\`${password.secret}\` is not bound to \`${name}:${port}\` as \`basic\``;
}

const limits = z.strictObject({
  /** Megabytes that one operation may receive from a remote. */
  received_mb: z.int().min(1).max(1_048_576).default(GIT_RECEIVED_MB),
  /** Megabytes that it may write, all files together. */
  written_mb: z.int().min(1).max(1_048_576).default(GIT_WRITTEN_MB),
});

/** The schema of `git`. */
export const gitSettings = z.strictObject({
  ...gitRuleParts,
  credentials: z.array(credential).max(GIT_CREDENTIALS_MAX).default([]),
  /** A file with certificates of authorities, for servers whose certificates are the operator's own. */
  certificate_authorities: file.optional(),
  /** Servers that git may reach at addresses which are not of the public internet. */
  private_hosts: z.array(privateHost).max(GIT_PRIVATE_HOSTS_MAX).default([]),
  limits: limits.prefault({}),
});

/** The servers of `private_hosts` as `host:port`. */
export function privateGitHosts({
  private_hosts: hosts,
}: Pick<z.infer<typeof gitSettings>, "private_hosts">): readonly string[] {
  return namesOfServers(hosts);
}

/** One credential. */
export type GitCredentialSettings = z.infer<typeof credential>;
