/**
 * Binds a call that asks to everything that decides about it now.
 *
 * That is who calls what, by which rules, on which lease, after having seen what, and on which state of its targets.
 */
import type { ImposedObligation } from "../../approval/approval.ts";
import { bindCall, type CallBinding } from "../../approval/requests/binding.ts";
import { assert } from "../../base/errors.ts";
import { blake3KeyedHex } from "../../base/hash.ts";
import { canonicalJson, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Lease } from "../../model/people/lease.ts";
import type { Session } from "../../model/people/session.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { FileAccessParts } from "../../sandbox/files/files.ts";
import type { KernelParts } from "../call/parts.ts";
import { type PreImages, preImagesOf } from "../call/pre-image.ts";
import type { Decided } from "../call/stages.ts";
import { plainArguments } from "../declared/plain-arguments.ts";
import { judgeByPolicy } from "../judge/decide.ts";
import { judgePlace, unanalysed } from "../judge/scope.ts";
import { repositoryGround } from "../repositories/repository-ground.ts";
import { isDanger } from "./approval-text/prompt-risks.ts";

/** A call that asks, bound. */
export interface BoundAsk extends CallBinding {
  readonly kind: "execute" | "danger";
  /** Rules that ask. */
  readonly rules: ReadonlySet<string>;
  readonly firstRule: string;
  readonly preImages: PreImages;
}

/** The obligations that ask, each rule once, sorted by id. */
export function asksIn(obligations: readonly ImposedObligation[]): readonly ImposedObligation[] {
  const asks = new Map(obligations.filter(({ obligation }) => obligation === "ask").map((due) => [due.ruleId, due]));
  return [...asks.values()].sort((left, right) => (left.ruleId < right.ruleId ? -1 : 1));
}

/**
 * Binds a call as its caller makes it now.
 * @throws Refusal when the machine shows that the call would be refused
 */
export async function bindAsk(parts: KernelParts, decided: Decided, signal: AbortSignal): Promise<BoundAsk> {
  const { call, tool, policy, ruling } = decided;
  const { session, lease, place, mark } = decided.caller;
  const asks = asksIn(ruling.obligations);
  const rules = asks.map(({ ruleId }) => ruleId);
  const [firstRule] = rules;
  assert(firstRule, "somebody asks about a call that is bound");
  const preImages = await preImagesNow(parts, decided, signal);
  const { userId, agentId, role, serviceRoot } = session;
  const bound = bindCall(
    parts.argumentsKey,
    {
      userId,
      agentId,
      role,
      sessionId: sessionName(session, lease),
      workspace: serviceRoot,
      workDir: place.workspace.serviceRoot,
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
      // that of one call alone is made anew for the next
      lease: { id: session.isOneCall === true ? "" : lease.id, ...lease.scope },
      mark,
      containedBy: runsPrograms(decided) ? parts.sandbox.backend() : "",
      ...groundOf(decided, parts.argumentsKey),
      preImages: Object.fromEntries(preImages),
    },
  );
  return { ...bound, kind: isDanger(asks) ? "danger" : "execute", rules: new Set(rules), firstRule, preImages };
}

/**
 * The session as an approval is bound to it. One that was made for one call ends with it, and never sends the call
 * again: in its place stands all that decided about it, so that the same call of the same principal, made in a session
 * of the same kind, is the same, and nothing else is.
 */
function sessionName(session: Session, lease: Lease): string {
  if (session.isOneCall !== true) return session.id;
  const { preset, projectRoot, isolationLevel, branchId = "", isBranchBound = false } = session;
  const scope: JsonObject = { ...lease.scope };
  return canonicalJson({ one_call: { preset, projectRoot, isolationLevel, branchId, isBranchBound, scope } });
}

/**
 * The files that the call is about, as they are now. @throws Refusal when the machine shows that the call would be
 * refused
 */
export function preImagesNow(parts: KernelParts, decided: Decided, signal: AbortSignal): Promise<PreImages> {
  const changed = filesBefore(parts, decided, { signal });
  // What a program is given to read decides about what it does.
  const read = runsPrograms(decided) ? filesBefore(parts, decided, { signal, only: "read" }) : undefined;
  return preImagesOf({ changed, ...(read && { read }) }, decided.accesses, { key: parts.argumentsKey, signal });
}

/** Whether the call runs programs, by what it says or by what its tool is for. */
export function runsPrograms({ tool, accesses }: Pick<Decided, "tool" | "accesses">): boolean {
  return tool.capability.effect === "exec" || accesses.some(({ effect }) => effect === "exec");
}

/**
 * What analysis made of the call, and of the project's files if it looked at them: which command a call of `run_test`
 * runs does not stand in its arguments. As digests, because some of it is what the agent wrote, byte by byte.
 */
function groundOf(
  decided: Decided,
  key: Uint8Array,
): Readonly<Record<"accesses" | "repositories" | "toolchain" | "effects", string>> {
  const { accesses, look, review } = decided;
  const { seenToolchain } = look;
  const digest = (value: unknown) => blake3KeyedHex(key, JSON.stringify(["handrail.approval.ground", value]));
  return {
    accesses: digest(accesses),
    repositories: digest(repositoryGround(decided)),
    toolchain: seenToolchain === undefined ? "" : digest(seenToolchain),
    effects: review?.hash ?? "",
  };
}

/**
 * Files as they are before the call, for digests and for showing what would change: those that it names, judged as it
 * will change them.
 */
export function filesBefore(
  parts: KernelParts,
  { tool, accesses, caller, policy }: Decided,
  { signal, only }: { readonly signal: AbortSignal; readonly only?: "read" },
): FileAccessParts {
  const { workspace, roots } = caller.place;
  const judge = judgeByPolicy({ policy, caller, tool, nowMs: parts.clock.nowMs() });
  const effects = new Set(accesses.filter(({ resource }) => resource.kind === "file").map(({ effect }) => effect));
  const changes = [...effects].some((effect) => effect !== "read");
  return {
    workspace,
    roots,
    judge: (place, effect) => {
      const judged = only ?? (changes ? "write" : effect);
      return (
        judgePlace(caller, { tool, place, zone: workspace.zones.classify(place), effect: judged }) ??
        judge(place, judged)
      );
    },
    visible: () => false,
    locks: parts.locks,
    lockOwner: parts.instanceId,
    newFiles: parts.newFiles,
    clock: parts.clock,
    random: parts.random,
    signal,
    onLockBroken: () => undefined,
    recheck: async () => unanalysed(tool.name, "write"), // nothing is changed through these files
  };
}

const capabilities = new WeakMap<Tool["capability"], JsonObject>();

/** What a tool declares, with regular expressions as their texts. */
export function plainCapability({ capability }: Tool): JsonObject {
  let plain = capabilities.get(capability);
  if (plain === undefined) {
    const text = JSON.stringify(capability, (_, value: unknown) =>
      value instanceof RegExp ? String(value) : (value as JsonValue),
    );
    plain = JSON.parse(text) as JsonObject;
    capabilities.set(capability, plain);
  }
  return plain;
}
