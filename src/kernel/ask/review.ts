/**
 * Asks a person about what a command has changed in its view, where policy asks before it lands.
 *
 * The request is one about the call, whose accesses are now those effects. INVARIANT: what is agreed to is bound to
 * both sides of every effect, the rules that ask, and everything that an approval of a call is bound to.
 */
import type { ImposedObligation } from "../../approval/approval.ts";
import { blake3KeyedHex } from "../../base/hash.ts";
import { inSlices } from "../../base/long-steps.ts";
import { allow, type Denial, type Verdict } from "../../model/outcome/decision.ts";
import { Refusal, type ToolFailure } from "../../model/outcome/failure.ts";
import type { FilePreview } from "../../model/tool/tool.ts";
import type { ReachedHost } from "../../model/work/exec.ts";
import { coveredBy, renamesIn, type SidedEffect } from "../../model/work/renames.ts";
import { type EffectSide, likenessOf, type ReviewedEffect, type SideOpener } from "../../sandbox/sandbox.ts";
import type { Kernel } from "../answer/kernel.ts";
import { Holdings } from "../call/holdings.ts";
import type { EffectReview, Granted, ResolvedAccess, Ruling } from "../call/stages.ts";
import type { Waiter } from "../call/submission.ts";
import { evaluateAccesses } from "../judge/decide.ts";
import { wholeCall } from "../judge/whole-call.ts";
import { shownSide } from "./approval-text/effect-diff.ts";
import { keepList } from "./approval-text/effect-list.ts";
import { type AskedEffect, byImportance, isProgram, totalsOf } from "./approval-text/importance.ts";
import { approve } from "./approve.ts";
import { asksIn, preImagesNow } from "./bind-ask.ts";

/** What a person said, or why that is not known. */
export type Reviewed =
  | { readonly answer: "agreed" | "refused" }
  | { readonly answer: "later"; readonly why: Denial | ToolFailure };

/** Asks about `effects`, each as policy is asked about it. */
export async function reviewEffects(kernel: Kernel, asked: AskedEffects, waiter: Waiter): Promise<Reviewed> {
  const { parts } = kernel;
  const { granted, effects, reached, open, lands } = asked;
  const what = "judging what a person is asked about";
  const { result: judged } = await inSlices(what, judgedEffects(asked, parts.clock.nowMs()), waiter.signal);
  if (!judged.ok) return { answer: "later", why: judged.denial };
  const { permits, obligations } = judged.value;
  const sorted = byImportance(judged.value.effects, asked.rankOf);
  const means = { open, redaction: granted.redaction, signal: waiter.signal };
  const review: EffectReview = {
    ...reviewOf(effects, sorted, parts.argumentsKey),
    reached,
    ...(lands !== undefined && { lands }),
    totals: totalsOf(sorted),
    keepList: () => keepList(parts, { effects: sorted, caller: granted.caller, means }),
  };
  // many objects of git are one reference
  const accesses = [...new Set(sorted.flatMap((one) => one.accesses))];
  const ruling = { permits, obligations };
  const question: Granted = { ...granted, accesses, ruling, review, holdings: new Holdings() };
  const ended = await approve(kernel, question, waiter);
  if (ended === undefined) return await stillAgreed(kernel, question, waiter);
  if (ended.kind === "denial" && ended.denial.reason === "tool_approval_denied") return { answer: "refused" };
  if (ended.kind === "denial") return { answer: "later", why: ended.denial };
  if (ended.kind === "failure") return { answer: "later", why: ended.failure };
  throw new Error("a review ends with an answer or a refusal");
}

/** What policy says of the effects. */
interface JudgedEffects extends Ruling {
  readonly effects: readonly AskedEffect[];
}

/** Judges each effect by itself, which shows what asks about it. */
function* judgedEffects(
  { granted, effects, accessesOf }: AskedEffects,
  nowMs: number,
): Generator<void, Verdict<JudgedEffects>> {
  const { policy, caller, tool, call } = granted;
  const question = { policy, caller, tool, nowMs, call: wholeCall(tool, granted.accesses, call.arguments) };
  const permits = new Set<string>();
  const obligations: ImposedObligation[] = [];
  const judged: AskedEffect[] = [];
  const known = new Map<string, { readonly access: ResolvedAccess; readonly rules: readonly string[] }>();
  for (const effect of effects) {
    const accesses: ResolvedAccess[] = [];
    const rules = new Set<string>();
    for (const access of accessesOf(effect)) {
      const key = JSON.stringify([access.resource, access.action]);
      let one = known.get(key);
      if (one === undefined) {
        const ruling = evaluateAccesses(question, [access]);
        if (!ruling.ok) return ruling;
        for (const permit of ruling.value.permits) permits.add(permit);
        obligations.push(...ruling.value.obligations);
        one = { access, rules: asksIn(ruling.value.obligations).map(({ ruleId }) => ruleId) };
        known.set(key, one);
      }
      accesses.push(one.access);
      for (const rule of one.rules) rules.add(rule);
    }
    judged.push({ effect, accesses, rules: [...rules] });
    yield;
  }
  return allow({ permits: [...permits].sort(), obligations, effects: judged });
}

