/**
 * Describes a call to a person whose approval it needs.
 *
 * The description consists of facts that the kernel established, redacted and bounded. The record of the call is
 * trusted: accesses as scope resolved them, and the mark as it stands.
 *
 * INVARIANT: `summary`, `risks` and `rules` hold words of the kernel and of the operator's policy alone. What the agent
 * wrote stands in `details.arguments`, `.accesses`, `.projectWords`, `.sends` and `.changes`.
 */

import { KIB } from "../../../base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import type {
  ApprovalDetails,
  ApprovalRequest,
  AskingRule,
  Coverage,
  EffectsDetail,
} from "../../../model/approval/approval.ts";
import { agentLabel } from "../../../model/people/session.ts";
import type { FileAccess } from "../../../model/place/files.ts";
import type { ProjectWords } from "../../../model/tool/tool.ts";
import type { ExecEnforcement } from "../../../model/work/exec.ts";
import { hasMarkers } from "../../../redact/search/marker.ts";
import { accessFact } from "../../answer/call-facts.ts";
import type { Decided } from "../../call/stages.ts";
import { PROMPT_TEXT_CHARACTERS_MAX } from "../../redaction/limits.ts";
import { shownArguments } from "../../redaction/prompt-arguments.ts";
import { type Preview, previewOf, summaryPreview } from "./preview.ts";
import { isDanger, previewRisks, projectRisks, risksOf, secretRisks, summaryOf } from "./prompt-risks.ts";
import { reviewRisks, reviewSummary } from "./review-words.ts";
import type { SentTexts } from "./sent-texts.ts";

/** Accesses of a call that a prompt lists; the rest are counted. */
const PROMPT_ACCESSES_MAX = 64;
/**
 * Bytes, as JSON, that the accesses of a prompt take. Together with arguments and diffs they stay below what one
 * request may have.
 */
const PROMPT_ACCESSES_BYTES_MAX = 96 * KIB;

/** How much a prompt shows of what is touched. */
interface AccessLimits {
  readonly count: number;
  readonly bytesMax: number;
}

const WHOLE: AccessLimits = { count: PROMPT_ACCESSES_MAX, bytesMax: PROMPT_ACCESSES_BYTES_MAX };
/** Where all of it is listed elsewhere. */
const SUMMARY: AccessLimits = { count: 20, bytesMax: 8 * KIB };

const UNCONTAINED = "nothing contains what it runs: it can do to this machine whatever the kernel's own user can";
const ARGUMENTS_CUT = "not all of the arguments can be shown";
const ACCESSES_CUT = "not all that it touches can be shown";
const WORDS_CUT = "not all that the project's files say about it can be shown";
const SENT_CUT = "not all that it sends can be shown";
const HIDDEN = "some of it is hidden, because it looks like a secret: nobody can see here what stands there";

/** A request with its facts. */
export type DescribedCall = ApprovalRequest & { readonly details: ApprovalDetails };

/** What a call is described with. */
interface CallMeans {
  /** Reads what the call names, to show what would change. */
  readonly files: Pick<FileAccess, "read">;
  /** Names of the operator's secrets that requests to a server can be made with. */
  readonly secretsFor: (host: string, port: number) => readonly string[];
  /** Stored content that it would send. */
  readonly sent: SentTexts;
  /** What an answer for the kind would cover. */
  readonly covers: readonly Coverage[];
  /** What contains the programs that the call runs, if it runs any. */
  readonly containedBy?: ExecEnforcement["backend"] | undefined;
}

/**
 * Describes a call about which `rules` ask. INVARIANT: whoever binds an approval to the files as they are takes their
 * digests before this: a file that changes in between is then shown newer than it was bound, and no longer fits.
 */
