/**
 * Binds a call that asks to everything that decides about it, as it is now: who calls what, by which rules, on which lease, after having
 * seen what, and on which state of its targets.
 */
import type { ImposedObligation } from "../approval/approval.ts";
import { bindCall, type CallBinding } from "../approval/binding.ts";
import { assert } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Tool } from "../model/tool.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import type { FileAccessParts } from "../sandbox/files/files.ts";
import { judgeByPolicy } from "./decide.ts";
import type { KernelParts } from "./parts.ts";
import { plainArguments } from "./plain-arguments.ts";
import { type PreImages, preImagesOf } from "./pre-image.ts";
import { isDanger } from "./prompt-risks.ts";
import { judgePlace, unanalysed } from "./scope.ts";
import type { Caller, Trail } from "./trail.ts";

/** A call that asks, bound. */
export interface BoundAsk extends CallBinding {
  readonly kind: "execute" | "danger";
  /** Rules that ask. */
  readonly rules: ReadonlySet<string>;
  readonly firstRule: string;
  readonly preImages: PreImages;
}

/**
 * Binds the call of `trail` as `caller` makes it now.
 * @throws Refusal when the machine shows that the call would be refused
 */
export async function bindAsk(
  parts: KernelParts,
  trail: Trail,
  caller: Caller,
  policy: PolicyEngine,
  asks: readonly ImposedObligation[],
  signal: AbortSignal,
): Promise<BoundAsk> {
  const { call, tool } = trail;
  assert(call && tool, "only an analysed call is bound");
  const { session, lease, place, mark } = caller;
  const rules = asks.map(({ ruleId }) => ruleId);
  const [firstRule] = rules;
  assert(firstRule, "somebody asks about a call that is bound");
  const preImages = await preImagesOf(filesBefore(parts, trail, caller, policy, signal), parts.argumentsKey, trail.accesses, signal);
  const { userId, agentId, role, id: sessionId, serviceRoot } = session;
  const bound = bindCall(
    parts.argumentsKey,
    {
      userId,
      agentId,
      role,
      sessionId,
      workspace: serviceRoot,
      workDir: serviceRoot,
      tool: tool.name,
      arguments: plainArguments(call.arguments),
    },
    {
      policy: policy.hash,
      rules,
      capability: plainCapability(tool),
      workspaceRules: place.rules ?? "",
      mode: session.mode,
      skill: session.skill ?? "",
      lease: { id: lease.id, ...lease.scope },
      mark,
      preImages: Object.fromEntries(preImages),
    },
  );
  return { ...bound, kind: isDanger(asks) ? "danger" : "execute", rules: new Set(rules), firstRule, preImages };
}

/** Files as they are before the call, for digests and for showing what would change: those that it names, judged as it will change them. */
export function filesBefore(parts: KernelParts, trail: Trail, caller: Caller, policy: PolicyEngine, signal: AbortSignal): FileAccessParts {
  const { tool, accesses } = trail;
  assert(tool, "only an analysed call is looked at");
  const { workspace, roots } = caller.place;
  const judge = judgeByPolicy(policy, caller, tool, parts.clock.nowMs());
  const effects = new Set(accesses.filter(({ resource }) => resource.kind === "file").map(({ effect }) => effect));
  const changes = [...effects].some((effect) => effect !== "read");
  return {
    workspace,
    roots,
    judge: (place, effect) => {
      const judged = changes ? "write" : effect;
      return judgePlace(caller, tool, place, workspace.zones.classify(place), judged) ?? judge(place, judged);
    },
    visible: () => false,
    locks: parts.locks,
    lockOwner: parts.instanceId,
    clock: parts.clock,
    random: parts.random,
    signal,
    onLockBroken: () => undefined,
    recheck: async () => unanalysed(tool.name, "write"), // nothing is changed through these files
  };
}

const capabilities = new WeakMap<Tool["capability"], JsonObject>();

/** What a tool declares, with regular expressions as their texts. */
function plainCapability({ capability }: Tool): JsonObject {
  let plain = capabilities.get(capability);
  if (plain === undefined) {
    const text = JSON.stringify(capability, (_, value: unknown) => (value instanceof RegExp ? String(value) : (value as JsonValue)));
    plain = JSON.parse(text) as JsonObject;
    capabilities.set(capability, plain);
  }
  return plain;
}
