/**
 * Checks accesses other than files against a lease.
 *
 * These are accesses to tools, hosts, commands, git operations, models and artifacts. What a tool's analysis names is
 * trusted.
 *
 * INVARIANT: a kind of access is judged by every dimension that is about it. An access that a lease restricts and that
 * cannot be judged, because the analysis does not name what it is about, is refused.
 */
import { unreachable } from "../../base/errors.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { EffectClass } from "../../model/outcome/effect.ts";
import type { Lease, LeaseDimension } from "../../model/people/lease.ts";
import type { Access, Resource } from "../../model/place/access.ts";
import { wordsOfCommand } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { CONTENT_ID_PREFIX } from "../../model/work/content.ts";
import { admits } from "../../policy/lease-scope.ts";

/** A dimension and the value that it has to admit; `undefined` when the access does not say. */
type Named = readonly [LeaseDimension, string | undefined];

/** As much of a name as a denial repeats: a long one is known to whoever sent it. */
const NAME_CHARACTERS_MAX = 256;

/** How the denial names a value of a dimension. */
const WHAT: Readonly<Record<LeaseDimension, string>> = {
  tools: "the tool",
  readPaths: "the path",
  writePaths: "the path",
  commands: "the command",
  gitOperations: "the git operation",
  hosts: "the host",
  providers: "the provider",
  models: "the model",
  artifacts: "the artifact",
};

/** Why `lease` does not cover a resource other than a file. */
export function checkNamed(lease: Lease, resource: Exclude<Resource, { kind: "file" }>): Denial | undefined {
  for (const [dimension, value] of namedBy(resource)) {
    if (value === undefined) {
      if (lease.scope[dimension].length > 0) return unnamed(lease, dimension);
    } else if (!admits(lease.scope, dimension, value)) {
      return {
        ...uncovered(lease, dimension, value),
        ...(resource.kind === "command" && { command: wordsOfCommand(resource) }),
      };
    }
  }
  return undefined;
}

/** What names all that a call does with an effect. */
interface Naming {
  readonly effect: EffectClass;
  readonly kinds: readonly Resource["kind"][];
  /** What may stand beside such a name without being one. */
  readonly beside?: Resource["kind"];
}

// What git does is judged by its operation, also where it changes files.
const COMMANDS: Naming = { effect: "exec", kinds: ["command", "git_ref"] };
const HOSTS: Naming = { effect: "network", kinds: ["host", "model"], beside: "git_ref" };

/**
 * A call that executes, or reaches the network, names the commands or the hosts where the lease restricts them. A git
 * reference is reached through a host that stands beside it; a model is judged as a model, not by its host.
 */
export function checkReach(
  lease: Lease,
  tool: Pick<Tool, "capability">,
  accesses: readonly Access[],
): Denial | undefined {
  const { commands, hosts } = lease.scope;
  if (commands.length > 0 && !namesAll(tool, accesses, COMMANDS)) return unnamed(lease, "commands");
  if (hosts.length > 0 && !namesAll(tool, accesses, HOSTS)) return unnamed(lease, "hosts");
  return undefined;
}

/** Whether everything with the effect is named, or stands beside what is. */
function namesAll(
  { capability }: Pick<Tool, "capability">,
  accesses: readonly Access[],
  { effect, kinds, beside }: Naming,
): boolean {
  const isNamed = accesses.some(({ resource }) => kinds.includes(resource.kind));
  if (!isNamed && capability.effect === effect) return false;
  return accesses.every(
    (access) =>
      access.effect !== effect || kinds.includes(access.resource.kind) || (isNamed && access.resource.kind === beside),
  );
}

/**
 * Content that is named by its hash is no artifact: whoever stored it may read it, others need an artifact that the
 * lease covers.
 */
function namedBy(resource: Exclude<Resource, { kind: "file" }>): readonly Named[] {
  switch (resource.kind) {
    case "artifact":
      return resource.id.startsWith(CONTENT_ID_PREFIX) ? [] : [["artifacts", resource.id]];
    case "tool":
      return [["tools", resource.name]];
    case "host":
      return [["hosts", resource.host]];
    case "command":
      return [["commands", resource.binary]];
    case "package": // a lease has no dimension of its own for them: the commands that install them are named beside
      return [];
    case "git_ref":
      return [["gitOperations", resource.operation]];
    case "model":
      return [
        ["providers", resource.provider],
        ["models", resource.model],
      ];
    default:
      return unreachable(resource);
  }
}

function uncovered(lease: Lease, dimension: LeaseDimension, whole: string): Denial {
  const value = whole.slice(0, NAME_CHARACTERS_MAX).toWellFormed();
  return {
    layer: "scope",
    reason: "lease_scope",
    ruleId: `LEASE:${lease.id}`,
    message: `the lease does not cover ${WHAT[dimension]} \`${value}\``,
    fix: `a lease whose ${dimension} include \`${value}\``,
  };
}

function unnamed(lease: Lease, dimension: LeaseDimension): Denial {
  return {
    layer: "scope",
    reason: "lease_scope",
    ruleId: `LEASE:${lease.id}`,
    message: `the lease restricts \`${dimension}\`, and this call does not say which of them it uses; use a tool that names them`,
    fix: `a lease that does not restrict ${dimension}`,
  };
}