/** What is asked about. */
export interface AskedEffects {
  /** The call whose command made them. */
  readonly granted: Granted;
  readonly effects: readonly ReviewedEffect[];
  /** Opens both sides of each, until there is an answer. */
  readonly open: SideOpener;
  /** An effect as policy is asked about it. */
  readonly accessesOf: (effect: ReviewedEffect) => readonly ResolvedAccess[];
  /** What is shown before the rest; all alike when absent. */
  readonly rankOf?: (effect: ReviewedEffect) => number;
  /** What the command has tried to reach. */
  readonly reached: readonly ReachedHost[];
  /** Of a merge: what lands, and where. */
  readonly lands?: string;
}

/** Looks once more at the files as they are, right before anything lands. */
async function stillAgreed({ parts }: Kernel, asked: Granted, { signal }: Waiter): Promise<Reviewed> {
  try {
    await asked.holdings.approval?.targets.requireAll(() => preImagesNow(parts, asked, signal));
    return { answer: "agreed" };
  } catch (error) {
    if (error instanceof Refusal) return { answer: "later", why: error.denial };
    throw error;
  }
}

type ShownReview = Pick<EffectReview, "hash" | "previews" | "rights" | "programs">;

function reviewOf(effects: readonly ReviewedEffect[], sorted: readonly AskedEffect[], key: Uint8Array): ShownReview {
  const facts = effects.map(({ path, kind, before, after }) => [path, kind, factOf(before), factOf(after)]);
  return {
    hash: blake3KeyedHex(key, JSON.stringify(["handrail.approval.effects", facts])),
    previews: previewsOf(sorted.map(({ effect }) => effect)),
    rights: effects.flatMap(({ before, after }) => rightsOf(before, after)),
    programs: effects.filter(({ before, after }) => isProgram(after) && !isProgram(before)).length,
  };
}

/** What is shown: renamed directories first, and then each file; of a renamed one where it was before. */
function previewsOf(effects: readonly ReviewedEffect[]): readonly FilePreview[] {
  const renames = renamesIn(effects.map(sidedOf));
  const directories = renames.filter(({ isDirectory }) => isDirectory);
  const from = new Map(renames.flatMap((one) => (one.isDirectory ? [] : [[one.to, one.from] as const])));
  const isGone = coveredBy(new Set(renames.map((one) => one.from)));
  const isMade = coveredBy(new Set(directories.map(({ to }) => to)));
  const shownAlone = effects.filter(({ path, kind, before, after }) => {
    if (![before, after].some(isShown)) return false;
    return kind === "delete" ? !isGone(path) : kind !== "create" || !isMade(path);
  });
  return [
    ...directories.map((one): FilePreview => ({ path: `${one.to}/`, from: `${one.from}/` })),
    ...shownAlone.map((effect) => {
      const was = effect.kind === "create" ? from.get(effect.path) : undefined;
      return { ...previewOf(effect), ...(was !== undefined && { from: was }) };
    }),
  ];
}

function sidedOf({ path, kind, isDirectory, before, after }: ReviewedEffect): SidedEffect {
  const side = kind === "delete" ? before : after;
  const isLike = isShown(side) && side !== undefined;
  return {
    path,
    kind,
    isDirectory,
    ...(isLike && { likeness: likenessOf(side), isEmpty: side.sizeBytes === 0 }),
  };
}

function isShown(side: EffectSide | undefined): boolean {
  return side !== undefined && side.kind !== "directory";
}

/** Rights before and after, in octal, where they differ. */
function rightsOf(before: EffectSide | undefined, after: EffectSide | undefined): readonly string[] {
  if (before === undefined || after === undefined || before.kind !== after.kind || before.mode === after.mode)
    return [];
  const [one, other] = [before, after].map(({ mode }) => mode.toString(8).padStart(4, "0"));
  return [`${one} to ${other}`];
}

function factOf(side: EffectSide | undefined): readonly (string | number)[] {
  return side === undefined ? [] : [side.kind, side.mode, side.sizeBytes, side.digest];
}

function previewOf({ path, before, after }: ReviewedEffect): FilePreview {
  const isCut = [before, after].some((side) => side !== undefined && side.bytes.byteLength < side.sizeBytes);
  return {
    path,
    ...(before && before.kind !== "directory" && { before: shownSide(before) }),
    ...(after && after.kind !== "directory" && { after: shownSide(after) }),
    ...(isCut && { sizes: { before: before?.sizeBytes ?? 0, after: after?.sizeBytes ?? 0 } }),
  };
}
