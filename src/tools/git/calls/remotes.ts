/**
 * Remotes: which addresses are taken, and which host a call reaches.
 *
 * INVARIANT: a remote is reached over https alone, at the host that analysis named; an address carries neither a user
 * nor a password.
 */
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { GitRepository } from "../../../model/work/git.ts";
import type { GitRemoteReach, GitService } from "../../../model/work/git-remote.ts";
import { canonicalHost } from "../../../names/host-name.ts";
import { shownName } from "./names.ts";

const ADDRESS =
  /^https:\/\/(?<host>[^/?#@\\:[\]\s]+|\[[0-9A-Fa-f:.]+\])(?::(?<port>[1-9][0-9]{0,4}))?\/(?<path>[A-Za-z0-9._~/%+-]+)$/;
/** `git@host:owner/name`, `ssh://git@host/owner/name`. */
const SSH = /^(?:ssh:\/\/)?(?:[\w.-]+@)?([A-Za-z0-9.-]+)(?::\d+\/|[:/])(.+)$/;

/** Why `address` is no address of a remote. */
export function addressProblem(address: string): string | undefined {
  const found = ADDRESS.exec(address);
  const port = Number(found?.groups?.["port"] ?? 443);
  if (
    found !== null &&
    port <= 65_535 &&
    canonicalHost(found.groups?.["host"] ?? "") !== undefined &&
    !address.includes("..")
  )
    return undefined;
  if (/^[A-Za-z][\w+.-]*::/.test(address))
    return `\`${shownName(address)}\` would run a program of its own; use an https address`;
  if (/^https:\/\/[^/]*@/.test(address)) return "the address names a user or a password; leave it out";
  const ssh = /^(?:https?|file|git|ftps?):/.test(address) ? null : SSH.exec(address);
  if (ssh !== null && !address.startsWith("/") && !address.startsWith("."))
    return `ssh is not used here; the same over https is \`https://${ssh[1]}/${ssh[2]}\``;
  return `\`${shownName(address)}\` is no https address, as in https://example.com/owner/name.git`;
}

/** Host and port of an address that has no problem. */
export function hostOf(address: string): { readonly host: string; readonly port: number } | undefined {
  if (addressProblem(address) !== undefined) return undefined;
  const { host = "", port = "443" } = ADDRESS.exec(address)?.groups ?? {};
  return { host: canonicalHost(host)?.host ?? host, port: Number(port) };
}

/** The address by which a remote is reached, if it can be. */
export function addressOf(repository: GitRepository, remote: string, pushes: boolean): string | undefined {
  if (repository.kind !== "found" || !Object.hasOwn(repository.remotes, remote)) return undefined;
  const { url, pushUrl } = repository.remotes[remote] ?? {};
  return pushes ? (pushUrl ?? url) : url;
}

/** How an address is reached for `service`; `undefined` for one that has a problem. */
export function reachOf(address: string, service: GitService): GitRemoteReach | undefined {
  const host = hostOf(address);
  return host && { address, ...host, path: `/${ADDRESS.exec(address)?.groups?.["path"] ?? ""}`, service };
}

/** @throws ToolFailure for a remote that is not there, or is reached otherwise than over https */
export function requireReach(repository: GitRepository, remote: string, service: GitService): GitRemoteReach {
  const pushes = service === "git-receive-pack";
  const address = addressOf(repository, remote, pushes);
  if (address === undefined)
    throw new FailureWithoutEffect(
      "FILE_NOT_FOUND",
      `there is no remote \`${shownName(remote)}\` with an address that can be used`,
      "list them with REMOTE -v",
    );
  const reach = reachOf(address, service);
  if (reach === undefined)
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `\`${shownName(remote)}\` cannot be reached: ${addressProblem(address)}`,
      "ask a person to change the address with `git remote set-url`",
    );
  return reach;
}
