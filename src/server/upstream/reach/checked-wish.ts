/**
 * Checks what the operator wants of a server before anything of it is kept.
 *
 * INVARIANTS: no value of a secret is kept. A token goes over TLS, to a server that the operator bound it to. What is
 * not of the public internet is reached only where the operator names that very host and port.
 */
import { statSync } from "node:fs";
import { usageError } from "../../../base/errors.ts";
import type { SecretBinding } from "../../../model/reach/secrets.ts";
import { canonicalHost } from "../../../names/host-name.ts";
import { type WebAddress, webAddress } from "../../../names/web-address.ts";
import type { Redactor } from "../../../redact/redact.ts";
import { hostProblem } from "../../../sandbox/net/gate/address.ts";
import { BLOCKED_PORTS } from "../../../sandbox/net/gate/admission.ts";
import type { OperatorDirectory } from "../../operator/operator-directory.ts";
import { realPath } from "../../operator/real-path.ts";
import { type UpstreamRecord, upstreamFile } from "../records/pins.ts";

/** What the operator says of a server. */
export type UpstreamWish = Pick<UpstreamRecord, "command" | "environment" | "effect" | "trust"> &
  Partial<Pick<UpstreamRecord, "grants" | (typeof OF_PROCESSES)[number] | (typeof OF_ADDRESSES)[number]>>;

/** What only a server can have that is started here, or only one that is reached by its address. */
const OF_PROCESSES = ["directory", "read", "write", "secrets", "hosts"] as const;
const OF_ADDRESSES = ["url", "private_host", "bearer"] as const;

/** What a wish is checked by. */
export interface WishGround {
  readonly settings: OperatorDirectory["settings"];
  readonly redactor: Redactor;
}

/** The record of a wish, with nothing approved. @throws KernelError USAGE saying what to do */
export function checkedWish(wish: UpstreamWish, ground: WishGround): UpstreamRecord {
  requireNoSecrets(wish, ground.redactor);
  if ((wish.command.length === 0) === (wish.url === undefined))
    throw usageError("name either a command behind `--`, or an address by `--url`");
  const given = wish.url === undefined ? processOf(wish, ground) : addressOf(wish, wish.url, ground);
  const { command, environment, effect, trust, grants } = wish;
  const own = { command, environment, effect, trust, ...(grants && { grants }) };
  const record = { version: 1, ...own, ...given, approved: [] };
  const parsed = upstreamFile.safeParse(record);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: "" }] = parsed.error.issues;
  throw usageError(`\`${path.join(".")}\` cannot be kept (${message}); correct it`);
}

function processOf(wish: UpstreamWish, { settings }: WishGround) {
  requireAbsent(wish, OF_ADDRESSES, "goes with `--url` alone");
  const { directory, read, write, secrets, hosts } = wish;
  for (const [variable, name] of Object.entries(secrets ?? {})) {
    if (settings.secrets[name] === undefined) throw noSecret(name);
    if (variable in wish.environment)
      throw usageError(`\`${variable}\` is given by both --env and --secret; leave one`);
  }
  const directories = (paths: readonly string[] | undefined) => paths?.map(directoryAt);
  const [shown, written] = [directories(read), directories(write)];
  const names = [...(shown ?? []), ...(written ?? [])].map((path) => path.slice(path.lastIndexOf("/") + 1));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw usageError(`two directories are called \`${twice}\`, and the server would find them at the same place`);
  return {
    ...(directory !== undefined && { directory: directoryAt(directory) }),
    ...(shown && { read: shown }),
    ...(written && { write: written }),
    ...(secrets && { secrets }),
    ...(hosts && { hosts: hosts.map(hostOf) }),
  };
}

function directoryAt(path: string): string {
  const real = realPath(path);
  if (real === "/") throw usageError("the whole machine is shown to no server; name a directory");
  if (statSync(real, { throwIfNoEntry: false })?.isDirectory() === true) return real;
  throw usageError(`\`${path}\` is no directory; make it, or name another`);
}

const HOST = /^(\[[^\]]+\]|[^:[\]]+)(?::([1-9]\d{0,4}))?$/;

