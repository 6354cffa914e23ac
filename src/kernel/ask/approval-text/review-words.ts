/** Words for a person who is asked about what a command has changed in its view. */
import type { Tool } from "../../../model/tool/tool.ts";
import type { EffectReview, ResolvedAccess } from "../../call/stages.ts";
import { summaryOf } from "./prompt-risks.ts";

const HAS_RUN =
  "the command has run, in a view of its own: what it did to other machines has happened, and what is shown here lands only if you agree";

/** Changes of rights that a prompt names. */
const RIGHTS_SHOWN_MAX = 8;

/** One line, such as "`shell` has run; to land: write 1 protected file". */
export function reviewSummary(
  tool: Pick<Tool, "name" | "capability">,
  accesses: readonly ResolvedAccess[],
  lands: string | undefined,
): string {
  const named = `\`${tool.name}\``;
  const what = lands === undefined ? `${named} has run; to land:` : `${named} merges ${lands}:`;
  return summaryOf(tool, accesses).replace(`${named}:`, () => what);
}

/** What a person should know of it. */
export function reviewRisks({
  programs,
  rights,
  reached,
  lands,
}: Pick<EffectReview, "programs" | "rights" | "reached" | "lands">): readonly string[] {
  const made = programs === 1 ? "one file becomes a program" : `${programs} files become programs`;
  const kinds = [...new Set(rights)];
  const more = kinds.length > RIGHTS_SHOWN_MAX ? " and in other ways" : "";
  const changed = `rights change ${rights.length} times: ${kinds.slice(0, RIGHTS_SHOWN_MAX).join(", ")}${more}`;
  const out = reached.filter(({ allowed }) => allowed > 0);
  const sent = out.reduce((sum, { bytesOut }) => sum + bytesOut, 0);
  const left = `it has already reached ${out.length} ${out.length === 1 ? "host" : "hosts"}: ${sent} bytes sent`;
  return [
    lands === undefined ? HAS_RUN : `this is a merge of ${lands}: what is shown here lands there only if you agree`,
    ...(out.length === 0 ? [] : [left]),
    ...(programs === 0 ? [] : [made]),
    ...(rights.length === 0 ? [] : [changed]),
  ];
}
