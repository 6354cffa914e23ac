/**
 * Limits the network of a git run to one remote and one of its two services.
 *
 * The credential is the one that the operator keeps for that remote. Git sends its requests plainly to the proxy. The
 * kernel makes sure of the server, and adds the credential where the sandbox cannot see it.
 *
 * INVARIANTS: A run that fetches cannot push, and one that only asks sends nothing, whatever runs in the sandbox. No
 * redirect is followed with a credential, because each request is one that was judged. What a client says about who it
 * is does not leave.
 */
import type { GitRemoteReach, GitRemotes } from "../../model/work/git-remote.ts";
import { canonicalHost } from "../../names/host-name.ts";
import type { SecureWay } from "../../sandbox/sandbox.ts";
import { type CommandEgress, commandEgress } from "./exec-egress.ts";
import type { HandleParts } from "./handle-parts.ts";

/**
 * The way to `remote`.
 * @throws Refusal for a host that analysis did not name; ToolFailure for a credential that cannot be read
 */
export function gitEgress(
  { kernel, running }: HandleParts,
  remote: GitRemoteReach,
  remotes: GitRemotes,
): CommandEgress {
  const { grant, outcome } = commandEgress(running, [`${remote.host}:${remote.port}`], (attempt) =>
    kernel.evidence.networkAttempt(running, attempt),
  );
  const isPrivate = running.caller.place.privateGitHosts?.has(`${remote.host}:${remote.port}`) === true;
  const { receivedBytesMax } = remotes.limits;
  return { grant: { ...grant, receivedBytesMax, secure: secureWay(remote, remotes, isPrivate) }, outcome };
}

/**
 * Exactly the requests of git's protocol for one service of one repository.
 * @param isPrivate whether the operator says that this very server may lie outside of the public internet
 */
export function secureWay(remote: GitRemoteReach, remotes: GitRemotes, isPrivate = false): SecureWay {
  const { path, service, asksOnly = false } = remote;
  const host = canonicalHost(remote.host)?.host;
  const base = path.endsWith("/") ? path : `${path}/`;
  const allowed = new Set([`GET ${base}info/refs?service=${service}`, ...(asksOnly ? [] : [`POST ${base}${service}`])]);
  // An empty value takes the client's own away.
  const added = { Authorization: remotes.authorization(remote) ?? "", Cookie: "" };
  const authorities = remotes.authorities();
  return {
    admit: (request) =>
      request.host === host && request.port === remote.port && allowed.has(`${request.method} ${request.path}`)
        ? added
        : undefined,
    ...(authorities !== undefined && { authorities }),
    ...(isPrivate && { isPrivate }),
    message: `this run of git may speak to \`${remote.address}\` alone, ${asksOnly ? "and only ask what it has" : `by \`${service}\``}`,
  };
}

/** A remote's address as git uses it inside, where TLS begins only at the proxy. */
export function plainAddress({ host, port, path }: GitRemoteReach): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}