/** `host:port` in its one form. */
function hostOf(text: string): string {
  const [, name = "", digits = "443"] = HOST.exec(text) ?? [];
  const host = canonicalHost(name);
  const port = Number(digits);
  if (host === undefined || port > 65_535)
    throw usageError(`\`${text}\` is no host; write it as in \`api.example.com\` or \`api.example.com:8443\``);
  const problem = hostProblem(host);
  if (problem !== undefined)
    throw usageError(
      `\`${text}\` is not of the public internet (${problem.replaceAll("_", " ")}), which no server reaches`,
    );
  if (BLOCKED_PORTS.includes(port)) throw usageError(`port ${port} is closed for everybody; name another`);
  return `${host.host}:${port}`;
}

function addressOf(wish: UpstreamWish, url: string, { settings }: WishGround) {
  requireAbsent(wish, OF_PROCESSES, "goes with a command alone");
  if (Object.keys(wish.environment).length > 0) throw usageError("`--env` goes with a command alone");
  const address = webAddress(url);
  if ("problem" in address) throw usageError(`the address cannot be used: ${address.problem}`);
  const server = `${address.host.host}:${address.port}`;
  const { private_host, bearer } = wish;
  if (private_host !== undefined && private_host !== server)
    throw usageError(`\`--private-host\` must name the server of the address, which is \`${server}\``);
  const problem = private_host === undefined ? hostProblem(address.host) : undefined;
  if (problem !== undefined)
    throw usageError(
      `\`${address.host.host}\` is not of the public internet (${problem.replaceAll("_", " ")}); if you mean it, say \`--private-host ${server}\``,
    );
  if (address.scheme === "http" && private_host === undefined)
    throw usageError(
      `everybody on the way reads what \`http\` carries; use \`https\`, or say \`--private-host ${server}\``,
    );
  if (bearer !== undefined) requireBearer(bearer, address, settings);
  return { url: address.url, ...(private_host && { private_host }), ...(bearer !== undefined && { bearer }) };
}

/** The token is for this server, by what the operator bound it to. */
function requireBearer(name: string, { scheme, host, port, path }: WebAddress, settings: WishGround["settings"]): void {
  const secret = settings.secrets[name];
  if (secret === undefined) throw noSecret(name);
  if (scheme !== "https") throw usageError("a token is sent over `https` alone");
  const isFor = ({ place, ...to }: SecretBinding) =>
    place.kind === "header" &&
    place.name.toLowerCase() === "authorization" &&
    to.host === host.host &&
    to.port === port &&
    (to.path === "/" || path === to.path || path.startsWith(to.path.endsWith("/") ? to.path : `${to.path}/`));
  if (secret.bindings.some(isFor)) return;
  const server = port === 443 ? host.host : `${host.host}:${port}`;
  throw usageError(
    `the secret \`${name}\` is not for that server; run \`handrail secrets add ${name} --to ${server} --in 'header Authorization'\``,
  );
}

function requireAbsent(wish: UpstreamWish, names: readonly (keyof UpstreamWish)[], why: string): void {
  const given = names.find((name) => wish[name] !== undefined);
  if (given !== undefined) throw usageError(`\`--${FLAGS[given] ?? given}\` ${why}`);
}

const FLAGS: Readonly<Record<string, string>> = {
  secrets: "secret",
  hosts: "allow-host",
  private_host: "private-host",
};

/** What is kept is read by whoever reads the record, and what a command is given by everybody on this machine. */
function requireNoSecrets({ command, environment, url }: UpstreamWish, redactor: Redactor): void {
  const places = [
    ...Object.entries(environment).map(([name, value]) => [`--env ${name}`, `${name}=${value}`] as const),
    ...command.map((word) => ["the command", word] as const),
    ["--url", url ?? ""] as const,
  ];
  for (const [place, text] of places) {
    const found = redactor.find(text).find(({ kind }) => kind === "definite");
    if (found === undefined) continue;
    const title = redactor.titleOf(found.rule) ?? "a secret";
    throw usageError(
      `${place} holds ${title}; keep it by \`handrail secrets add\` and name it by \`${url === undefined ? "--secret NAME=SECRET" : "--bearer SECRET"}\``,
    );
  }
}

function noSecret(name: string) {
  return usageError(`there is no secret \`${name}\`; \`handrail secrets add ${name} --help\` says how to add it`);
}
