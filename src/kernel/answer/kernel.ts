/** A kernel: its parts, and where it records what happens to calls. */
import type { KernelParts } from "../call/parts.ts";
import type { DocumentWriter } from "./documents/document-writer.ts";
import type { Evidence } from "./evidence.ts";

/** One kernel, as the stages of its pipeline are given it. */
export interface Kernel {
  readonly parts: KernelParts;
  readonly evidence: Evidence;
  readonly documents: DocumentWriter;
}
