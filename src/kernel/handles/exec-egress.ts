/**
 * Limits a command of a call to the hosts that its analysis named.
 *
 * Lease, policy and people therefore saw every host that the command may reach.
 *
 * INVARIANTS: A host that a tool asks for without its analysis having named it refuses the command. Each attempt is in
 * the ledger before the call is answered.
 */

import { Refusal } from "../../model/outcome/failure.ts";
import type { ExecNetwork, ReachedHost } from "../../model/work/exec.ts";
import { canonicalHost } from "../../names/host-name.ts";
import type { EgressAttempt, EgressGrant, EgressTotals, EgressVerdict } from "../../sandbox/sandbox.ts";
import type { Analysed } from "../call/stages.ts";
import { unanalysedHost } from "../judge/scope.ts";

/** Attempts without success that a tool learns of one by one. */
const COMMAND_HOSTS_REPORTED_MAX = 20;
/** Hosts that a refusal lists. */
const COMMAND_HOSTS_SHOWN_MAX = 8;

/** The way out of one command, while it runs. */
export interface CommandEgress {
  readonly grant: EgressGrant;
  /** What the tool learns of it, once everything is recorded. */
  readonly outcome: (totals: EgressTotals) => Promise<ExecNetwork>;
}

/** The way out of a command of which each host is told apart. */
interface TalliedEgress extends CommandEgress {
  /** The hosts of all attempts until now, in the order of the first ones; of very many those. */
  readonly reached: () => readonly ReachedHost[];
}

/** Hosts of one command that are told apart. */
const COMMAND_HOSTS_MAX = 256;

/** Adds an attempt to what is known of its host. */
function tally(hosts: Map<string, ReachedHost>, attempt: EgressAttempt): void {
  const { host, port, outcome, bytesOut, bytesIn } = attempt;
  const key = `${host}:${port}`;
  const before = hosts.get(key) ?? { host, port, allowed: 0, refused: 0, failed: 0, bytesOut: 0, bytesIn: 0 };
  if (hosts.size >= COMMAND_HOSTS_MAX && !hosts.has(key)) return;
  const secrets = [...new Set([...(before.secrets ?? []), ...(attempt.secrets ?? [])])].sort();
  hosts.set(key, {
    ...before,
    ...(secrets.length > 0 && { secrets }),
    [outcome]: before[outcome] + 1,
    bytesOut: before.bytesOut + bytesOut,
    bytesIn: before.bytesIn + bytesIn,
  });
}

/**
 * The way out to `hosts`.
 * @param hosts as `host:port`
 * @param record writes an attempt into the ledger
 * @throws Refusal for a host that analysis did not name
 */
export function commandEgress(
  { accesses, tool }: Pick<Analysed, "accesses" | "tool">,
  hosts: readonly string[],
  record: (attempt: EgressAttempt) => Promise<unknown>,
): TalliedEgress {
  const named = new Set(
    accesses.flatMap(({ resource }) => (resource.kind === "host" ? [keyOf(resource.host, resource.port)] : [])),
  );
  const granted = new Set(hosts.map((host) => keyOf(...parted(host))));
  for (const host of granted) if (!named.has(host)) throw new Refusal(unanalysedHost(tool.name, host));
  const { blockedPorts } = tool.capability.network ?? {};
  const recorded: Promise<unknown>[] = [];
  const refused: EgressAttempt[] = [];
  const tried = new Map<string, ReachedHost>();
  return {
    grant: {
      decide: (host, port) => decided(granted, host, port),
      ...(blockedPorts && { blockedPorts }),
      record: (attempt) => {
        tally(tried, attempt);
        const writing = record(attempt);
        writing.catch(() => undefined); // whoever asks for the outcome is told
        recorded.push(writing);
        const isCut = attempt.outcome !== "allowed" || attempt.reason === "too_many_bytes";
        if (isCut && refused.length < COMMAND_HOSTS_REPORTED_MAX) refused.push(attempt);
      },
    },
    reached: () => [...tried.values()],
    async outcome(totals) {
      await Promise.all(recorded);
      const { allowed, refused: refusedCount, failed, bytesOut, bytesIn } = totals;
      return { allowed, refused: refusedCount, failed, bytesOut, bytesIn, problems: refused.map(problemOf) };
    },
  };
}

function decided(granted: ReadonlySet<string>, host: string, port: number): EgressVerdict {
  const key = keyOf(host, port);
  if (granted.has(key)) return { kind: "allow" };
  const shown = [...granted].slice(0, COMMAND_HOSTS_SHOWN_MAX).map((each) => `\`${each}\``);
  const more = granted.size > shown.length ? " and others" : "";
  const may =
    shown.length === 0 ? "this command may reach no host" : `this command may reach ${shown.join(", ")}${more} alone`;
  return { kind: "deny", message: `${may}; name \`${key}\` in a call that asks for the network` };
}

function problemOf({
  host,
  port,
  outcome,
  reason = outcome,
}: Pick<EgressAttempt, "host" | "port" | "outcome"> & { readonly reason?: string }): ExecNetwork["problems"][number] {
  return { host, port, reason };
}

function parted(host: string): readonly [host: string, port: number] {
  const at = host.lastIndexOf(":");
  return [host.slice(0, at), Number(host.slice(at + 1))];
}

/** In the host's one form; what is no host stands as it is, and is never asked for. */
function keyOf(host: string, port: number): string {
  return `${canonicalHost(host)?.host ?? host}:${port}`;
}
