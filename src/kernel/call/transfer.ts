/** Defines what streams beside a call: an upload received before it, or content read after its answer. */
import { KernelError } from "../../base/errors.ts";
import type { StagedContent } from "../../cas/content-store.ts";
import type { FoundSecrets } from "../../flow/labels.ts";
import { type Refusal, storeFailure, type ToolFailure } from "../../model/outcome/failure.ts";

/** Why an upload was not received. */
export type UploadFailure = ToolFailure | Refusal | KernelError;

/** An upload that was received, and what was found in it: no definite secret, or it would not have been. */
export interface ReceivedUpload {
  readonly staged: StagedContent;
  readonly found: FoundSecrets;
}

/** What streams beside a call. */
export interface Transfer {
  /** An upload that was received, or why it was not. */
  readonly upload?: ReceivedUpload | UploadFailure;
  /** What the call opened for its caller, and how much of it is streamed. */
  opened?: { readonly sizeBytes: number; readonly lengthBytes: number; readonly chunks: AsyncIterable<Uint8Array> };
}

/** What a failed upload ends its call with. */
export function uploadFailure(upload: UploadFailure): Error {
  return upload instanceof KernelError ? (storeFailure(upload) ?? upload) : upload;
}
