/**
 * Finds stored content that a caller may read: its own, and that of artifacts of its workspace.
 *
 * INVARIANT: what the caller may not read is not found.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { ARTIFACTS_PAGE_MAX } from "../../../base/limits.ts";
import type { Session } from "../../../model/people/session.ts";
import type { Artifact, ContentName, FoundContent } from "../../../model/work/content.ts";
import type { ArtifactJudge } from "../../call/judges.ts";
import type { KernelParts } from "../../call/parts.ts";

/**
 * Artifacts with the same content that are judged, page by page, to find one that the caller may read: each costs
 * policy some ten microseconds. Content that more name is found by an artifact's own name.
 */
const ARTIFACTS_JUDGED_MAX = 16_384;

/** The content of that name, as far as `session` may read it. @param judge which artifacts it may read */
export async function findReadable(
  content: KernelParts["content"],
  name: ContentName,
  { session, judge }: { readonly session: Session; readonly judge: ArtifactJudge },
): Promise<FoundContent | undefined> {
  const { userId, serviceRoot: workspace } = session;
  if (name.kind === "artifact") {
    const artifact = await content.findArtifact(workspace, name.id);
    return artifact && throughArtifact(artifact);
  }
  const own = await content.find(name.hash, { userId, workspace });
  if (own !== undefined) return own;
  const artifact = await readableArtifact(content, { workspace, hash: name.hash, judge });
  return artifact && throughArtifact(artifact);
}

/** The first artifact with that content that the caller may read; others get their turn between the pages. */
async function readableArtifact(
  content: Pick<KernelParts["content"], "artifactsOf">,
  { workspace, hash, judge }: { readonly workspace: string; readonly hash: string; readonly judge: ArtifactJudge },
): Promise<Artifact | undefined> {
  let after = "";
  for (let judged = 0; judged < ARTIFACTS_JUDGED_MAX; judged += ARTIFACTS_PAGE_MAX) {
    const page = await content.artifactsOf(workspace, hash, after);
    const found = page.find(({ id }) => judge(id));
    const last = page.at(-1);
    if (found !== undefined || last === undefined) return found;
    after = last.id;
    await nextTurn();
  }
  return undefined;
}

function throughArtifact(artifact: Artifact): FoundContent {
  return { hash: artifact.contentHash, sizeBytes: artifact.sizeBytes, label: artifact.label, artifact };
}
