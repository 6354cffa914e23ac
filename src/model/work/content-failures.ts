/**
 * Builds the failures that tell an agent why content cannot be stored or handed out.
 *
 * None of them says who else stored what.
 */
import { CONTENT_BYTES_MAX } from "../../base/limits.ts";
import { FailureWithoutEffect, ToolFailure } from "../outcome/failure.ts";
import { type ContentName, contentResourceId } from "./content.ts";

/** What does not exist, and what the caller may not read. */
export function contentNotFound(name: ContentName): ToolFailure {
  const what =
    name.kind === "artifact" ? `no artifact \`${shown(name.id)}\`` : `no content \`${contentResourceId(name)}\``;
  const how =
    name.kind === "artifact"
      ? "check its id; it must be published in this workspace"
      : "store it first, with put_content, or name the artifact that has it";
  return new ToolFailure("CONTENT_NOT_FOUND", `there is ${what} that this session may read`, how);
}

/** Content whose bytes on disk do not fit its hash any more. */
export function contentCorrupt(hash: string): ToolFailure {
  return new ToolFailure(
    "CONTENT_CORRUPT",
    `the stored bytes of \`${contentResourceId({ kind: "content", hash })}\` were altered or lost, so they are not handed out`,
    "store the content again; what is left of it was put aside for the operator",
  );
}

/** Bytes that do not fit what was said of them beforehand. */
export function contentMismatch(what: string): ToolFailure {
  return new ToolFailure(
    "CONTENT_MISMATCH",
    `${what}; nothing was stored`,
    "send the bytes that were announced, or announce those that are sent",
  );
}

/** More bytes than one object may have. */
export function contentTooLarge(): ToolFailure {
  return new ToolFailure(
    "CONTENT_TOO_LARGE",
    `the content has more than ${CONTENT_BYTES_MAX} bytes; nothing was stored`,
    "store it in parts",
  );
}

/** No room for more content. */
export function contentStoreFull(cause?: unknown): ToolFailure {
  return new ToolFailure("DISK_FULL", "there is no room for the content; nothing was stored", {
    suggestion: "ask the operator to make room, for instance with `handrail cas gc`",
    cause,
  });
}

/** Too many uploads and large results at once. */
export function contentBusy(): ToolFailure {
  return new ToolFailure("RESOURCE_BUSY", "too much content is being stored at once", {
    suggestion: "try again in a moment",
    retryAfterMs: 1000,
  });
}

/** Nobody waits for the content any more. */
export function contentCancelled(): ToolFailure {
  const message = "the call was cancelled before its content was stored";
  return new FailureWithoutEffect("CANCELLED", message, "send it again if it is still wanted");
}

/** An artifact's id, cut to what a message can carry. */
function shown(id: string): string {
  return id.slice(0, 256).toWellFormed();
}
