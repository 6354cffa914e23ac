/**
 * Judges many accesses in portions, between which others have their turn.
 *
 * A command may change thousands of files about which a person is asked, and each is judged by itself.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ImposedObligation } from "../../approval/approval.ts";
import { allow, type Verdict } from "../../model/outcome/decision.ts";
import type { ResolvedAccess, Ruling } from "../call/stages.ts";

/** Accesses that are judged at once. */
const PORTION = 64;

/** `accesses` in portions; all of them where they are few. */
function* portionsOf<One>(accesses: readonly One[]): Generator<readonly One[]> {
  yield accesses.slice(0, PORTION);
  for (let at = PORTION; at < accesses.length; at += PORTION) yield accesses.slice(at, at + PORTION);
}

/** What `evaluate` answers about all, which judges each by itself. */
export async function evaluateInPortions(
  accesses: readonly ResolvedAccess[],
  evaluate: (portion: readonly ResolvedAccess[]) => Verdict<Ruling>,
): Promise<Verdict<Ruling>> {
  const permits = new Set<string>();
  const obligations: ImposedObligation[] = [];
  for (const portion of portionsOf(accesses)) {
    const ruling = evaluate(portion);
    if (!ruling.ok || accesses.length <= PORTION) return ruling;
    for (const permit of ruling.value.permits) permits.add(permit);
    obligations.push(...ruling.value.obligations);
    await nextTurn();
  }
  return allow({ permits: [...permits].sort(), obligations });
}

/** The same for scope, whose accesses come back resolved. */
export async function scopeInPortions(
  accesses: readonly ResolvedAccess[],
  scope: (portion: readonly ResolvedAccess[]) => Verdict<readonly ResolvedAccess[]>,
): Promise<Verdict<readonly ResolvedAccess[]>> {
  const resolved: ResolvedAccess[] = [];
  for (const portion of portionsOf(accesses)) {
    const scoped = scope(portion);
    if (!scoped.ok || accesses.length <= PORTION) return scoped;
    resolved.push(...scoped.value);
    await nextTurn();
  }
  return allow(resolved);
}
