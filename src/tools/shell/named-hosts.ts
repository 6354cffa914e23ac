/**
 * Extracts the hosts that a command names in addresses.
 *
 * The command may reach them once the call asks for the network and policy agrees.
 */
import type { CommandResource } from "../../model/place/command.ts";
import { hostsOfLookUp } from "../../model/place/look-ups.ts";

/** A host and a port. */
export interface NamedHost {
  readonly host: string;
  readonly port: number;
}

const ADDRESS = /\b(?:https?|git):\/\/[^\s'"`<>|;&()\\]+/gi;
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443, "git:": 9418 };

/**
 * The hosts of all addresses in the arguments, and those that a look-up such as `gh pr view` asks by itself, each once.
 * Arguments that are only known at run time name none.
 */
export function namedHosts(commands: readonly CommandResource[]): readonly NamedHost[] {
  const hosts = new Map<string, NamedHost>();
  for (const host of commands.flatMap(hostsOfLookUp)) hosts.set(`${host}:443`, { host, port: 443 });
  for (const argument of commands.flatMap((command) => command.arguments)) {
    for (const [address] of argument.matchAll(ADDRESS)) {
      if (!URL.canParse(address)) continue;
      const { protocol, hostname, port } = new URL(address);
      const named = { host: hostname.toLowerCase(), port: port === "" ? (PORTS[protocol] ?? 443) : Number(port) };
      if (named.host !== "" && !named.host.includes("$")) hosts.set(`${named.host}:${named.port}`, named);
    }
  }
  return [...hosts.values()];
}
