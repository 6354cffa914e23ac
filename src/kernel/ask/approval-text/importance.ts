/** Orders the effects about which a person is asked, the most important first, and counts them. Pure. */
import type { EffectsDetail } from "../../../model/approval/approval.ts";
import type { EffectSide, ReviewedEffect } from "../../../sandbox/sandbox.ts";
import type { ResolvedAccess } from "../../call/stages.ts";

/** An effect, the accesses as which policy is asked about it, and the rules that ask. */
export interface AskedEffect {
  readonly effect: ReviewedEffect;
  readonly accesses: readonly ResolvedAccess[];
  readonly rules: readonly string[];
}

/**
 * By their rank, and then first what people's tools execute or obey, what becomes a program, what goes, and what is
 * written over; those that are alike stay in their order.
 */
export function byImportance(
  effects: readonly AskedEffect[],
  rankOf: (effect: ReviewedEffect) => number = () => 0,
): readonly AskedEffect[] {
  const weighed = effects.map((one) => ({ one, rank: rankOf(one.effect), weight: weightOf(one) }));
  return weighed.sort((left, right) => left.rank - right.rank || right.weight - left.weight).map(({ one }) => one);
}

function weightOf({ effect: { kind, before, after }, accesses }: AskedEffect): number {
  const isObeyed = accesses.some(({ target }) => target !== undefined && target.zone !== "own");
  const becomesProgram = isProgram(after) && !isProgram(before);
  return (isObeyed ? 8 : 0) + (becomesProgram ? 4 : 0) + (kind === "delete" ? 2 : kind === "modify" ? 1 : 0);
}

/** Whether a side is a file that can be run. */
export function isProgram(side: EffectSide | undefined): boolean {
  return side?.kind === "file" && (side.mode & 0o111) !== 0;
}

/** How much they are together. */
export function totalsOf(effects: readonly AskedEffect[]): Omit<EffectsDetail, "list" | "unlisted"> {
  const kinds = { create: 0, modify: 0, delete: 0, mode: 0 };
  const asking = new Map<string, number>();
  let [bytesBefore, bytesAfter] = [0, 0];
  for (const { effect, rules } of effects) {
    kinds[effect.kind] += 1;
    bytesBefore += effect.before?.sizeBytes ?? 0;
    bytesAfter += effect.after?.sizeBytes ?? 0;
    for (const rule of new Set(rules)) asking.set(rule, (asking.get(rule) ?? 0) + 1);
  }
  return {
    count: effects.length,
    created: kinds.create,
    changed: kinds.modify,
    deleted: kinds.delete,
    rights: kinds.mode,
    bytesBefore,
    bytesAfter,
    asking: [...asking]
      .sort(([, one], [, other]) => one - other)
      .map(([ruleId, count]) => ({ ruleId, effects: count })),
  };
}
