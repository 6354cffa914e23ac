/**
 * Checks the hosts that a call names against its tool's network rules.
 *
 * The rules are about mode, ports, private addresses, metadata services, and hosts that are not on the list, as far as
 * the tool's declaration and the names of the hosts decide. Names are not resolved: whoever connects checks the
 * addresses.
 *
 * Pure. INVARIANT: private addresses and metadata services are refused unless the declaration opens them in so many
 * words, or the operator opens a single private server for git. No policy, waiver or approval lifts a rule from here.
 */

import type { Denial } from "../../model/outcome/decision.ts";
import type { Access } from "../../model/place/access.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { placeOfHost } from "../../names/address-class.ts";
import { isKnownHost } from "../../names/host.ts";

/** Rule ids of network rules begin so. */
export const NETWORK_PREFIX = "NETWORK:";

/**
 * Why a call may not reach a host that it names; a tool without network rules leaves that to policy.
 * @param opened servers, as `host:port`, that the operator opened outside of the public internet
 */
export function checkNetwork(
  tool: Pick<Tool, "name" | "capability">,
  accesses: readonly Access[],
  opened: OpenedServers = {},
): Denial | undefined {
  if (tool.capability.network === undefined) return undefined;
  const { privateGitHosts, openedWebHosts } = opened;
  const isGit = accesses.some(({ resource }) => resource.kind === "git_ref");
  for (const { resource } of accesses) {
    if (resource.kind !== "host") continue;
    const { host, port } = resource;
    const denial = checkHost(tool, {
      host,
      port,
      isGit,
      isOpened: (isGit ? privateGitHosts : openedWebHosts)?.has(`${host}:${port}`) === true,
    });
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** Servers that the operator opened: to git, and to fetching. */
export interface OpenedServers {
  readonly privateGitHosts?: ReadonlySet<string>;
  readonly openedWebHosts?: ReadonlySet<string>;
}

const PUBLIC = "use a public host";
const WEB_PRIVATE = `${PUBLIC}, or ask the operator to name this one in \`web.private_hosts\``;
const GIT_PRIVATE = `${PUBLIC}, or ask the operator to name this one in \`git.private_hosts\``;

/** A host that a call names. */
interface NamedHost {
  readonly host: string;
  readonly port: number;
  /** Whether an operation of git names it. */
  readonly isGit: boolean;
  /** Whether the operator opened it although it is not public. */
  readonly isOpened: boolean;
}

function checkHost(tool: Pick<Tool, "name" | "capability">, named: NamedHost): Denial | undefined {
  const { host, port, isGit, isOpened } = named;
  const { network, approval } = tool.capability;
  if (network === undefined) return undefined;
  if (network.mode === "none") return blocked(tool.name, "mode", "uses no network; do this without the network");
  if (network.blockedPorts?.includes(port) === true)
    return blocked(tool.name, "port", `does not connect to port ${port}; use another service`);
  const place = placeOfHost(host);
  if (place === "metadata" && network.blockMetadataEndpoints !== false)
    return blocked(
      tool.name,
      "metadata",
      "does not reach metadata services; ask the operator for what you need from there",
    );
  if (place !== "public" && network.blockPrivateIPs !== false && !isOpened)
    return blocked(
      tool.name,
      "private",
      `does not reach this machine or private networks; ${isGit ? GIT_PRIVATE : WEB_PRIVATE}`,
    );
  const isListed = network.mode === "any" || isKnownHost(host, network.allowedHosts ?? []);
  // Where the tool asks about hosts that it does not know, a person decides.
  if (isListed || approval.conditions?.unknownHostRequiresApproval === true) return undefined;
  const denial = blocked(tool.name, "host", "does not reach this host; use a host that the tool knows");
  return { ...denial, fix: `the host in \`capabilities.${tool.name}.allowed_hosts\` of the operator's handrail.yaml` };
}

/** `what` it does not do, and what to do instead. */
function blocked(tool: string, rule: string, what: string): Denial {
  return {
    layer: "scope",
    reason: "permission_denied",
    ruleId: `${NETWORK_PREFIX}${tool}:${rule}`,
    message: `network blocked: \`${tool}\` ${what}`,
    fix: `other network rules for \`${tool}\` under \`capabilities\` of the operator's handrail.yaml`,
  };
}
