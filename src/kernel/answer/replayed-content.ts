/**
 * Checks that the content which a kept answer names is still stored.
 *
 * The operator may have collected it, or its bytes may have been put aside because they were altered. The answer would
 * then claim what is no longer so.
 */

import { ToolFailure } from "../../model/outcome/failure.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import { CONTENT_ID_PREFIX } from "../../model/work/content.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Analysed } from "../call/stages.ts";

/** Why a kept answer to a call is not given again; `undefined` when everything that it names is there. */
export async function goneContent(
  parts: Pick<KernelParts, "content">,
  { accesses, session }: Analysed,
  { outcome }: CallResponse,
): Promise<ToolFailure | undefined> {
  if (outcome.kind !== "success") return undefined;
  const hashes = new Set<string>(outcome.stored ? [outcome.stored.hash] : []);
  for (const { resource, effect } of accesses) {
    if (resource.kind !== "artifact" || effect === "read" || !resource.id.startsWith(CONTENT_ID_PREFIX)) continue;
    hashes.add(resource.id.slice(CONTENT_ID_PREFIX.length));
  }
  const owner = { userId: session.userId, workspace: session.serviceRoot };
  for (const hash of hashes) if ((await parts.content.find(hash, owner)) === undefined) return gone(hash);
  return undefined;
}

function gone(hash: string): ToolFailure {
  return new ToolFailure(
    "CONTENT_NOT_FOUND",
    `the call was executed, but the content \`${CONTENT_ID_PREFIX}${hash}\` that it stored has been removed since`,
    "send the call again with another dedupe key",
  );
}
