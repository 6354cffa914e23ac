/**
 * What streams beside a call: an upload that was received before it, or content that is read after it was answered.
 */
import { KernelError } from "../base/errors.ts";
import type { StagedContent } from "../cas/content-store.ts";
import { type Refusal, storeFailure, type ToolFailure } from "../model/failure.ts";

/** Why an upload was not received. */
export type UploadFailure = ToolFailure | Refusal | KernelError;

/** What streams beside a call. */
export interface Transfer {
  /** An upload that was received, or why it was not. */
  readonly upload?: StagedContent | UploadFailure;
  /** What the call opened for its caller. */
  opened?: { readonly sizeBytes: number; readonly chunks: AsyncIterable<Uint8Array> };
}

/** What a failed upload ends its call with. */
export function uploadFailure(upload: UploadFailure): Error {
  return upload instanceof KernelError ? (storeFailure(upload) ?? upload) : upload;
}