export async function describeCall(
  decided: Decided,
  rules: readonly AskingRule[],
  { files, containedBy, secretsFor, sent, covers }: CallMeans,
): Promise<DescribedCall> {
  const { call, caller, tool, redaction, accesses, look } = decided;
  const reached = decided.review?.reached ?? [];
  const { session, mark } = caller;
  const { preview, effects } = await shownChanges(decided, files);
  const { shown, isCut } = shownArguments(redaction, call.arguments);
  const words = projectWordsOf(decided);
  const kind = isDanger(rules) ? "danger" : "execute";
  const details = {
    kind,
    rules: rules.map(({ ruleId, rationale }) => ({
      ruleId,
      ...(rationale !== undefined && rationale !== "" && { rationale }),
    })),
    userId: session.userId,
    agentId: agentLabel(session),
    role: session.role,
    sessionId: session.id,
    workspace: session.serviceRoot,
    workDir: session.serviceRoot,
    ...(caller.branch && { branch: caller.branch.name }),
    seen: { trustLevel: mark.trustLevel, dataClass: mark.dataClass },
    accesses: shownAccesses(decided, effects === undefined ? WHOLE : SUMMARY),
    ...(reached.length > 0 && { reached: reached.slice(0, PROMPT_ACCESSES_MAX).map((one) => ({ ...one })) }),
    ...(words.shown.length > 0 && { projectWords: words.shown }),
    ...(sent.shown.length > 0 && { sends: sent.shown }),
    ...preview,
    arguments: shown,
    ...(isCut && { argumentsCut: true as const }),
  } satisfies ApprovalDetails;
  const shownDetails = {
    ...(redaction.facts(details) as typeof details),
    ...(effects && { effects }),
    ...(covers.length > 0 && { covers }),
  };
  const cut = [
    ...(isCut ? [ARGUMENTS_CUT] : []),
    ...(words.isCut ? [WORDS_CUT] : []),
    ...(sent.isCut ? [SENT_CUT] : []),
    ...(details.accesses.some((access) => access["kind"] === "more") || reached.length > PROMPT_ACCESSES_MAX
      ? [ACCESSES_CUT]
      : []),
    ...(hasMarkers(JSON.stringify(shownDetails)) ? [HIDDEN] : []),
  ];
  return {
    id: `${tool.name}:${kind}`,
    tool: tool.name,
    action: kind === "danger" ? "dangerous_operation" : "execute",
    summary:
      decided.review === undefined ? summaryOf(tool, accesses) : reviewSummary(tool, accesses, decided.review.lands),
    risks: [
      ...(decided.review === undefined ? [] : reviewRisks(decided.review)),
      ...(containedBy === "none" ? [UNCONTAINED] : []),
      ...risksOf(decided, details.rules),
      ...secretRisks(accesses, secretsFor),
      ...projectRisks(tool, accesses, look.seenToolchain !== undefined),
      ...previewRisks(preview),
      ...cut,
    ],
    details: shownDetails,
  };
}

/**
 * What would change. Of what a command has changed, where that is more than a request shows, a summary, and all of it
 * in a list beside the request.
 */
async function shownChanges(
  decided: Decided,
  files: Pick<FileAccess, "read">,
): Promise<{ readonly preview: Preview; readonly effects?: EffectsDetail }> {
  const { review, accesses, redaction } = decided;
  const { preview, isPartial } = await previewOf(decided, files);
  if (review === undefined || (!isPartial && accesses.length <= PROMPT_ACCESSES_MAX)) return { preview };
  const { list, unlisted } = await review.keepList();
  const kept = list === undefined ? { unlisted: redaction.words(unlisted ?? "").toWellFormed() } : { list };
  return { preview: await summaryPreview(decided), effects: { ...review.totals, ...kept } };
}

/** What the project's files say about what runs, as analysis saw them; redacted as wholes, then cut. */
function projectWordsOf({ tool, args, look, redaction }: Decided): {
  readonly shown: readonly ProjectWords[];
  readonly isCut: boolean;
} {
  const all = tool.projectWords?.(args, look.toolchain) ?? [];
  const clean = all
    .slice(0, PROMPT_ACCESSES_MAX)
    .map(({ path, text }) => ({ path: path.toWellFormed(), text: redaction.words(text).toWellFormed() }));
  const shown = clean.map(({ path, text }) => ({
    path,
    text: text.slice(0, PROMPT_TEXT_CHARACTERS_MAX).toWellFormed(),
  }));
  return {
    shown,
    isCut: all.length > clean.length || clean.some(({ text }) => text.length > PROMPT_TEXT_CHARACTERS_MAX),
  };
}

/** The accesses, and how many more there are; none is shown in part. */
function shownAccesses({ accesses }: Decided, { count, bytesMax }: AccessLimits): readonly JsonObject[] {
  const shown: JsonObject[] = [];
  let bytes = 0;
  for (const access of accesses.slice(0, count)) {
    const fact = Object.fromEntries(
      Object.entries(accessFact(access)).map(([name, value]) => [name, wellFormed(value)]),
    );
    bytes += Buffer.byteLength(JSON.stringify(fact));
    if (bytes > bytesMax) break;
    shown.push(fact);
  }
  const more = accesses.length - shown.length;
  return more === 0 ? shown : [...shown, { kind: "more", count: more }];
}

function wellFormed(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === "string" ? value.toWellFormed() : value;
}
